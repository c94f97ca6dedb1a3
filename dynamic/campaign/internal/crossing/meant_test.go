package crossing

import (
	"testing"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// A variable that is stored twice has a state in between that others may see; an entry of a map that is deleted, to be
// stored at another key, is nowhere meanwhile.
func TestIsProgress(t *testing.T) {
	field, entries := plan.Variable{Name: "state"}, plan.Variable{Name: "m", Kind: plan.KindMap}
	p := &plan.Plan{Sites: []plan.Site{
		{ID: 1, Variable: field, Mode: plan.Write, Expr: "j.state"},
		{ID: 2, Variable: entries, Mode: plan.Write, Expr: "d.m"},
		{ID: 3, Variable: entries, Mode: plan.Write, Expr: "d.m[k]"},
	}}
	for _, c := range []struct {
		first, last uint32
		came        string
		want        bool
	}{
		{1, 1, evidence.StepRead, true}, {1, 1, evidence.StepWrite, false},
		{2, 3, evidence.StepRead, false}, {3, 3, evidence.StepRead, true}, {1, 3, evidence.StepRead, false},
	} {
		var x Crossing
		x.First.Site, x.Last.Site, x.Came.What, x.Went.What = c.first, c.last, c.came, c.came
		if got := x.isProgress(p); got != c.want {
			t.Errorf("%d, %d with a %s in between: %v", c.first, c.last, c.came, got)
		}
	}
}
