package schedule

import (
	"maps"
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic/evidence"
)

// sites of one number before the last digit are of one variable; site 90 is suspicious.
func site(id uint32) Site { return Site{Variable: int(id / 10), Suspicious: id == 90} }

func gap(first, then uint32, least, most time.Duration) evidence.Gap {
	return evidence.Gap{First: first, Then: then, LeastNS: int64(least), MostNS: int64(most)}
}

const ms = time.Millisecond

// Accesses that come 5 ms or 500 ms apart meet in the second or third run: the first
// site is held for longer than the gap, first the least that was seen, in the end the most.
func TestWindowsAreAsLongAsGaps(t *testing.T) {
	a := NewAuto(1, site)
	a.Observe([]evidence.Gap{gap(11, 12, 5*ms, 20*ms), gap(21, 22, 500*ms, 500*ms)})
	first := a.Plan(2 * time.Second)
	if first[11] < 6*ms || first[11] > 10*ms || first[21] < 550*ms || len(first) != 2 {
		t.Errorf("first plan %v", first)
	}
	a.Ran([]uint32{11}, 0) // 21 was not reached
	second := a.Plan(2 * time.Second)
	if second[11] < 15*ms || second[11] > 20*ms || second[21] != first[21] {
		t.Errorf("second plan %v after %v", second, first)
	}
	a.Ran([]uint32{11, 21}, 0)
	if third := a.Plan(2 * time.Second); third[11] < 30*ms || third[21] <= second[21] {
		t.Errorf("third plan %v after %v", third, second)
	}
}

func TestPlansStayWithinTheBudget(t *testing.T) {
	a := NewAuto(1, site)
	for i := range uint32(200) {
		a.Observe([]evidence.Gap{gap(10*i+1, 10*i+2, 20*ms, 20*ms)})
	}
	spent := func(plan map[uint32]time.Duration) (sum time.Duration) {
		for _, d := range plan {
			sum += d
		}
		return sum
	}
	const budget = time.Second
	if sum := spent(a.Plan(budget)); sum > budget || sum < budget*9/10 {
		t.Errorf("windows of %v in all, with a budget of %v", sum, budget)
	}
	a.Ran(nil, 0) // they overlap: there was time left
	if sum := spent(a.Plan(budget)); sum < budget*5/4 {
		t.Errorf("windows of %v in all, where more than %v fit", sum, budget)
	}
	a.Ran(nil, 7)
	if sum := spent(a.Plan(budget)); sum > budget*5/4 {
		t.Errorf("windows of %v in all, where those of a longer plan did not fit", sum)
	}
}

// A pair is tried less once it was tried without success, or caught; one that a static
// finding names is tried first.
func TestBetterPairsComeFirst(t *testing.T) {
	for _, tt := range []struct {
		name          string
		better, worse evidence.Gap
		before        func(a *Auto)
	}{
		{"not tried", gap(11, 12, 9*ms, 9*ms), gap(21, 22, ms, ms), func(a *Auto) {
			for range 5 {
				a.planned = []pair{{21, 22}}
				a.Ran([]uint32{21}, 1)
			}
		}},
		{"not caught", gap(11, 12, ms, ms), gap(21, 22, ms, ms), func(a *Auto) { a.Caught(22, 21) }},
		{"another variable", gap(11, 12, ms, ms), gap(21, 22, ms, ms), func(a *Auto) { a.Caught(21, 23) }},
		{"suspicious", gap(90, 91, ms, ms), gap(21, 22, ms, ms), func(*Auto) {}},
		{"both orders", gap(11, 12, ms, ms), gap(21, 22, ms, ms), func(a *Auto) {
			a.Observe([]evidence.Gap{gap(12, 11, 100*ms, 100*ms)})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wins := 0
			for seed := range uint64(200) {
				a := NewAuto(seed, site)
				a.Observe([]evidence.Gap{tt.better, tt.worse})
				tt.before(a)
				for _, p := range a.shuffled() {
					if p == (pair{tt.better.First, tt.better.Then}) {
						wins++
					} else if p != (pair{tt.worse.First, tt.worse.Then}) {
						continue
					}
					break
				}
			}
			if wins < 120 {
				t.Errorf("first in %d of 200 plans", wins)
			}
		})
	}
}

// The same seed and the same evidence make the same plan.
func TestPlansAreRepeatable(t *testing.T) {
	plan := func(seed uint64) map[uint32]time.Duration {
		a := NewAuto(seed, site)
		for i := range uint32(100) {
			a.Observe([]evidence.Gap{gap(10*i+1, 10*i+2, 20*ms, 20*ms)})
		}
		return a.Plan(time.Second)
	}
	if one, two := plan(1), plan(1); !maps.Equal(one, two) {
		t.Errorf("%v and %v", one, two)
	}
	if one, two := plan(1), plan(2); maps.Equal(one, two) {
		t.Error("another seed makes the same plan")
	}
}
