package schedule

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic/evidence"
)

// site describes sites: those of one number before the last digit are of one variable and
// in one function, and site 90 is suspicious.
func site(id uint32) Site {
	return Site{Variable: int(id / 10), Function: fmt.Sprint(id / 10), Suspicious: id == 90}
}

func gap(first, then uint32, least, most time.Duration) evidence.Gap {
	return evidence.Gap{First: first, Then: then, LeastNS: int64(least), MostNS: int64(most)}
}

const ms = time.Millisecond

// Accesses that come 5 ms or 500 ms apart meet in the second or third run: the first
// site is held for longer than the gap, first the least that was seen, in the end the most.
func TestWindowsAreAsLongAsGaps(t *testing.T) {
	a := NewAuto(1, site)
	a.Observe([]evidence.Gap{gap(11, 12, 5*ms, 20*ms), gap(21, 22, 500*ms, 500*ms)}, AnyTurn)
	first := planned(a, 2*time.Second)
	if first[11] < 6*ms || first[11] > 10*ms || first[21] < 550*ms || len(first) != 2 {
		t.Errorf("first plan %v", first)
	}
	a.Ran([]uint32{11}, 0) // 21 was not reached
	second := planned(a, 2*time.Second)
	if second[11] < 15*ms || second[11] > 20*ms || second[21] != first[21] {
		t.Errorf("second plan %v after %v", second, first)
	}
	a.Ran([]uint32{11, 21}, 0)
	if third := planned(a, 2*time.Second); third[11] < 30*ms || third[21] <= second[21] {
		t.Errorf("third plan %v after %v", third, second)
	}
}

// planned returns where the next run holds goroutines directly at sites.
func planned(a *Auto, budget time.Duration) map[uint32]time.Duration {
	holds, _ := a.Plan(budget, 0)
	return holds.At
}

// A section that begins at the first site of a pair is held open as long as the gap; where that was of no use, the
// goroutine is held at the site, and so on in turns.
func TestSectionsAreHeldOpen(t *testing.T) {
	a := NewAuto(1, func(uint32) Site { return Site{Variable: 1, Function: "f", Section: 11} })
	a.Observe([]evidence.Gap{gap(12, 11, 4*ms, 4*ms)}, AnyTurn)
	for try := range 4 {
		holds, _ := a.Plan(time.Second, 0)
		within, at := holds.Within[11], holds.At[12]
		if try%2 == 1 {
			within, at = at, within
		}
		if within < 6*ms || at != 0 {
			t.Errorf("try %d: %v", try+1, holds)
		}
		a.Ran([]uint32{11}, 0)
	}
}

// firstSites returns the sites that a plan holds goroutines at.
func (a *Auto) firstSites() map[uint32]bool {
	sites := map[uint32]bool{}
	for _, p := range a.planned {
		sites[p[0]] = true
	}
	return sites
}

func TestPlansStayWithinTheBudget(t *testing.T) {
	a := NewAuto(1, site)
	for i := range uint32(200) {
		a.Observe([]evidence.Gap{gap(10*i+1, 10*i+2, 20*ms, 20*ms)}, AnyTurn)
	}
	spent := func(plan Holds, full bool) (sum time.Duration) {
		if !full {
			t.Error("there is more to try than fits, and the plan is not full")
		}
		for _, d := range plan.At {
			sum += d
		}
		return sum
	}
	const budget = time.Second
	if sum := spent(a.Plan(budget, 0)); sum > budget || sum < budget*9/10 {
		t.Errorf("windows of %v in all, with a budget of %v", sum, budget)
	}
	a.Ran(nil, 0) // they overlap: there was time left
	if sum := spent(a.Plan(budget, 0)); sum < budget*5/4 {
		t.Errorf("windows of %v in all, where more than %v fit", sum, budget)
	}
	half := slices.Collect(maps.Keys(a.firstSites()))[:a.holds/2]
	a.Ran(half, 7) // on a busy machine half of them took the budget up
	if sum := spent(a.Plan(budget, 0)); sum > budget*4/5 {
		t.Errorf("windows of %v in all, where half of a longer plan did not fit", sum)
	}
}

