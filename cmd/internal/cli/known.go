package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/testrun"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// toConfirm returns the findings in the file of -confirm, and their places as -only has them.
func toConfirm(c *call, name string) (known []*finding.Finding, only string, err error) {
	known, interrupted, err := report.ReadFindings(name)
	if err != nil {
		return nil, "", gocmd.Refuse("-confirm: "+err.Error(), "name a file that -o jsonl:file has written, such as "+
			"`interlock report -o jsonl:f.jsonl` of what production has seen")
	}
	if interrupted {
		c.warn("-confirm: " + interruptedFindings(name))
	}
	all := len(known)
	known = slices.DeleteFunc(known, func(f *finding.Finding) bool { return !isRace(f) })
	if left := all - len(known); left > 0 {
		c.warn(fmt.Sprintf("-confirm: %s in %s left out, as noise is made between reads and writes only",
			progress.Count(left, "finding"), name))
	}
	// One access is a place; two findings may share it.
	places := map[string]bool{}
	for _, f := range known {
		for _, a := range sides(f) {
			if a.Column == 0 {
				return nil, "", gocmd.Refuse(fmt.Sprintf("-confirm: %s has no column for the access at %s:%d", name, a.File,
					a.Line), "run `interlock report -o jsonl:file` in the folder of the module, whose source has it")
			}
			places[fmt.Sprintf("%s:%d:%d", a.File, a.Line, a.Column)] = true
		}
	}
	if len(places) == 0 {
		return nil, "", gocmd.Refuse("-confirm: "+name+" has no data race", "name a file with some")
	}
	return known, strings.Join(slices.Sorted(maps.Keys(places)), ","), nil
}

// isRace reports whether all accesses of a finding are reads and writes.
func isRace(f *finding.Finding) bool {
	return len(f.Accesses) > 0 && !slices.ContainsFunc(f.Accesses, func(a finding.Access) bool {
		return a.Mode != finding.Read && a.Mode != finding.Write
	})
}

// sides returns the accesses of a finding that goroutines have made, or all of one that no run has shown: a confirmed
// one has places of the static checks besides.
func sides(f *finding.Finding) []finding.Access {
	made := slices.DeleteFunc(slices.Clone(f.Accesses), func(a finding.Access) bool { return a.Goroutine == nil })
	if len(made) == 0 {
		return f.Accesses
	}
	return made
}

// printConfirmed prints of each finding that was to be confirmed whether it was.
func printConfirmed(c *call, known []*finding.Finding, shown *testrun.Results) {
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
		for _, a := range sides(f) {
			all = append(all, fmt.Sprintf("%s:%d", a.File, a.Line))
		}
		return slices.Sorted(slices.Values(all))
	}
	return f.ID == g.ID || slices.Equal(lines(f), lines(g))
}

// unreachedOf names the accesses of a finding that no test has come to.
func unreachedOf(f *finding.Finding, shown *testrun.Results) string {
	var all []string
	for _, a := range sides(f) {
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

// packagesWith returns the packages that findings are in, or a pattern for all where one does not name its own.
func packagesWith(findings []*finding.Finding) (all []string) {
	for _, f := range findings {
		if len(f.Accesses) == 0 {
			return []string{"./..."}
		}
		for _, a := range f.Accesses {
			if !filepath.IsLocal(a.File) || strings.HasPrefix(a.File, "vendor/") {
				continue // of another module, where nothing can be patched
			}
			pkg := a.Package
			if strings.HasSuffix(a.File, "_test.go") {
				pkg = strings.TrimSuffix(pkg, "_test")
			}
			if !slices.Contains(all, pkg) {
				all = append(all, pkg)
			}
		}
	}
	if len(all) == 0 {
		return []string{"./..."}
	}
	return all
}

// interruptedFindings is the sentence about a file that an interrupted command has written.
func interruptedFindings(file string) string {
	return file + ": the command that wrote it was interrupted, so findings may be missing"
}
