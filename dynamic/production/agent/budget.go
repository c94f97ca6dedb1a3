//go:build interlock_production

package agent

import (
	"strconv"
	"syscall"
	"unsafe"
)

// budget holds the share of the processor time that the watch takes: handlers of signals work only while they have
// time, and the agent grants it to them as the program works.
type budget struct {
	share   float64
	start   int64 // on the clock of ilkNow
	program int64 // processor time of the process at the last step, in ns
	watched int64 // of that, while the watch was on
	own     int64 // time of the agent so far, in ns
	learned int64 // of that, for decoding
	busy    bool  // whether the program has worked since the last step
	// The share is judged over a period.
	periodProgram, periodSpent int64
	over                       int // periods in a row that were far above the share
	last                       float64
}

const (
	wakeup     = 10e3  // ns that the runtime takes to wake the agent: measured
	briefPause = 10e6  // ns between two steps while the program works
	longPause  = 200e6 // and while it does not
	burst      = 20e6  // ns that handlers may save up
	period     = 1e9   // ns of processor time
	mostOver   = 4     // periods, after which the watch is switched off
)

func (b *budget) begin(share float64) {
	b.share, b.start = share, ilkNow()
	b.program = processTime()
	b.periodProgram, b.periodSpent, b.over = b.program, b.spent(), 0
	ilkGrant(5e6, burst) // so that short programs are watched as well
}

// pause returns the time until the next step, in ns.
func (b *budget) pause() int64 {
	if b.busy {
		return briefPause
	}
	return longPause
}

// settle grants what the program's time since the last step allows, less what the step itself took. It reports false
// where the share cannot be held.
func (b *budget) settle(step int64) bool {
	now := processTime()
	worked := now - b.program
	b.program, b.watched, b.own = now, b.watched+worked, b.own+step
	b.busy = worked > briefPause/10
	ilkGrant(int64(float64(worked)*b.share)-step, burst)
	if now-b.periodProgram < period {
		return true
	}
	// A period is over.
	spent := b.spent()
	b.last = float64(spent-b.periodSpent) / float64(now-b.periodProgram)
	b.periodProgram, b.periodSpent = now, spent
	if b.over++; b.last <= 2*b.share+0.01 {
		b.over = 0
	}
	return b.over < mostOver
}

// allows reports whether there is time for decoding: half of the budget so far, and a little to begin with.
func (b *budget) allows() bool {
	const start = 2e6
	return b.learned < int64(float64(b.watched)*b.share/2)+start
}

// spent returns the time that the watch has taken, in ns.
func (b *budget) spent() int64 {
	var c counters
	ilkCounters(&c)
	return c.spent + b.own
}

func (b *budget) shareText() string { return strconv.FormatFloat(100*b.last, 'f', 1, 64) + "%" }

// processTime returns the processor time of the process, in ns.
func processTime() int64 {
	const clockProcess = 2 // CLOCK_PROCESS_CPUTIME_ID
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockProcess, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}
