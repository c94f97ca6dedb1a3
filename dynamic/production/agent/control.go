//go:build interlock_production

package agent

import (
	"errors"
	"strconv"
	"time"
)

// begin starts the watch, or returns why it cannot. requires: a.mu.
func (a *agent) begin() (why string) {
	// The process may have started without, or its settings were refused.
	if means, _, _, _, _ := ilkInfo(); means != registers && means != pauses {
		ilkLate()
		if means, _, _, _, _ = ilkInfo(); means != pauses {
			return refusal(means)
		}
		a.late = true
	}
	if name := a.settings.file; name != "" && !a.out.opened {
		if err := a.out.open(name, a.settings.size); err != nil {
			return "opening " + name + ": " + err.Error()
		}
	}
	ilkSetTimes(int64(a.settings.window), int64(a.settings.pause))
	ilkSetLabelled(a.settings.labels)
	a.budget.begin(a.settings.budget)
	if errno := ilkSwitch(true, a.settings.permille()); errno != 0 {
		return refusedTimer(errno)
	}
	// From here on there are samples; they are judged by the agent's goroutine.
	a.prepare()
	a.on, a.why, a.next = true, "", int64(100*time.Millisecond)
	_, _, _, sample, _ := ilkInfo()
	evidence := "evidence in " + a.settings.file
	if a.settings.file == "" {
		evidence = "without a file of evidence"
	}
	say("watching for data races by " + a.meansText() + "; a sample takes " + strconv.FormatInt(sample/1000, 10) +
		" us; budget " + a.settings.budgetText + ", " + evidence)
	if !a.running {
		a.running = true
		ilkRun(a.run)
	}
	return ""
}

// prepare makes the parts that the first start needs. requires: a.mu.
func (a *agent) prepare() {
	if a.ready {
		return
	}
	a.ready = true
	a.seen = map[[2]uintptr]*seenPair{}
	a.code.init()
	a.out.describe()
	a.out.write(a.out.start(a))
}

// end stops the watch. requires: a.mu.
func (a *agent) end(why string) {
	ilkSwitch(false, 0)
	a.on, a.why = false, why
	a.out.counters(a)
}

// Switch turns the watch of this process on or off. The error says why it cannot be on.
func Switch(on bool) error {
	a := &process
	a.mu.Lock()
	defer a.mu.Unlock()
	if on == a.on {
		return nil
	}
	if !on {
		say("this process is not watched any more, as it was switched off")
		a.end("it was switched off")
		return nil
	}
	if why := a.begin(); why != "" {
		a.why = why
		return errors.New(why)
	}
	return nil
}

// obey turns the watch on or off at each signal. Signals that come while it does are one.
func (a *agent) obey() {
	for {
		ilkAwaitSignal()
		a.mu.Lock()
		on := a.on
		a.mu.Unlock()
		if err := Switch(!on); err != nil {
			say(err.Error() + "; this process is not watched")
		}
	}
}

// SetBudget sets the share of the processor time that the watch may take, in percent.
func SetBudget(percent float64) error {
	if !(leastBudget <= percent && percent <= mostBudget) {
		return errors.New("the budget is from 0.1 to 20 percent")
	}
	a := &process
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settings.budget = percent / 100
	a.settings.budgetText = strconv.FormatFloat(percent, 'f', -1, 64) + "%"
	if !a.on {
		return nil
	}
	// The time between two samples is that of the timers.
	ilkSwitch(false, 0)
	a.budget.begin(a.settings.budget)
	if errno := ilkSwitch(true, a.settings.permille()); errno != 0 {
		a.end(refusedTimer(errno))
		return errors.New(a.why)
	}
	return nil
}
