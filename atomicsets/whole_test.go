package atomicsets

import (
	"fmt"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// A finding goes if, of each two accesses that conflict, one meets no other
// goroutine, and what it stands for in its function does not either.
func TestWithdraw(t *testing.T) {
	at := func(function string, line int, mode finding.Mode) finding.Access {
		return finding.Access{Position: finding.Position{File: "a.go", Line: line, Column: 2}, Package: "p",
			Function: function, Mode: mode}
	}
	judged := func(function string, line int, mode plan.Mode, why plan.Reason) plan.Verdict {
		return plan.Verdict{Site: plan.Site{
			Package: "p", Function: function, File: "a.go", Line: line, Column: 2, Mode: mode,
			Variable: plan.Variable{Package: "p", Type: "T", Name: "n"},
		}, Reason: why}
	}
	verdicts := []plan.Verdict{
		judged("A", 1, plan.Write, plan.WholeLocal),
		judged("B", 2, plan.Write, ""),
		judged("C", 3, plan.Write, ""),
		judged("D", 4, plan.Write, plan.WholeLocal),
		judged("D", 5, plan.Write, ""),
		judged("E", 6, plan.Read, plan.WholeStationary),
	}
	for _, test := range []struct {
		name     string
		code     finding.Code
		accesses []finding.Access
		stays    bool
	}{
		{"one side is alone", finding.Unguarded, []finding.Access{at("A", 1, finding.Write), at("B", 2, finding.Write)},
			false},
		{"another pair is not", finding.Unguarded, []finding.Access{at("A", 1, finding.Write), at("B", 2, finding.Write),
			at("C", 3, finding.Write)}, true},
		{"none is alone", finding.Unguarded, []finding.Access{at("B", 2, finding.Write), at("C", 3, finding.Write)}, true},
		{"its function has another access", finding.Unguarded, []finding.Access{at("D", 4, finding.Write),
			at("B", 2, finding.Write)}, true},
		{"no site is known there", finding.Unguarded, []finding.Access{at("X", 9, finding.Write),
			at("B", 2, finding.Write)}, true},
		{"it races with itself", finding.Unguarded, []finding.Access{at("B", 2, finding.Write)}, true},
		{"it would race with itself", finding.Unguarded, []finding.Access{at("A", 1, finding.Write)}, false},
		{"nothing conflicts", finding.Unguarded, []finding.Access{at("E", 6, finding.Read), at("E", 6, finding.Read)}, false},
		{"locks are another matter", finding.LockCycle, []finding.Access{at("A", 1, finding.Write)}, true},
	} {
		f := &finding.Finding{Code: test.code, Accesses: test.accesses}
		if stay, withdrawn := Withdraw([]*finding.Finding{f}, verdicts); len(stay)+len(withdrawn) != 1 ||
			len(stay) == 1 != test.stays {
			t.Errorf("%s: stays %v, want %v", test.name, len(stay) == 1, test.stays)
		}
	}
}

// What is always guarded is left out, except suspicions, sections, and a tenth
// of the variables, another one each time.
func TestPruneGuarded(t *testing.T) {
	const variables = 100
	var sites []plan.Site
	var guarded []plan.Key
	for i := range variables {
		for line := 1; line <= 2; line++ {
			s := plan.Site{
				Package: "p", Function: "F", File: "a.go", Line: 10*i + line, Column: 2, EndLine: 10*i + line, EndCol: 5,
				Mode: plan.Write, Expr: "x.n",
				Variable: plan.Variable{Package: "p", Type: fmt.Sprint("T", i), Name: "n", Kind: plan.KindField},
			}
			sites, guarded = append(sites, s), append(guarded, s.Key().Start())
		}
	}
	turns := map[plan.Variable]int{}
	for turn := range uint64(monitoredPart) {
		p, err := Build("m", sites, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Sites[0].Suspicious = true
		p.Sections = []plan.Section{{Variables: []plan.Variable{p.Sites[2].Variable}}}
		pruneGuarded(p, guarded, turn)
		if p.Sites[0].Decision != plan.Monitor || p.Sites[2].Decision != plan.Monitor {
			t.Errorf("turn %d: a site that is suspicious, or whose variable is in a section, is left out", turn)
		}
		for i := 4; i < len(p.Sites); i += 2 {
			if p.Sites[i].Decision != p.Sites[i+1].Decision {
				t.Errorf("turn %d: one site of %s is monitored without the other", turn, p.Sites[i].Variable.Type)
			}
			if p.Sites[i].Decision == plan.Monitor {
				turns[p.Sites[i].Variable]++
			}
		}
	}
	for i := 2; i < variables; i++ {
		if v := sites[2*i].Variable; turns[v] != 1 {
			t.Errorf("%s has %d turns of %d, want 1", v.Type, turns[v], monitoredPart)
		}
	}
}
