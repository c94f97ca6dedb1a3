package atomicsets

import (
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/pointsto"
)

// A finding goes if, of each two accesses that conflict, one meets no other
// goroutine, and what it stands for in its function does not either.
func TestWithdraw(t *testing.T) {
	at := func(function string, line int, mode finding.Mode) finding.Access {
		return finding.Access{Position: finding.Position{File: "a.go", Line: line, Column: 2}, Package: "p", Function: function, Mode: mode}
	}
	judged := func(function string, line int, mode plan.Mode, v pointsto.Verdict) pointsto.Site {
		return pointsto.Site{Site: plan.Site{
			Package: "p", Function: function, File: "a.go", Line: line, Column: 2, Mode: mode,
			Variable: plan.Variable{Package: "p", Type: "T", Name: "n"},
		}, Verdict: v}
	}
	sites := []pointsto.Site{
		judged("A", 1, plan.Write, pointsto.Local),
		judged("B", 2, plan.Write, pointsto.MaybeShared),
		judged("C", 3, plan.Write, pointsto.MaybeShared),
		judged("D", 4, plan.Write, pointsto.Local),
		judged("D", 5, plan.Write, pointsto.Unjudged),
		judged("E", 6, plan.Read, pointsto.NeverWritten),
	}
	for _, test := range []struct {
		name     string
		code     finding.Code
		accesses []finding.Access
		stays    bool
	}{
		{"one side is alone", finding.Unguarded, []finding.Access{at("A", 1, finding.Write), at("B", 2, finding.Write)}, false},
		{"another pair is not", finding.Unguarded, []finding.Access{at("A", 1, finding.Write), at("B", 2, finding.Write), at("C", 3, finding.Write)}, true},
		{"none is alone", finding.Unguarded, []finding.Access{at("B", 2, finding.Write), at("C", 3, finding.Write)}, true},
		{"its function has another access", finding.Unguarded, []finding.Access{at("D", 4, finding.Write), at("B", 2, finding.Write)}, true},
		{"no site is known there", finding.Unguarded, []finding.Access{at("X", 9, finding.Write), at("B", 2, finding.Write)}, true},
		{"it races with itself", finding.Unguarded, []finding.Access{at("B", 2, finding.Write)}, true},
		{"it would race with itself", finding.Unguarded, []finding.Access{at("A", 1, finding.Write)}, false},
		{"nothing conflicts", finding.Unguarded, []finding.Access{at("E", 6, finding.Read), at("E", 6, finding.Read)}, false},
		{"locks are another matter", finding.LockCycle, []finding.Access{at("A", 1, finding.Write)}, true},
	} {
		f := &finding.Finding{Code: test.code, Accesses: test.accesses}
		if stay, withdrawn := Withdraw([]*finding.Finding{f}, sites); len(stay)+len(withdrawn) != 1 || len(stay) == 1 != test.stays {
			t.Errorf("%s: stays %v, want %v", test.name, len(stay) == 1, test.stays)
		}
	}
}
