package racesuite

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

// report returns the document, and how many clean functions had a race confirmed.
func report(outcomes []outcome, leftOut map[string]string, silenced int, opts options) (text string, falseAlarms int) {
	var racy, caught, clean, alarms, missed []outcome
	// Sort the functions by their outcome.
	for _, o := range outcomes {
		switch {
		case o.racy && len(o.findings) > 0:
			caught = append(caught, o)
		case o.racy:
			missed = append(missed, o)
		case len(o.findings) > 0:
			alarms = append(alarms, o)
		}
		if o.racy {
			racy = append(racy, o)
		} else {
			clean = append(clean, o)
		}
	}
	var b strings.Builder
	b.WriteString(
		page.Head(
			"The race detector's own suite",
			"racesuite",
			fmt.Sprintf(`: the functions of `+"`runtime/race/testdata`"+` in the Go distribution under the
watch engine, every site monitored, each function alone in a process, with a new seed each run. The watch engine
reports what it catches in the act and knows no happens-before; the race detector finds all racy functions, most of
them by happens-before alone. The strength of the noise is %d us in all runs; campaigns would make it faint here, as
many functions sleep for a few milliseconds.`,
				opts.strength),
		),
	)
	fmt.Fprintf(&b, "- racy functions: **%d of %d confirmed** in up to %d runs, %d of them in the first\n",
		len(caught), len(racy), opts.runs, inFirstRun(caught))
	fmt.Fprintf(&b, "- clean functions: **%d of %d with a confirmed race** in %d runs each\n", len(alarms), len(clean),
		opts.runs)
	// The functions that were not measured.
	for _, name := range slices.Sorted(maps.Keys(leftOut)) {
		fmt.Fprintf(&b, "- left out: %s, which %s\n", name, leftOut[name])
	}
	fmt.Fprintf(&b,
		"- %d accesses that race while the package is initialised, before any function runs, are not monitored\n", silenced)
	section(&b, "Clean functions with a confirmed race: errors of the monitor or the rewriter", alarms,
		func(o outcome) string { return o.findings[0].Title })
	section(&b, "Not caught", missed, func(o outcome) string { return o.ended })
	section(&b, "Caught", caught,
		func(o outcome) string { return fmt.Sprintf("run %d: %s", o.runs, o.findings[0].Title) })
	return b.String(), len(alarms)
}

func inFirstRun(caught []outcome) (n int) {
	for _, o := range caught {
		if o.runs == 1 {
			n++
		}
	}
	return n
}

// section writes a table of functions, if there are any.
func section(b *strings.Builder, title string, outcomes []outcome, say func(outcome) string) {
	var rows [][]string
	for _, o := range outcomes {
		rows = append(rows, []string{o.name, o.file, say(o)})
	}
	page.Table(b, title, []string{"function", "file", ""}, rows)
}
