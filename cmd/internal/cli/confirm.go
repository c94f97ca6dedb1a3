package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/testrun"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// aim has the runs make noise at the places of the findings in the file of -confirm alone, as -only does, and returns
// these findings.
func (o *testOptions) aim(c *call) ([]*finding.Finding, error) {
	known, interrupted, err := report.ReadFindings(o.confirm)
	if err != nil {
		return nil, gocmd.Refuse("-confirm: "+err.Error(), "name a file that -o jsonl:file has written, such as "+
			"`interlock report -o jsonl:f.jsonl` of what production has seen")
	}
	if interrupted {
		c.warn("-confirm: " + interruptedFindings(o.confirm))
	}
	// One access is a place; two findings may share it.
	places := map[string]bool{}
	for _, f := range known {
		for _, a := range f.Accesses {
			if a.Column == 0 {
				return nil, gocmd.Refuse(fmt.Sprintf("-confirm: %s has no column for the access at %s:%d", o.confirm, a.File,
					a.Line), "run `interlock report -o jsonl:file` in the folder of the module, whose source has it")
			}
			places[fmt.Sprintf("%s:%d:%d", a.File, a.Line, a.Column)] = true
		}
	}
	if len(places) == 0 {
		return nil, gocmd.Refuse("-confirm: "+o.confirm+" has no finding", "name a file with some")
	}
	o.only = strings.Join(slices.Sorted(maps.Keys(places)), ",")
	if len(c.packages) == 0 {
		c.packages = packagesWith(known)
	}
	return known, nil
}

// sayConfirmed says of each finding that was to be confirmed whether it was.
func (o *testOptions) sayConfirmed(c *call, known []*finding.Finding, shown *testrun.Results) {
	runs := progress.Count(shown.Result.Counted, "run")
	for _, f := range known {
		if slices.ContainsFunc(shown.Joined, func(g *finding.Finding) bool {
			return g.Status == finding.Confirmed && isSame(f, g)
		}) {
			fmt.Fprintf(c.stderr, "interlock: confirmed: %s\n", f.Title)
			continue
		}
		fmt.Fprintf(c.stderr, "interlock: not confirmed in %s: %s%s\n", runs, f.Title, unreachedOf(f, shown))
	}
}

// isSame reports whether two findings are about the same accesses of the same variable, also where one of them names
// the variable by a line.
func isSame(f, g *finding.Finding) bool {
	lines := func(f *finding.Finding) (all []string) {
		for _, a := range f.Accesses {
			all = append(all, fmt.Sprintf("%s:%d", a.File, a.Line))
		}
		return slices.Sorted(slices.Values(all))
	}
	return f.ID == g.ID || slices.Equal(lines(f), lines(g))
}

// unreachedOf names the accesses of a finding that no test has come to.
func unreachedOf(f *finding.Finding, shown *testrun.Results) string {
	var all []string
	for _, a := range f.Accesses {
		for id := range shown.Planned.Plan.Sites {
			s := &shown.Planned.Plan.Sites[id]
			place := fmt.Sprintf("%s:%d", a.File, a.Line)
			if s.File == a.File && s.Line == a.Line && s.Column == a.Column && !slices.Contains(all, place) &&
				!slices.Contains(shown.Result.Coverage.Reached, s.ID) {
				all = append(all, place)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "; no test comes to " + strings.Join(all, " and ")
}
