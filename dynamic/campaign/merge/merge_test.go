package merge

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/join"
)

func race(name string, status finding.Status, run, runs, hits int) *finding.Finding {
	f := &finding.Finding{
		Code: finding.CaughtInTheAct, Status: status, Title: name,
		Variable: finding.Variable{Package: "m", Name: name},
		Accesses: []finding.Access{{
			Position: finding.Position{File: "m.go", Line: 3}, Package: "m", Function: "F", Expr: name, Mode: finding.Write,
		}},
		Evidence: &finding.Evidence{Engine: "watch", Run: run, Runs: runs, Hits: hits, Count: hits, Seed: 7, Test: "m"},
	}
	finding.Seal([]*finding.Finding{f})
	return f
}

// Two campaigns of one package and one of another: no run counts twice, and none is lost, through a file either.
func TestResults(t *testing.T) {
	parts := []*campaign.Result{
		{
			Seed: 1,
			Findings: []*finding.Finding{
				race("a", finding.Confirmed, 2, 4, 1), race("b", finding.Predicted, 1, 4, 4),
			},
			Packages: []campaign.PackageResult{{
				Package:        "m",
				Runs:           4,
				Failures:       1,
				First:          &campaign.Failure{Run: 3},
				UnderNoiseOnly: campaign.UnderNoiseOnly{UnderNoise: 1},
				WithoutNoise:   campaign.WithoutNoise{Plain: campaign.Passed, Skipped: []string{"TestLong"}},
			}},
			Known:    join.Known{Lines: map[join.Line]bool{{File: "a:b.go", Line: 4}: true}, Whole: map[string]int{"x": 2}},
			ByEngine: campaign.ByEngine{Engine: "watch", Exact: 1},
			Made:     campaign.Made{Runs: 4},
			Covered: campaign.Covered{
				Coverage: campaign.Coverage{Monitored: 5, Reached: []uint32{1, 2}, Armed: []uint32{2}, Never: []uint32{3, 4, 5}},
				Sections: 2, Ended: []uint32{9},
			},
		},
		{
			Seed: 5,
			Findings: []*finding.Finding{
				race("a", finding.Confirmed, 1, 2, 2), race("b", finding.Confirmed, 2, 2, 1),
			},
			Packages: []campaign.PackageResult{{
				Package:      "m",
				Runs:         2,
				Failures:     1,
				First:        &campaign.Failure{Run: 1},
				WithoutNoise: campaign.WithoutNoise{Plain: campaign.Passed, Skipped: []string{"TestLong"}},
			}},
			Known:    join.Known{Whole: map[string]int{"x": 1}},
			ByEngine: campaign.ByEngine{Engine: "watch"},
			Made:     campaign.Made{Runs: 2, Interrupted: true},
			Covered: campaign.Covered{
				Coverage: campaign.Coverage{Monitored: 5, Reached: []uint32{2, 3}, Never: []uint32{1, 4, 5}},
				Sections: 2, Ended: []uint32{8, 9},
			},
		},
		{
			Seed:     1,
			Packages: []campaign.PackageResult{{Package: "m/sub", Runs: 3}},
			ByEngine: campaign.ByEngine{Engine: "watch", Exact: 1},
			Made:     campaign.Made{Runs: 3},
			Covered: campaign.Covered{
				Coverage: campaign.Coverage{Monitored: 5, Reached: []uint32{4}, Never: []uint32{1, 2, 3, 5}},
				Sections: 2,
			},
		},
	}
	data, err := json.Marshal(parts)
	if err != nil {
		t.Fatal(err)
	}
	var kept []*campaign.Result
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	r := Results(kept)
	p := r.Packages[0]
	if len(r.Packages) != 2 || p.Runs != 6 || p.Failures != 2 || p.UnderNoise != 1 || p.First.Run != 3 ||
		!slices.Equal(p.Skipped, []string{"TestLong"}) {
		t.Errorf("packages %+v", r.Packages)
	}
	if len(r.Findings) != 2 {
		t.Fatalf("findings %+v", r.Findings)
	}
	for _, f := range r.Findings {
		e := f.Evidence
		switch f.Title {
		case "a":
			if e.Runs != 6 || e.Hits != 3 || e.Count != 3 || e.Run != 2 {
				t.Errorf("evidence of a: %+v", e)
			}
		case "b": // proven in the second run of the second part
			if f.Status != finding.Confirmed || e.Runs != 2 || e.Run != 6 {
				t.Errorf("evidence of b: %s %+v", f.Status, e)
			}
		}
	}
	c := r.Coverage
	if !slices.Equal(c.Reached, []uint32{1, 2, 3, 4}) || !slices.Equal(c.Never, []uint32{5}) || c.Monitored != 5 {
		t.Errorf("coverage %+v", c)
	}
	if r.Exact != 2 || r.Runs != 6 || len(r.Ended) != 2 || r.Known.Whole["x"] != 3 || r.Known.RunsOf["m/sub"] != 3 ||
		!r.Known.Lines[join.Line{File: "a:b.go", Line: 4}] {
		t.Errorf("%+v", r)
	}
	if parts[0].Findings[0].Evidence.Runs != 4 {
		t.Error("what was given has changed")
	}
	if n := Ran(parts[0]) + Ran(parts[1]); n != 7 {
		t.Errorf("%d seeds used up, want those of 4 runs, 2 and one that was cut off", n)
	}
	if n := len(Results(nil).Findings); n != 0 {
		t.Errorf("%d findings of nothing", n)
	}
}
