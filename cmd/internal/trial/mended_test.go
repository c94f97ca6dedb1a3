package trial

import (
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign"
)

// inFunctions returns a confirmed finding with an access in each stack of functions.
func inFunctions(stacks ...[]string) []*finding.Finding {
	f := &finding.Finding{Code: finding.CaughtInTheAct, Status: finding.Confirmed, Variable: finding.Variable{Name: "n"},
		Evidence: &finding.Evidence{Runs: 6, Hits: 6}}
	for _, stack := range stacks {
		g := new(finding.Goroutine)
		for _, name := range stack {
			g.Stack = append(g.Stack, finding.Frame{Function: name})
		}
		f.Accesses = append(f.Accesses, finding.Access{Goroutine: g})
	}
	return []*finding.Finding{f}
}

// A patch corrects a race below it only where both stacks go through it.
func TestMeetsStacks(t *testing.T) {
	add := map[string]bool{"m/store.(*Store).Add": true}
	for _, tt := range []struct {
		stacks [][]string
		want   bool
	}{
		{[][]string{{"m/list.(*List).Add", "m/store.(*Store).Add"}, {"m/list.(*List).Len", "m/store.(*Store).Add"}}, true},
		{[][]string{{"m/list.(*List).Add", "m/store.(*Store).Add"}, {"m/list.(*List).Len", "m/store.(*Store).Len"}}, false},
		{[][]string{{"m/list.(*List).Add"}, {"m/list.(*List).Add"}}, false},
		{nil, false},
	} {
		if got := meetsStacks(inFunctions(tt.stacks...), add); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.stacks, got, tt.want)
		}
	}
}

// Nothing is concluded from runs that may have missed the finding by chance, show it, or were not completed.
func TestStaysAway(t *testing.T) {
	group := inFunctions([]string{"f"}, []string{"g"})
	for _, tt := range []struct {
		name  string
		hits  int
		after campaign.Result
		want  bool
	}{
		{"often before", 6, campaign.Result{Made: campaign.Made{Runs: 6}}, true},
		{"rare before", 1, campaign.Result{Made: campaign.Made{Runs: 6}}, false},
		{"rare before, many runs", 1, campaign.Result{Made: campaign.Made{Runs: 60}}, true},
		{"shown again", 6, campaign.Result{Made: campaign.Made{Runs: 6}, Findings: group}, false},
		{"not completed", 6, campaign.Result{Made: campaign.Made{Runs: 6},
			Packages: []campaign.PackageResult{{EndedEarly: campaign.EndedEarly{NotCompleted: 1}}}}, false},
	} {
		group[0].Evidence.Hits = tt.hits
		if got := staysAway(group, &tt.after); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
