package sections

import (
	"fmt"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

// document returns the tables.
func document(o options, pairs []pair, refined []refinement) string {
	var b strings.Builder
	b.WriteString(page.Head("Atomic sections", "sections", ".") + "\n")
	writePairs(&b, o, pairs)
	writeRefined(&b, refined)
	return b.String()
}

func writePairs(b *strings.Builder, o options, pairs []pair) {
	if len(pairs) == 0 {
		return
	}
	b.WriteString("## What is found\n\n")
	b.WriteString("The programs are those of `testdata/sections`: each bug twice, as it is and mended.\n\n")
	b.WriteString("- **check**: whether `interlock check` suspects the wrong program, under the code that is expected\n")
	fmt.Fprintf(b,
		"- **watch**: of %d runs of it under the watch engine, those that confirmed the split, and what that was: local, "+
			"remote, local access\n", o.runs)
	b.WriteString("- **test**: whether its own test failed in such a run\n")
	fmt.Fprintf(b, "- **-race**: of %d runs under the race detector of the Go distribution, those with a report\n", o.runs)
	fmt.Fprintf(b, "- **fixed**: suspected findings about the right program, and confirmed ones in %d runs of it\n\n",
		o.clean)
	b.WriteString("| program | what is wrong | code | check | watch | pattern | test | -race | fixed |\n" +
		"|---|---|---|---|---|---|---|---|---|\n")
	// A row a pair, and the sums below.
	suspected, confirmed, alarms, quiet, doubted := 0, 0, 0, 0, 0
	for i := range pairs {
		p := &pairs[i]
		race := fmt.Sprint(p.race)
		if p.race < 0 {
			race = "-"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %d | %s | %s | %s | %d, %d |\n", p.name, p.about, p.want, formatYes(p.static),
			p.watch, p.pattern, formatYes(p.harmful), race, p.suspected, p.alarms)
		countIf(&suspected, p.static)
		countIf(&confirmed, p.watch > 0)
		countIf(&alarms, p.alarms > 0)
		countIf(&quiet, p.race == 0)
		countIf(&doubted, p.suspected > 0)
	}
	fmt.Fprintf(b,
		"\nOf %d wrong programs %d are suspected, %d confirmed; the race detector is silent about %d. Of the right ones "+
			"%d are suspected, %d confirmed.\n\n", len(pairs), suspected, confirmed, quiet, doubted, alarms)
}

func writeRefined(b *strings.Builder, refined []refinement) {
	if len(refined) == 0 {
		return
	}
	b.WriteString("## Invariants that are left after refinement\n\n")
	b.WriteString(
		"`interlock sections refine` with the modules' own tests as the oracle: pairs of consecutive accesses (entry and " +
			"end), how many of them\n",
	)
	b.WriteString("correct runs have split, how many no run reached, and how many are left to be watched.\n\n")
	b.WriteString(
		"| module | oracle | lines | candidates | dropped | unobserved | left | sections | runs | correct | settled | " +
			"took |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	// A module without an oracle that rejects has no figures.
	for _, r := range refined {
		name := r.path + " " + r.version
		if r.refused != "" {
			fmt.Fprintf(b, "| %s | `%s` | %d | refused: %s | | | | | | | | |\n", name, r.oracle, r.lines, r.refused)
			continue
		}
		fmt.Fprintf(
			b,
			"| %s | `%s` | %d | %d | %d | %d | %d | %d | %d | %d | %s | %s |\n",
			name,
			r.oracle,
			r.lines,
			r.ends,
			r.dropped,
			r.unseen,
			r.left,
			r.sections,
			r.runs,
			r.correct,
			formatYes(r.settled),
			r.elapsed.Round(time.Second),
		)
	}
}

func formatYes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func countIf(n *int, b bool) {
	if b {
		*n++
	}
}
