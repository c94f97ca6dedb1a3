//go:build interlock_production

package agent

import (
	"runtime"
	"strconv"
	"syscall"
	"time"
)

func init() {
	means, errno, trap, sample := ilkInfo()
	if means == off {
		return
	}
	s, err := parseSettings(environment("INTERLOCK_SAMPLE"))
	if err != "" {
		say("INTERLOCK_SAMPLE: " + err + "; this process is not watched")
		return
	}
	if means != registers && means != pauses {
		say(refusal(means, errno) + "; this process is not watched")
		return
	}
	a := &agent{settings: s, seen: map[[2]uintptr]*seenPair{}}
	a.code.init()
	if err := a.out.open(s.file, s.size); err != nil {
		say("opening " + s.file + ": " + err.Error() + "; this process is not watched")
		return
	}
	say("watching for data races by " + meansText(means, errno, trap) + "; a sample takes " +
		strconv.FormatInt(sample/1000, 10) + " us; budget " + s.budgetText + ", evidence in " + s.file)
	a.means = "registers"
	if means == pauses {
		a.means = "pauses"
	}
	ilkSetTimes(int64(s.window), int64(s.pause))
	ilkRun(a.run)
}

// meansText returns how the process is watched, and why not by other means.
func meansText(means, errno int32, trap int64) string {
	if means == registers {
		return "debug registers, each access to a watched variable " + strconv.FormatInt(trap/1000, 10) + " us"
	}
	why := "which show nothing on this machine"
	if errno != 0 {
		why = "which the kernel refuses: " + syscall.Errno(errno).Error()
		if syscall.Errno(errno) == syscall.ENOSPC {
			why += ", as if a debugger had taken them"
		}
	}
	return "short pauses, without debug registers (" + why + ")"
}

// refusal returns why the process cannot be watched.
func refusal(means, errno int32) string {
	if means == oldKernel {
		return "the kernel is older than Linux 5.18"
	}
	return "the kernel refuses a timer: perf_event_open: " + syscall.Errno(errno).Error()
}

// say writes one line to standard error.
func say(line string) { syscall.Write(2, []byte("interlock: "+line+"\n")) }

// environment returns a variable as it was when the process began.
func environment(name string) string {
	value, _ := syscall.Getenv(name)
	return value
}

// agent is the state of the goroutine, which alone uses it.
type agent struct {
	means     string // as records have it
	settings  settings
	code      code
	budget    budget
	out       output
	seen      map[[2]uintptr]*seenPair
	caught    pair   // a pair is copied here
	reported  uint64 // pairs that are races
	dismissed uint64 // pairs that are none, such as two reads
	unnamed   uint64 // values that changed while a goroutine was held, by a write that was not found
}

// run samples until the budget cannot be held.
func (a *agent) run() {
	a.out.start(a)
	a.budget.begin(a.settings.budget)
	if !ilkSwitch(true) {
		say("the kernel refuses to start the timer; this process is not watched any more")
		return
	}
	for next := int64(100 * time.Millisecond); ; {
		ilkSleep(a.budget.pause())
		began := ilkNow()
		worked, thread := ilkWorked()
		a.step(began)
		if began-a.budget.start >= next { // each record of counters covers all before it
			a.out.counters(a)
			next *= 2
		}
		took := ilkNow() - began
		if now, same := ilkWorked(); same == thread {
			took = now - worked
		}
		if !a.budget.settle(took + wakeup) {
			ilkSwitch(false)
			a.out.counters(a)
			say("the budget of " + a.settings.budgetText + " cannot be held (" + a.budget.shareText() +
				" in the last seconds); this process is not watched any more")
			return
		}
	}
}

// step does what has come up since the last one.
func (a *agent) step(now int64) {
	for ilkTakeCaught(&a.caught) {
		a.judge()
	}
	for range 16 {
		if !a.budget.allows() { // decoding all that a program begins with would be a burst of work
			break
		}
		pc := ilkTakeUnknown()
		if pc == 0 {
			break
		}
		before, thread := ilkWorked()
		a.code.learn(pc)
		if after, same := ilkWorked(); same == thread {
			a.budget.learned += after - before
		}
	}
	ilkRetire(now)
}

// frame is one frame of a stack, as package runtime knows it.
type frame struct {
	function, file string
	line           int
}

// framesOf returns the frames of a stack, the innermost first.
func framesOf(pcs []uintptr) (all []frame) {
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.Function != "" {
			all = append(all, frame{f.Function, f.File, f.Line})
		}
		if !more {
			return all
		}
	}
}
