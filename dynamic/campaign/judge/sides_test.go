package judge

import (
	"reflect"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// The sides of a race are the first two sites of its functions that conflict, whichever have met, in any order.
func TestFirstSides(t *testing.T) {
	p := &plan.Plan{}
	site := func(function, expr string, mode plan.Mode, name string) {
		p.Sites = append(p.Sites, plan.Site{ID: uint32(len(p.Sites) + 1), Package: "m", Function: function, Expr: expr,
			Mode: mode, Variable: plan.Variable{Package: "m", Type: "T", Name: name, Kind: plan.KindField}})
	}
	site("G", "x.other", plan.Write, "other")
	site("G", "x.n", plan.Read, "n")
	site("F", "y.n", plan.Read, "n")
	site("F", "x.n", plan.Write, "n")
	site("F", "z.n", plan.Write, "n")
	race := func(id string, a, b int) *finding.Finding {
		f := &finding.Finding{ID: id, Variable: finding.Variable(p.Sites[b-1].Variable), Evidence: &finding.Evidence{}}
		for _, i := range []int{a, b} {
			s := &p.Sites[i-1]
			f.Accesses = append(f.Accesses, finding.Access{Package: s.Package, Function: s.Function, Expr: s.Expr})
		}
		return f
	}
	split := race("split", 2, 4)
	split.Evidence.Pattern = "R-w-W"
	got := FirstSides(p, []*finding.Finding{race("one", 2, 4), race("two", 5, 2), race("itself", 5, 5), split})
	both := []finding.Side{{Function: "F", Expr: "x.n"}, {Function: "G", Expr: "x.n"}}
	itself := []finding.Side{{Function: "F", Expr: "y.n"}, {Function: "F", Expr: "x.n"}}
	if want := map[string][]finding.Side{"one": both, "two": both, "itself": itself}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
