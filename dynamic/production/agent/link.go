//go:build interlock_production

package agent

import "unsafe"

// The functions that are added to package runtime.

//go:linkname ilkRun runtime.ilkRun
func ilkRun(agent func())

//go:linkname ilkAwaitSignal runtime.ilkAwaitSignal
func ilkAwaitSignal()

//go:linkname ilkInfo runtime.ilkInfo
func ilkInfo() (means, errno int32, trap, sample, period int64)

//go:linkname ilkSetTable runtime.ilkSetTable
func ilkSetTable(rows unsafe.Pointer, mask uintptr)

//go:linkname ilkSwitch runtime.ilkSwitch
func ilkSwitch(on bool, permille int32) (errno int32)

//go:linkname ilkLate runtime.ilkLate
func ilkLate()

//go:linkname ilkRetire runtime.ilkRetire
func ilkRetire(now int64) (left int)

//go:linkname ilkTakeCaught runtime.ilkTakeCaught
func ilkTakeCaught(to *pair) bool

//go:linkname ilkTakeUnknown runtime.ilkTakeUnknown
func ilkTakeUnknown() uintptr

//go:linkname ilkCounters runtime.ilkCounters
func ilkCounters(to *counters)

//go:linkname ilkGrant runtime.ilkGrant
func ilkGrant(ns, most int64)

//go:linkname ilkSetTimes runtime.ilkSetTimes
func ilkSetTimes(window, pause int64)

//go:linkname ilkSetLabelled runtime.ilkSetLabelled
func ilkSetLabelled(on bool)

//go:linkname ilkNow runtime.ilkNow
func ilkNow() int64

//go:linkname ilkWorked runtime.ilkWorked
func ilkWorked() (ns int64)

//go:linkname ilkPin runtime.ilkPin
func ilkPin(on bool)

//go:linkname ilkIsData runtime.ilkIsData
func ilkIsData(addr uintptr) bool

//go:linkname ilkBounds runtime.ilkBounds
func ilkBounds(pc uintptr) (start, end uintptr)

//go:linkname ilkSleep runtime.ilkSleep
func ilkSleep(ns int64)

// access is ilkAccess.
type access struct {
	g     uintptr
	goid  uint64
	clock uint64
	pc    uintptr
	flags uint32
	n     uint32
	stack [24]uintptr
	regs  [16]uint64

	labels [160]byte
}

// Flags of an access.
const (
	trapped = 1 // its pc is that of the next instruction
	writes  = 2
	near    = 4 // its pc is near the access, if there is one
)

// pair is ilkPair.
type pair struct {
	_       uint32
	how     uint32
	addr    uintptr
	size    uint64
	e1      access
	answers uint32
	e2      [3]access
}

// How a pair was seen.
const (
	byClock = iota + 1
	byMeeting
	byValue
	byPlace
)

// counters is ilkStats.
type counters struct {
	samples, unknown, none, poor, full, hot, armed, refused, own, ordered, collected, runtime, late,
	clock, met, changed, lost, nonGo, probes uint64
	spent  int64
	labels uint64
}

// Means of sampling, as ilkInfo returns them.
const (
	off = iota
	registers
	pauses
	noTimer
	oldKernel
)
