//go:build interlock_production

package agent

import (
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"github.com/interlock-go/interlock/dynamic/production/status"
)

// agent is the state of the watch. Its goroutine holds mu except while it sleeps, and so does each function that reads
// or changes the state for somebody else.
type agent struct {
	mu        sync.Mutex // guards all fields
	on        bool
	running   bool // whether the goroutine has not ended
	ready     bool // whether the parts below can be used
	late      bool // whether the process was switched on after its start
	why       string
	settings  settings
	code      code
	budget    budget
	out       output
	next      int64 // when counters are written, since the watch began
	seen      map[[2]uintptr]*seenPair
	kept      []*seenPair // with races, the earliest first
	unkept    uint64
	caught    pair   // a pair is copied here
	reported  uint64 // pairs that are races
	dismissed uint64 // pairs that are none, such as two reads
	unnamed   uint64 // values that changed while a goroutine was held, by a write that was not found
}

// process is the watch of this process.
var process agent

func init() {
	a := &process
	a.mu.Lock()
	defer a.mu.Unlock()
	if signalled {
		ilkRun(a.obey)
	}
	text := environment("INTERLOCK_SAMPLE")
	wrong := ""
	a.settings, wrong = startSettings(text)
	means, _, _, _, _ := ilkInfo()
	switch {
	case wrong != "":
		a.why = "INTERLOCK_SAMPLE: " + wrong
	case text == "":
		a.why = "INTERLOCK_SAMPLE is not set"
		return
	case means == off:
		a.why = "INTERLOCK_SAMPLE has off"
		return
	case means != registers && means != pauses:
		a.why = refusal(means)
	default:
		a.why = a.begin()
	}
	if a.why != "" {
		say(a.why + "; this process is not watched")
	}
}

// meansText returns how the process is watched, and why not by other means.
func (a *agent) meansText() string {
	means, errno, trap, _, _ := ilkInfo()
	if means == registers {
		return "debug registers, each access to a watched variable " + strconv.FormatInt(trap/1000, 10) + " us"
	}
	why := "which show nothing on this machine"
	switch {
	case a.late:
		why = "which can only be had from the start of a process"
	case syscall.Errno(errno) == syscall.ENOSPC:
		why = "which the kernel refuses: " + syscall.Errno(errno).Error() + ", as if a debugger had taken them"
	case errno != 0:
		why = "which the kernel refuses: " + syscall.Errno(errno).Error()
	}
	return "short pauses, without debug registers (" + why + ")"
}

// means returns how the process is watched, as records have it.
func (a *agent) means() string {
	if means, _, _, _, _ := ilkInfo(); means == registers {
		return "registers"
	}
	return "pauses"
}

// refusal returns why the process cannot be watched.
func refusal(means int32) string {
	if means == oldKernel {
		return "the kernel is older than Linux 5.18"
	}
	_, errno, _, _, _ := ilkInfo()
	return refusedTimer(errno)
}

func refusedTimer(errno int32) string {
	if syscall.Errno(errno) == syscall.EMFILE {
		return "the process has too many threads or open files: it takes one file for each thread"
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

// run samples until the watch is switched off. It is the agent's goroutine.
func (a *agent) run() {
	for pause := int64(longPause); pause > 0; {
		ilkSleep(pause)
		pause = a.turn()
	}
}

// turn does the work since the last one, and returns the time until the next, or 0 where the watch is off.
func (a *agent) turn() (pause int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.on {
		a.running = false
		return 0
	}
	// On a busy machine the goroutine may wait in the middle of its work: that is not time that it takes.
	ilkPin(true)
	defer ilkPin(false)
	began, worked := ilkNow(), ilkWorked()
	a.step(began)
	if began-a.budget.start >= a.next { // each record of counters covers all before it
		a.out.counters(a)
		a.next *= 2
	}
	if !a.budget.settle(ilkWorked() - worked + wakeup) {
		why := "the budget of " + a.settings.budgetText + " cannot be held (" + a.budget.shareText() +
			" in the last seconds)"
		a.end(why)
		say(why + "; this process is not watched any more")
		a.running = false
		return 0
	}
	return a.budget.pause()
}

// step does the work since the last one. requires: a.mu.
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
		before := ilkWorked()
		a.code.learn(pc)
		a.budget.learned += ilkWorked() - before
	}
	ilkRetire(now)
}

// labelsOf returns labels as package runtime has copied them.
func labelsOf(from []byte) (all []status.Label) {
	text := func() string {
		end := 1 + int(from[0])
		s := string(from[1:end])
		from = from[end:]
		return s
	}
	for from = from[1 : 1+from[0]]; len(from) > 0; {
		all = append(all, status.Label{Key: text(), Value: text()})
	}
	return all
}

// framesOf returns the frames of a stack, the innermost first.
func framesOf(pcs []uintptr) (all []status.Frame) {
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.Function != "" {
			all = append(all, status.Frame{Function: f.Function, File: f.File, Line: f.Line})
		}
		if !more {
			return all
		}
	}
}
