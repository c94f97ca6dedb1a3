package strangers

import (
	"fmt"
	"slices"
	"strings"
)

// render returns the document of a run.
func render(now *results, known verdicts) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Strangers' code

Measured by `+"`make strangers`"+`: %d released modules that
Interlock was not tuned on, on %s. Each is fetched, tested plainly (`+"`go test`"+`), checked, tested under the monitor
in %d runs, and, if something was confirmed, patched without -w. verdicts.json has a person's verdict on each
confirmed finding.

`, len(now.Modules), now.Machine, runs)
	summary(&b, now, known)
	writeTable(&b, now)
	confirmedTable(&b, now, known)
	writeList(&b, "Tests that fail plainly", plainFailures(now))
	writeList(&b, "Tests that went another way", otherWay(now))
	writeList(&b, "Lines that sound like faults of Interlock", faults(now, known))
	writeList(&b, "Since the last run", now.Since)
	listParts(&b, now)
	return b.String()
}

// summary counts the hangs, faults, changed trees and verdicts that the promises are about.
func summary(b *strings.Builder, now *results, known verdicts) {
	hangs, changed, crashes := 0, 0, 0
	judged := map[string]int{}
	for _, m := range now.Modules {
		for _, s := range m.listSteps() {
			hangs += number(s.Over)
			changed += number(len(m.changed(s)) > 0)
			crashes += number(len(known.blamed(m, s)) > 0)
		}
		for _, c := range m.confirmed() {
			how := "not read"
			if v := known.verdictOf(m, c.keyOf()); v != nil {
				how = v.Verdict
			}
			judged[how]++
		}
	}
	fmt.Fprintf(b,
		"| modules | hangs | crashes and other faults | changed trees | confirmed: harmful | benign | in a test's own "+
			"code | false | not read |\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	fmt.Fprintf(b, "| %d | %d | %d | %d | %d | %d | %d | %d | %d |\n\n", len(now.Modules), hangs, crashes, changed,
		judged[harmful], judged[benign], judged[inTest], judged[falsely], judged["not read"])
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func writeTable(b *strings.Builder, now *results) {
	b.WriteString(
		"Seconds are those of a machine with other work; `test` includes making the plan and the build. A fix column " +
			"that is empty: nothing was confirmed.\n\n",
	)
	b.WriteString(
		"| module | lines | tests, s | check: exit | CPU s | MB | suspected | test: exit | s | CPU s | predicted | " +
			"confirmed | fix: exit | s | patches | withheld |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, m := range now.Modules {
		c, t := m.Check, m.Test
		fmt.Fprintf(b, "| %s %s | %d | %.1f%s | %d | %.1f | %.0f | %d | %d | %.1f | %.1f | %d | %d |", m.Module, m.Version,
			m.Lines, m.Plain.Wall, failed(m.Plain), c.Exit, c.CPU, c.MB, c.countFindings("suspected"), t.Exit, t.Wall, t.CPU,
			t.countFindings("predicted"), t.countFindings("confirmed"))
		if f := m.Fix; f != nil {
			fmt.Fprintf(b, " %d | %.1f | %d | %d |\n", f.Exit, f.Wall, f.Patches, f.Withheld)
		} else {
			b.WriteString(" | | | |\n")
		}
	}
	b.WriteString("\n")
}

// failed marks tests that fail plainly.
func failed(plain *step) string {
	if plain.Exit != 0 {
		return ", fail"
	}
	return ""
}

func confirmedTable(b *strings.Builder, now *results, known verdicts) {
	b.WriteString(
		"## Confirmed\n\n| module | places | code | variable | runs of " + fmt.Sprint(
			runs) + " | verdict |\n|---|---|---|---|---:|---|\n")
	for _, m := range now.Modules {
		for _, c := range m.confirmed() {
			how := "**not read**"
			if v := known.verdictOf(m, c.keyOf()); v != nil {
				how = v.Verdict
			}
			fmt.Fprintf(b, "| %s@%s | %s | %s | %s | %d | %s |\n", m.Module, m.Version,
				c.keyOf(), c.Code, c.Variable, c.Hits, how)
		}
	}
	b.WriteString("\n")
}

// plainFailures lists the modules with tests that fail without Interlock.
func plainFailures(now *results) []string {
	var all []string
	for _, m := range now.Modules {
		if m.Plain.Exit != 0 {
			all = append(all,
				fmt.Sprintf("%s: go test ends in %d: %s", m.Module, m.Plain.Exit, strings.Join(m.Plain.Failures, ", ")))
		}
	}
	return all
}

// otherWay lists the tests that fail under Interlock, in modules where all pass
// plainly.
func otherWay(now *results) []string {
	var all []string
	for _, m := range now.Modules {
		if m.Plain.Exit != 0 {
			continue
		}
		for _, f := range m.Test.Failures {
			all = append(all, m.Module+": "+f)
		}
	}
	return all
}

func faults(now *results, known verdicts) []string {
	var all []string
	for _, m := range now.Modules {
		for name, s := range m.listSteps() {
			for _, f := range s.Faults {
				how := "**not read**"
				if v := known.verdictOf(m, f); v != nil {
					how = v.Verdict + ", " + v.Why
				}
				all = append(all, fmt.Sprintf("%s, %s: `%s`: %s", m.Module, name, f, how))
			}
		}
	}
	slices.Sort(all)
	return all
}

func writeList(b *strings.Builder, title string, lines []string) {
	fmt.Fprintf(b, "## %s\n\n", title)
	if len(lines) == 0 {
		b.WriteString("None.\n")
	}
	for _, l := range lines {
		fmt.Fprintf(b, "- %s\n", l)
	}
	b.WriteString("\n")
}

// listParts lists the packages and flags of modules that are not run whole or as they are.
func listParts(b *strings.Builder, now *results) {
	b.WriteString("## What is run\n\nAll packages and tests, except for these modules:\n\n")
	for _, m := range strangers {
		if m.why != "" && now.resultOf(m.path) != nil {
			fmt.Fprintf(b, "- %s: %s (`%s`)\n", m.path, m.why, strings.Join(m.patternsAndFlags(), " "))
		}
	}
}
