package join

import (
	"slices"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// blockedAt makes a finding of a run in which goroutines waited for ever.
func blockedAt(code finding.Code, name string, accesses ...finding.Access) *finding.Finding {
	f := make1(code, name, accesses...)
	f.Status = finding.Confirmed
	f.Evidence = &finding.Evidence{Engine: "watch", Run: 1, Runs: 9, Hits: 1, Blocked: "lock", Test: "m"}
	return f
}

// The suspicions of two checks on one access are one bug, which a run has confirmed: none is left over.
func TestEachSuspicionOfOneBugIsConfirmed(t *testing.T) {
	pair := make1(finding.Unordered, "n", at(3, finding.Write), at(7, finding.Read))
	lock := make1(finding.Unguarded, "n", at(7, finding.Read), at(3, finding.Write))
	lock.Accesses[0].Expr, lock.Message = "len(x.n)", "x.mu is held elsewhere."
	static := seal(pair, lock, make1(finding.Unguarded, "n", at(9, finding.Read), at(3, finding.Write)))
	got := join(t, static, seal(make1(finding.CaughtInTheAct, "n", at(3, finding.Write), at(7, finding.Read))))
	if len(got) != 2 || got[0].Status != finding.Confirmed || got[1].Accesses[0].Line != 9 {
		t.Fatalf("%d findings, want the race and the suspicion of line 9", len(got))
	}
	other := lock.ID
	if got[0].ID == other {
		other = pair.ID
	}
	if !slices.Equal(got[0].SameAs, []string{other}) {
		t.Errorf("known as %q, want %q", got[0].SameAs, other)
	}
}

// The close that a run has seen race with itself is the one that a check calls wrong, whatever that says it meets.
func TestCloseRaceTakesThePlaceOfSuspected(t *testing.T) {
	static := seal(make1(finding.CloseRaces, "done", at(16, finding.CloseChan), at(12, finding.Receive)))
	race := make1(finding.CaughtInTheAct, "done", at(16, finding.CloseChan), at(16, finding.CloseChan))
	race.Code = finding.CloseRaces
	got := join(t, static, seal(race))
	if len(got) != 1 || got[0].ID != static[0].ID || got[0].Status != finding.Confirmed {
		t.Errorf("%d findings, first %s %s", len(got), got[0].Status, got[0].ID)
	}
}

// Deadlocks by the same locks are one finding, with the id of the suspected cycle, whichever functions have met.
func TestDeadlocksByTheSameLocksAreOneFinding(t *testing.T) {
	circle := func(status finding.Status, lines ...int) *finding.Finding {
		f := blockedAt(finding.LockCycle, "mu")
		f.Status = status
		for i, line := range lines {
			locks := []string{"m.a", "m.b"}
			f.Accesses = append(f.Accesses, at(line, finding.Lock))
			f.Cycle = append(f.Cycle, finding.Edge{From: locks[i%2], To: locks[1-i%2],
				Position: f.Accesses[i].Position, Function: "F", Since: &f.Accesses[i].Position})
		}
		if status == finding.Suspected {
			f.Evidence, f.Accesses = nil, nil
		}
		return f
	}
	static := seal(circle(finding.Suspected, 17, 34))
	for _, shown := range [][]*finding.Finding{
		{circle(finding.Confirmed, 17, 34)},
		{circle(finding.Confirmed, 26, 34)},
		{circle(finding.Confirmed, 26, 34), circle(finding.Confirmed, 17, 34)},
		{circle(finding.Predicted, 17, 34), circle(finding.Confirmed, 26, 34)},
		{circle(finding.Confirmed, 17, 34, 26, 35)}, // four goroutines
	} {
		got := join(t, static, seal(shown...))
		if len(got) != 1 || got[0].ID != static[0].ID || got[0].Status != finding.Confirmed {
			t.Fatalf("%d deadlocks: %d findings, first %s, want %s", len(shown), len(got), got[0].ID, static[0].ID)
		}
		if len(got[0].Cycle) < 2 || len(got[0].Notes) != len(shown)-1 {
			t.Errorf("%d deadlocks: cycle %+v, notes %q", len(shown), got[0].Cycle, got[0].Notes)
		}
	}
	// A cycle of other locks is another bug.
	other := circle(finding.Confirmed, 50, 60)
	other.Cycle[0].From, other.Cycle[1].To = "m.c", "m.c"
	if got := join(t, static, seal(circle(finding.Confirmed, 17, 34), other)); len(got) != 2 {
		t.Errorf("two cycles: %d findings", len(got))
	}
}

// What waits for a wait that nobody ends is a part of that bug, if a check has foreseen both and a run has shown both.
func TestWaitsForAWaitAreOneFinding(t *testing.T) {
	jobs := func() []*finding.Finding {
		return seal(make1(finding.EndlessWait, "jobs", at(14, finding.Receive), at(21, finding.Wait)))
	}
	worker, stop := blockedAt(finding.BlockedForEver, "jobs", at(14, finding.Receive)),
		blockedAt(finding.BlockedForEver, "wg", at(21, finding.Wait))
	got := join(t, jobs(), seal(worker, stop))
	if len(got) != 1 || got[0].Code != finding.EndlessWait ||
		!slices.Contains(got[0].Notes, "in 1 of 9 runs F, at a.go:21, waited for it for ever") {
		t.Errorf("%d findings, first %s with %q", len(got), got[0].Code, got[0].Notes)
	}
	elsewhere := blockedAt(finding.BlockedForEver, "wg", at(30, finding.Wait))
	worker = blockedAt(finding.BlockedForEver, "jobs", at(14, finding.Receive))
	if got := join(t, jobs(), seal(worker, elsewhere)); len(got) != 2 {
		t.Errorf("a wait elsewhere: %d findings, want 2", len(got))
	}
}

// A receive that hangs shows that nobody sends on the channel, wherever a check has named a receive; a send is
// another matter.
func TestOneChannelIsOneFinding(t *testing.T) {
	for mode, want := range map[finding.Mode]int{finding.Receive: 1, finding.Send: 2} {
		got := join(t, seal(make1(finding.EndlessWait, "ch", at(7, mode))),
			seal(blockedAt(finding.BlockedForEver, "ch", at(12, finding.Receive))))
		if len(got) != want {
			t.Errorf("%s: %d findings, want %d", mode, len(got), want)
		}
	}
}
