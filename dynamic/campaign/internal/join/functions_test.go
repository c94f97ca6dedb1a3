package join

import (
	"slices"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// raceOf makes a race of F and G, at a line and with an expression each.
func raceOf(code finding.Code, inF int, exprF string, inG int, exprG string) *finding.Finding {
	a, b := at(inF, finding.Write), at(inG, finding.Read)
	b.Function, a.Expr, b.Expr = "G", exprF, exprG
	return make1(code, "n", a, b)
}

// Races of two functions have one id, whichever of them a seed shows, and whether or not a check has foreseen one.
func TestRacesOfTwoFunctionsHaveOneID(t *testing.T) {
	first := func() *finding.Finding { return raceOf(finding.CaughtInTheAct, 3, "x.n", 20, "x.n") }
	later := func() *finding.Finding { return raceOf(finding.CaughtInTheAct, 5, "x.n", 22, "other.n") }
	for name, static := range map[string][]*finding.Finding{
		"none is suspected": nil,
		"the first":         seal(raceOf(finding.Unordered, 3, "x.n", 20, "x.n")),
		"another":           seal(raceOf(finding.Unordered, 4, "(*x).n", 21, "x.n")),
	} {
		want := finding.Side{Function: "F", Expr: "x.n"}
		if len(static) > 0 {
			want = static[0].Pair()[0]
		}
		for i, shown := range [][]*finding.Finding{{first()}, {later()}, {first(), later()}, {later(), first()}} {
			seal(shown...)
			known := &Known{Runs: 20, Sides: map[string][]finding.Side{}}
			for _, c := range shown {
				known.Sides[c.ID] = []finding.Side{{Function: "F", Expr: "x.n"}, {Function: "G", Expr: "x.n"}}
			}
			got := Findings(static, shown, known)
			if len(got) != 1 || got[0].Status != finding.Confirmed || !slices.Contains(got[0].Pair(), want) {
				t.Fatalf("%s, seed %d: %d findings, first of %v", name, i, len(got), got[0].Pair())
			}
			if err := got[0].Validate(); err != nil || len(static) > 0 && got[0].ID != static[0].ID {
				t.Errorf("%s, seed %d: id %s (%v)", name, i, got[0].ID, err)
			}
			// A baseline of one of the runs alone goes on to hold.
			for _, c := range shown {
				if c.ID != got[0].ID && !slices.Contains(got[0].SameAs, c.ID) {
					t.Errorf("%s, seed %d: known as %q, want %s", name, i, got[0].SameAs, c.ID)
				}
			}
		}
	}
}
