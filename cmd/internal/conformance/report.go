package main

import (
	"github.com/interlock-go/interlock/cmd/internal/machine"

	"fmt"
	"strings"
	"time"
)

// report writes the document, and gives how many programs differ that are no
// exception.
func report(verdicts []verdict, b *builds) (string, int) {
	var same, excepted, differing, uncompared []verdict
	for _, v := range verdicts {
		switch {
		case v.same:
			same = append(same, v)
		case v.problem != "":
			uncompared = append(uncompared, v)
		case exceptions[v.Name] != "":
			excepted = append(excepted, v)
		default:
			differing = append(differing, v)
		}
	}
	var s strings.Builder
	s.WriteString("# Conformance\n\n")
	s.WriteString("Made by `make conformance`, which overwrites this file: the `// run` programs of the Go distribution's `test` folder,\n")
	s.WriteString("plain against instrumented with every site monitored and the monitor awake. Output (stdout and stderr, without addresses and\n")
	s.WriteString("goroutine numbers) and exit code must be the same.\n\n")
	fmt.Fprintf(&s, "- %s, %s\n", machine.Describe(), time.Now().UTC().Format("2006-01-02"))
	fmt.Fprintf(&s, "- %d programs: %d the same, %d exceptions, **%d differing**, %d not compared\n", len(verdicts), len(same), len(excepted), len(differing), len(uncompared))
	fmt.Fprintf(&s, "- %d monitored accesses in %d rewritten files; collisions recorded in %d programs\n", b.monitored, b.rewritten, withRaces(verdicts))
	section(&s, "Differing", differing, func(v verdict) string { return v.why })
	section(&s, "Exceptions", excepted, func(v verdict) string { return exceptions[v.Name] + " (" + v.why + ")" })
	section(&s, "Not compared", uncompared, func(v verdict) string { return v.why })
	return s.String(), len(differing)
}

func section(s *strings.Builder, title string, verdicts []verdict, why func(verdict) string) {
	if len(verdicts) == 0 {
		return
	}
	fmt.Fprintf(s, "\n## %s\n\n| program | why |\n|---|---|\n", title)
	for _, v := range verdicts {
		fmt.Fprintf(s, "| %s | %s |\n", v.Name, strings.ReplaceAll(why(v), "|", `\|`))
	}
}

func withRaces(verdicts []verdict) (n int) {
	for _, v := range verdicts {
		if v.races > 0 {
			n++
		}
	}
	return n
}
