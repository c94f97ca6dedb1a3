package deadlock

import (
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// One lock that is read-locked again while a writer waits, and two locks of one class that are read-locked in opposite
// orders while a writer waits for each.
func TestClassify(t *testing.T) {
	field := finding.Variable{Package: "m", Type: "Set", Name: "mu", Kind: "field"}
	use := func(line int) Use { return Use{Position: finding.Position{File: "a.go", Line: line}, Variable: field} }
	step := func(gid int64, holds, wants uint64, reads bool) evidence.LockStep {
		return evidence.LockStep{
			GID: gid, Holds: evidence.LockSite{Site: holds, Reads: reads}, Wants: evidence.LockSite{Site: wants, Reads: reads},
			Stack:  "goroutine 1 [running]:\nm.f(...)\n\t/m/a.go:1 +0x1\n",
			Queued: holds == wants && gid > 1,
		}
	}
	const outer, inner, writer = 1, 2, 3
	for _, tt := range []struct {
		steps  []evidence.LockStep
		want   finding.Code
		cycled int
	}{
		{[]evidence.LockStep{step(1, outer, inner, true), step(2, writer, writer, false)}, finding.ReadLockAgain, 0},
		{[]evidence.LockStep{
			step(1, outer, inner, true), step(2, writer, writer, false), step(3, outer, inner, true),
			step(4, writer, writer, false),
		}, finding.LockCycle, 2},
		{[]evidence.LockStep{step(1, writer, writer, false)}, finding.DoubleLock, 0},
	} {
		s := New(func() map[uint64]Use { return map[uint64]Use{outer: use(10), inner: use(11), writer: use(20)} })
		s.Add(Run{N: 1}, []evidence.Record{{Kind: evidence.Deadlock, Locks: tt.steps}})
		all := s.Findings(func(*finding.Goroutine) {})
		if len(all) != 1 || all[0].Code != tt.want || len(all[0].Cycle) != tt.cycled {
			t.Errorf("%d goroutines: %+v, want %s", len(tt.steps), all, tt.want)
		}
	}
}

// Readers that read-lock two sets in opposite orders, and a writer that waits for each: four goroutines in one run and
// eight in another are one deadlock, and the writers hold nothing.
func TestSameCircleOfMore(t *testing.T) {
	const outer, inner, writer = 1, 2, 3
	field := finding.Variable{Package: "m", Type: "Set", Name: "mu", Kind: "field"}
	use := func(line int) Use {
		return Use{Position: finding.Position{File: "a.go", Line: line}, Variable: field, Expr: "s.mu"}
	}
	s := New(func() map[uint64]Use { return map[uint64]Use{outer: use(10), inner: use(11), writer: use(20)} })
	for run, pairs := range []int{4, 2, 3} {
		var steps []evidence.LockStep
		for i := range int64(pairs) {
			lock := func(site uint64, reads bool) evidence.LockSite { return evidence.LockSite{Site: site, Reads: reads} }
			const stack = "goroutine 1 [running]:\nm.f(...)\n\t/m/a.go:1 +0x1\n"
			steps = append(steps,
				evidence.LockStep{GID: 2*i + 1, Holds: lock(outer, true), Wants: lock(inner, true), Stack: stack},
				evidence.LockStep{GID: 2*i + 2, Holds: lock(writer, false), Wants: lock(writer, false), Stack: stack, Queued: true},
			)
		}
		s.Add(Run{N: run + 1}, []evidence.Record{{Kind: evidence.Deadlock, Locks: steps}})
	}
	all := s.Findings(func(*finding.Goroutine) {})
	if len(all) != 1 || len(all[0].Accesses) != 4 || all[0].Evidence.Run != 1 || all[0].Evidence.Hits != 3 {
		t.Fatalf("%+v, want one deadlock of 4 goroutines, seen in 3 runs from run 1 on", all)
	}
	f := all[0]
	if n := strings.Count(f.Message, "holds Set.mu since"); n != 2 {
		t.Errorf("%d goroutines hold a lock, want 2: %s", n, f.Message)
	}
	queued := func(a finding.Access) bool { return a.Line == 20 && len(a.Locks) > 0 }
	if !strings.Contains(f.Message, "Goroutine 2 waits at a.go:20 to write-lock Set.mu, which keeps new readers out. ") ||
		slices.ContainsFunc(f.Accesses, queued) {
		t.Errorf("a writer that waits holds something: %s %+v", f.Message, f.Accesses)
	}
}

// A function that is still on the stack of the goroutine that has acquired a lock in it has not returned, whatever the
// runtime calls it there.
func TestHolderHasReturned(t *testing.T) {
	use := func(function string) Use {
		return Use{Position: finding.Position{File: "a.go", Line: 12}, Function: function, First: 10, Last: 20}
	}
	for _, tt := range []struct {
		function string
		on       finding.Frame
		want     bool
	}{
		{"(*T).Get", finding.Frame{Function: "m.(*T).Get", File: "/elsewhere/a.go", Line: 15}, false},
		{"(*Map).Each", finding.Frame{Function: "m.(*Map[...]).Each", File: "/elsewhere/a.go", Line: 15}, false},
		{"Get.func1", finding.Frame{Function: "m.Get[...].func1", File: "/elsewhere/a.go", Line: 15}, false},
		{"start.func1", finding.Frame{Function: "m.TestStart.func2.start.1", File: "a.go", Line: 15}, false},
		{"(*T).Get", finding.Frame{Function: "m.(*T).Put", File: "a.go", Line: 30}, true},
		{"(*T).Get", finding.Frame{Function: "m.(*T).Put", File: "b.go", Line: 15}, true},
	} {
		s := New(func() map[uint64]Use { return map[uint64]Use{2: use(tt.function)} })
		h, ok := s.Holder(2, finding.Goroutine{Stack: []finding.Frame{tt.on}})
		if !ok || h.Returned != tt.want {
			t.Errorf("%s, of which %s is on the stack: returned %v, want %v", tt.function, tt.on.Function, h.Returned, tt.want)
		}
	}
}
