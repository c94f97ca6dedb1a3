package conformance

import (
	"fmt"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

// report returns the document, and how many programs differ that are no
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
	s.WriteString(
		page.Head("Conformance", "conformance", `: the `+"`// run`"+` programs of the Go distribution's `+"`test`"+` folder,
plain against instrumented with every site monitored and the monitor awake. Output (stdout and stderr, without
addresses and goroutine numbers) and exit code must be the same.`),
	)
	fmt.Fprintf(&s, "- %d programs: %d the same, %d exceptions, **%d differing**, %d not compared\n",
		len(verdicts), len(same), len(excepted), len(differing), len(uncompared))
	fmt.Fprintf(&s, "- %d monitored accesses in %d rewritten files; collisions recorded in %d programs\n",
		b.monitored, b.rewritten, withRaces(verdicts))
	section(&s, "Differing", differing, func(v verdict) string { return v.why })
	section(&s, "Exceptions", excepted, func(v verdict) string { return exceptions[v.Name] + " (" + v.why + ")" })
	section(&s, "Not compared", uncompared, func(v verdict) string { return v.why })
	return s.String(), len(differing)
}

// section writes a table of programs, unless there are none.
func section(s *strings.Builder, title string, verdicts []verdict, why func(verdict) string) {
	var rows [][]string
	for _, v := range verdicts {
		rows = append(rows, []string{v.Name, why(v)})
	}
	page.Table(s, title, []string{"program", "why"}, rows)
}

// withRaces returns in how many programs a collision was recorded.
func withRaces(verdicts []verdict) (n int) {
	for _, v := range verdicts {
		if v.races > 0 {
			n++
		}
	}
	return n
}
