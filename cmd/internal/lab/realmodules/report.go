package realmodules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/dynamic/campaign"
)

// result is a module compared.
type result struct {
	module
	*both
	packages []*pkg
}

// countRuns returns how many tests and subtests went one way in all plain runs, by
// that way.
func (r *result) countRuns() map[string]int {
	n := map[string]int{}
	for _, p := range r.packages {
		for test, how := range p.plain {
			if test != "" {
				n[how]++
			}
		}
	}
	return n
}

// differing counts the tests that always differ in a mode for no known
// reason, and those that differ now and then.
func (r *result) differing(mode mode) (always, sometimes int) {
	for _, p := range r.packages {
		for _, d := range p.differ {
			switch {
			case d.mode != modes[mode] || known[r.path+" "+d.test] != "":
			case d.always():
				always++
			default:
				sometimes++
			}
		}
	}
	return always, sometimes
}

// formatCell returns both numbers for a table.
func (r *result) formatCell(mode mode) string {
	always, sometimes := r.differing(mode)
	if sometimes == 0 {
		return fmt.Sprint(always)
	}
	return fmt.Sprintf("%d (%d now and then)", always, sometimes)
}

// report returns the document, and how many tests always differ for no known
// reason.
func report(results []*result, took time.Duration) (text string, differing int) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s- %s\n", page.Head("Test suites of real modules, plain and instrumented", "suites", "."),
		took.Round(time.Minute))
	fmt.Fprintf(&b, `
Each test binary runs plain (at least twice), instrumented with the monitor asleep, and instrumented with the monitor
awake, making the noise of a campaign's first run (strength %d us). Tests and subtests are compared by name. A test
that does not go the same way in all plain runs is left out of the comparison and listed below. One that differs runs
instrumented twice more: "now and then" means that it went as plain then. Every access that can be rewritten is, also
where the static side would skip it.

`, campaign.Strength(1))
	summaryTable(&b, results)
	costTable(&b, results)
	skipTable(&b, results)
	writeParts(&b, results)
	plainFailures(&b, results)
	differences(&b, results)
	for _, r := range results {
		for _, m := range []mode{asleep, awake} {
			always, _ := r.differing(m)
			differing += always
		}
	}
	return b.String(), differing
}

func summaryTable(b *strings.Builder, results []*result) {
	b.WriteString(
		"| module | packages | tests and subtests that pass plain | fail plain | differ asleep | differ awake |\n" +
			"|---|---|---|---|---|---|\n")
	for _, r := range results {
		n := r.countRuns()
		fmt.Fprintf(b, "| %s %s | %d | %d | %d | %s | %s |\n", r.path, r.version, len(r.packages), n["pass"], n["fail"],
			r.formatCell(asleep), r.formatCell(awake))
	}
}

func costTable(b *strings.Builder, results []*result) {
	b.WriteString("\nBuild times are those of the module's own packages and of linking, dependencies built before; the " +
		"instrumented one includes loading,\n" +
		"type-checking and rewriting. Sizes are those of all test binaries together, without debugging tables.\n\n")
	b.WriteString(
		"| module | files rewritten | build s, plain | instrumented | size MB, plain | instrumented | tests s, plain | " +
			"asleep | awake |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		var t [len(modes)]float64
		for _, p := range r.packages {
			for m := range t {
				t[m] += p.seconds[m]
			}
		}
		const mb = 1e6
		fmt.Fprintf(b, "| %s | %d | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", r.path, r.rewritten,
			r.plainTime.Seconds(), r.time.Seconds(), float64(r.plainSize)/mb, float64(r.size)/mb, t[plain], t[asleep], t[awake])
	}
}

func skipTable(b *strings.Builder, results []*result) {
	b.WriteString("\n| module | accesses | rewritten | skipped, and why |\n|---|---|---|---|\n")
	for _, r := range results {
		n := atomicsets.Count(r.plan)
		var skips []string
		for _, s := range n.Skipped {
			skips = append(skips, fmt.Sprintf("%d: %s", s.Sites, s.Reason))
		}
		for _, l := range r.workspace.LeftAlone() {
			skips = append(skips, fmt.Sprintf("%s: %s", l.File, l.Why))
		}
		fmt.Fprintf(b, "| %s | %d | %d | %s |\n", r.path, n.Sites, n.Monitored, strings.Join(skips, "; "))
	}
}

func writeParts(b *strings.Builder, results []*result) {
	b.WriteString("\n## What is run\n\n")
	for _, r := range results {
		what := "all tests"
		if r.part != "" {
			what = r.part
		}
		words := append(slices.Clone(r.module.packages), r.module.flags...)
		fmt.Fprintf(b, "- %s: %s (`%s`)\n", r.path, what, strings.Join(words, " "))
	}
}

func plainFailures(b *strings.Builder, results []*result) {
	b.WriteString("\n## Tests that fail plain too, or not always\n\n")
	none := true
	for _, r := range results {
		for _, p := range r.packages {
			for _, test := range slices.Sorted(maps.Keys(p.plain)) {
				if p.plain[test] == "fail" {
					fmt.Fprintf(b, "- %s %s: fails\n", p.path, test)
					none = false
				}
			}
			for _, test := range p.unsure {
				fmt.Fprintf(b, "- %s %s: goes one way and another\n", p.path, testName(test))
				none = false
			}
		}
	}
	if none {
		b.WriteString("None.\n")
	}
}

func differences(b *strings.Builder, results []*result) {
	b.WriteString("\n## Tests that differ\n\n")
	none := true
	for _, r := range results {
		for _, p := range r.packages {
			for _, d := range p.differ {
				why := known[r.path+" "+d.test]
				switch {
				case why != "":
				case d.always():
					why = "**not explained**"
				default:
					why = "now and then"
				}
				fmt.Fprintf(b, "- %s %s, %s: plain %s, instrumented %s, then %s and %s: %s\n", p.path, testName(d.test), d.mode,
					d.plain, outcome(d.then), outcome(d.again[0]), outcome(d.again[1]), why)
				none = false
			}
		}
	}
	if none {
		b.WriteString("None.\n")
	}
}

// testName returns the name of a test in the report.
func testName(test string) string {
	if test == "" {
		return "(the process)"
	}
	return test
}

func outcome(how string) string {
	if how == "" {
		return "not run to its end"
	}
	return how
}
