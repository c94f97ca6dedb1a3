package policy

import (
	"math"
	"testing"
)

const ms = 1_000_000

// One event in sixteen yields, and as many sleep for at most twice the strength.
func TestContest(t *testing.T) {
	p := New("contest", Settings{Seed: 1, Strength: ms})
	yields, sleeps := 0, 0
	for n := range uint64(16000) {
		switch ns := p.Decide(7, 0, n); {
		case ns == Yield:
			yields++
		case ns > 2*ms || ns < 0:
			t.Errorf("held for %d ns", ns)
		case ns > 0:
			sleeps++
		}
	}
	if math.Abs(float64(yields-1000)) > 150 || math.Abs(float64(sleeps-1000)) > 150 {
		t.Errorf("%d of 16000 yield, %d sleep", yields, sleeps)
	}
}

// Of two goroutines the one with the lower priority is held, as long as the other is at work.
func TestPriorities(t *testing.T) {
	first := 0
	for seed := range uint64(200) {
		p := New("pct", Settings{Seed: seed, Strength: ms, Depth: 1, Events: 100})
		p.Decide(7, 0, 0)
		held8 := p.Decide(8, 1, 0) != 0
		held7 := p.Decide(7, 2, 0) != 0
		if held7 == held8 {
			t.Errorf("seed %d: held %v and %v, want one of the two", seed, held7, held8)
		}
		if held8 {
			first++
		}
		if ns := p.Decide(7, 10*ms, 0) + p.Decide(8, 20*ms, 0); ns != 0 {
			t.Errorf("seed %d: held where the other has not come for long", seed)
		}
	}
	if first < 70 || first > 130 {
		t.Errorf("the first goroutine goes first in %d of 200 runs", first)
	}
}

// At a change point, the running goroutine falls behind all others.
func TestChanges(t *testing.T) {
	changed := 0
	const steps = 10
	for seed := range uint64(100) {
		p := newPCT(Settings{Seed: seed, Strength: ms, Depth: 2, Events: steps})
		before := p.Decide(8, 0, 0) + p.Decide(7, 1, 0)
		for n := range int64(steps) {
			p.Decide(7, 2+n, 0)
		}
		p.Decide(8, 20, 0)
		if after := p.Decide(7, 21, 0); after != 0 && before == 0 {
			changed++
		}
		if goroutines, events := p.Size(); goroutines != 2 || events != steps+4 {
			t.Errorf("seed %d: %d goroutines, %d events", seed, goroutines, events)
		}
		if len(p.changes) != 1 || p.changes[0] >= steps {
			t.Errorf("seed %d: changes at %v, want one below %d", seed, p.changes, steps)
		}
	}
	if changed == 0 {
		t.Error("no run has changed the priorities of the two")
	}
}

func TestUnknownName(t *testing.T) {
	if New("fair", Settings{}) != nil {
		t.Error("there is a policy of the name")
	}
}

// In three runs in a row each place has each turn once, and not all places have the same.
func TestTurns(t *testing.T) {
	for _, seed := range []uint64{1, 12, 1000} {
		alike := true
		for place := range uint64(100) {
			var times [Awaiting + 1]int
			for run := range uint64(turns) {
				t := NewTurns(seed/12*12 + run)
				for e := Forked; e <= Awaiting; e++ {
					if t.Has(e, place) {
						times[e]++
					}
				}
				alike = alike && t.Has(Forked, place) == t.Has(Forked, 0)
			}
			for e, n := range times {
				if n != 1 {
					t.Errorf("seed %d: event %d has %d turns of 3 at place %d", seed, e, n, place)
				}
			}
		}
		if alike {
			t.Errorf("seed %d: all places have the same turn", seed)
		}
	}
}
