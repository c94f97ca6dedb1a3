//go:build interlock_production

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ilkDepth is how many frames of a stack are kept.
const ilkDepth = 24

// ilkAccess is an access that was seen. The order and size of the fields are known to package agent.
type ilkAccess struct {
	g     uintptr // identifies a goroutine until its clock moves
	goid  uint64
	clock uint64
	pc    uintptr // of the access; with ilkTrapped, that of the next instruction; with ilkNear, near it
	flags uint32
	n     uint32 // frames in stack
	stack [ilkDepth]uintptr
	regs  [16]uint64 // of ilkNear: the registers at pc, by their numbers in machine code

	labels ilkLabels
}

// Flags of accesses and operands.
const (
	ilkTrapped = 1 << iota // a debug register has shown the access; otherwise it was computed of a sample
	ilkWrites              // the operand is written: of sampled accesses, and of traps of writes alone
	ilkNear                // the agent is to find out which of the instructions near pc it is, if any
)

// The states of a slot. A change from ilkArmed is made by compare-and-swap: its winner owns the other fields until it
// stores a state.
const (
	ilkFree  = iota
	ilkBusy  // its owner is at work
	ilkArmed // its debug register watches, or its goroutine is held at e1
)

// ilkSlot is one variable that is watched, with its first access.
type ilkSlot struct {
	state    atomic.Uint32
	fd       int32  // of the debug register in every thread; constant
	tag      uint64 // changes with each variable, so that traps that come late are known
	addr     uintptr
	size     uint8
	onRead   bool // e1 writes, so that e2 may read
	hits     uint32
	sweepgen uint32 // of the heap as e1 was made: an object may have been freed once it moves
	deadline int64
	e1       ilkAccess
}

var ilkSlots [4]ilkSlot

// Tags of events: a slot's has the slot's number in its low bits.
const (
	ilkTagClock = 1 << 62
	ilkTagProbe = 1 << 61
	ilkTagTick  = 1 << 60
	ilkTagStep  = uint64(len(ilkSlots))
)

// How a pair of accesses was seen. The numbers are those of package agent.
const (
	ilkByClock   = iota + 1 // e1's goroutine has released nothing until e2
	ilkByMeeting            // e1's goroutine was held at its access, and another one stood at e2
	ilkByValue              // e1's goroutine was held at its access, and the value changed
	ilkByPlace              // so it was, and a later sample stood at a write of the variable
)

// ilkPair is a pair of accesses that nothing orders, for the agent.
type ilkPair struct {
	state   atomic.Uint32 // of ilkPairFree and so on
	how     uint32
	addr    uintptr
	size    uint64
	e1      ilkAccess
	answers uint32       // of other threads, asked as the value changed; more may have been counted than there is room for
	e2      [3]ilkAccess // by value: each answer; otherwise the first
}

const (
	ilkPairFree  = iota
	ilkPairBusy  // a handler fills it
	ilkPairReady // the agent has not copied it yet
)

var ilkPairs [8]ilkPair

// ilkTakePair returns a free pair that the caller owns, or nil.
//
//go:nowritebarrierrec
func ilkTakePair(how uint32, s *ilkSlot) *ilkPair {
	for i := range ilkPairs {
		if p := &ilkPairs[i]; p.state.Load() == ilkPairFree && p.state.CompareAndSwap(ilkPairFree, ilkPairBusy) {
			p.how, p.addr, p.size, p.e1, p.answers = how, s.addr, uint64(s.size), s.e1, 0
			return p
		}
	}
	ilkCount(&ilkStats.lost)
	return nil
}

// ilkStats counts what was seen, done and lost. The agent reads it by the order of the fields.
var ilkStats struct {
	samples   uint64 // samples of the program
	unknown   uint64 // ... at an instruction that is not decoded yet
	none      uint64 // ... near no operand in shared memory
	poor      uint64 // ... for which the budget had nothing left
	full      uint64 // ... while all slots were busy
	hot       uint64 // ... at code that was watched before, without effect
	armed     uint64 // variables watched
	refused   uint64 // watches that the kernel refused
	own       uint64 // accesses to a watched variable by e1's goroutine
	ordered   uint64 // ... by another one, after a release of e1's
	collected uint64 // ... by another one, after the collector may have freed the object
	runtime   uint64 // ... by the runtime
	late      uint64 // ... seen after the watch had moved on
	clock     uint64 // pairs that nothing orders, by the clock
	met       uint64 // ... by a goroutine that was held
	changed   uint64 // ... by a value that changed
	lost      uint64 // ... for which there was no room
	nonGo     uint64 // events of threads that run no Go code
	probes    uint64
	spent     int64  // ns of all handlers and traps
	labels    uint64 // labels of goroutines for which there was no room
}

// ilkTokens is the time that handlers may still take, in ns: the agent adds to it as the program works.
var ilkTokens int64

// ilkWindow is how long a debug register watches a variable, in ns (CRSampler's timeLimit).
var ilkWindow int64 = 15_000_000

// ilkPause is how long a goroutine is held at e1 where there are no debug registers, in ns (DataCollider).
var ilkPause int64 = 100_000

// ilkMostHits is how many accesses a watch may see: each takes time.
const ilkMostHits = 4

func ilkCount(n *uint64)   { atomic.Xadd64(n, 1) }
func ilkSpend(ns int64)    { atomic.Xaddint64(&ilkStats.spent, ns); atomic.Xaddint64(&ilkTokens, -ns) }
func ilkHeapCycle() uint32 { return atomic.Load(&mheap_.sweepgen) }

// ilkClockOf returns the clock of a goroutine.
func ilkClockOf(gp uintptr) uint64 { return atomic.Load64(&(*g)(unsafe.Pointer(gp)).ilkClock) }

// disarm stops the watch of a slot that the caller owns.
//
//go:nowritebarrierrec
func (s *ilkSlot) disarm() {
	ilkIoctl(s.fd, ilkIoctlDisable, nil)
}
