//go:build (amd64 || arm64) && !plan9

package rt

import (
	"runtime"
	"unsafe"

	"github.com/interlock-go/interlock/dynamic/rt/policy"
)

// schedule is the policy of the run, by its name in the environment: it decides at each event, in place of what
// makes noise otherwise. Set at start; policy is nil where there is none.
var schedule struct {
	name     string
	settings policy.Settings
	policy   policy.Policy
}

// startSchedule makes the policy, once the environment is read.
func startSchedule() {
	schedule.settings.Seed, schedule.settings.Strength = random, noise.strength
	schedule.policy = policy.New(schedule.name, schedule.settings)
}

// holdBySchedule returns for how long the policy holds the goroutine at an event, as far as the budget goes. n is
// random.
func holdBySchedule(g unsafe.Pointer, goid, now int64, n uint64) (ns int64) {
	if alone(g) {
		return 0
	}
	if ns = schedule.policy.Decide(goid, now, n); ns == policy.Yield {
		runtime.Gosched()
		return 0
	}
	if ns > 0 && !affordable(now, ns, 0, true) {
		counters.overBudget.Add(1)
		return 0
	}
	return ns
}

// Perturb is an event of the running goroutine that is no access, such as that it is about to acquire a lock: the
// policy of the run, if there is one, may hold it there.
func Perturb() {
	if schedule.policy == nil || InBubble() {
		return
	}
	g, now := getg(), nanotime()
	if ns := holdBySchedule(g, goid(g), now, mix(random+uint64(now))); ns > 0 {
		delay(ns, nil, &never)
		spent := nanotime() - now
		noise.spent.Add(spent)
		counters.delayNS.Add(uint64(spent))
	}
}
