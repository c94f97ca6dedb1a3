package deadlock

import (
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
			Stack: "goroutine 1 [running]:\nm.f(...)\n\t/m/a.go:1 +0x1\n",
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
		}, finding.LockCycle, 4},
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