// A goroutine that is held on its way comes too late: after the first plan, one pair of a
// function is tried at a time.
func TestPairsOfOneFunctionTakeTurns(t *testing.T) {
	a := NewAuto(1, site)
	a.Observe([]evidence.Gap{gap(11, 12, ms, ms), gap(13, 14, ms, ms), gap(21, 15, ms, ms), gap(22, 23, ms, ms)}, AnyTurn)
	if first := planned(a, time.Second); len(first) != 4 {
		t.Errorf("first plan %v, want all", first)
	}
	tried := map[uint32]bool{}
	for range 20 {
		plan, full := a.Plan(time.Second, 0)
		holds := plan.At
		if holds[11] > 0 && holds[13] > 0 || holds[21] > 0 && len(holds) > 1 || full {
			t.Errorf("plan %v, full: %v", holds, full)
		}
		for id := range holds {
			tried[id] = true
		}
		a.Ran(slices.Collect(maps.Keys(holds)), 0)
	}
	if len(tried) != 4 {
		t.Errorf("only %v were tried in 20 plans", tried)
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
			a.Observe([]evidence.Gap{gap(12, 11, 100*ms, 100*ms)}, AnyTurn)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wins := 0
			for seed := range uint64(200) {
				a := NewAuto(seed, site)
				a.Observe([]evidence.Gap{tt.better, tt.worse}, AnyTurn)
				tt.before(a)
				for _, p := range a.shuffled(0) {
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

// What has come under noise that every third run makes is looked for in such runs.
func TestPairsComeInTheirTurn(t *testing.T) {
	wins := map[Turn]int{}
	for seed := range uint64(200) {
		a := NewAuto(seed, site)
		a.Observe([]evidence.Gap{gap(11, 12, ms, ms)}, TurnOf(7))
		a.Observe([]evidence.Gap{gap(21, 22, ms, ms)}, AnyTurn)
		for turn := range TurnOf(2) + 1 {
			if a.shuffled(turn)[0] == (pair{11, 12}) {
				wins[turn]++
			}
		}
	}
	if wins[1] < 150 || wins[0] > 50 || wins[2] > 50 {
		t.Errorf("first in %v of 200 plans, by turn", wins)
	}
}

// Every other run has the turn of a pair that was not tried, whatever its seed: until then.
func TestTurnsAreChosenForPairs(t *testing.T) {
	a := NewAuto(1, site)
	a.Observe([]evidence.Gap{gap(11, 12, ms, ms)}, AnyTurn)
	for seed := range uint64(6) {
		if turn := a.Turn(seed); turn != TurnOf(seed) {
			t.Errorf("seed %d: turn %d, where no pair asks for one", seed, turn)
		}
	}
	a.Observe([]evidence.Gap{gap(21, 22, ms, ms)}, 2)
	chosen := 0
	for range 6 {
		if a.Turn(3) == 2 {
			chosen++
		}
	}
	if chosen != 3 {
		t.Errorf("the turn of the pair in %d of 6 runs, want every other one", chosen)
	}
	a.planned = []pair{{21, 22}}
	a.Ran([]uint32{21}, 0)
	for range 6 {
		if turn := a.Turn(3); turn != 0 {
			t.Errorf("turn %d, where the pair was tried", turn)
		}
	}
	for seed := range uint64(40) {
		for turn := range Turn(3) {
			other := SeedOf(seed, turn)
			if TurnOf(other) != turn || other/3 != seed/3 {
				t.Errorf("seed %d with turn %d: %d", seed, turn, other)
			}
		}
	}
}

// The same seed and the same evidence make the same plan.
func TestPlansAreRepeatable(t *testing.T) {
	plan := func(seed uint64) map[uint32]time.Duration {
		a := NewAuto(seed, site)
		for i := range uint32(100) {
			a.Observe([]evidence.Gap{gap(10*i+1, 10*i+2, 20*ms, 20*ms)}, AnyTurn)
		}
		return planned(a, time.Second)
	}
	if one, two := plan(1), plan(1); !maps.Equal(one, two) {
		t.Errorf("%v and %v", one, two)
	}
	if one, two := plan(1), plan(2); maps.Equal(one, two) {
		t.Error("another seed makes the same plan")
	}
}
