package strangers

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// A verdict on a confirmed finding is one of these.
const (
	harmful = "harmful" // a bug that somebody should mend
	benign  = "benign"  // it happens, and does no harm
	inTest  = "test"    // it happens, in a test's own code
	falsely = "false"   // it cannot happen: a bug of Interlock
)

// verdict is a row of the table in docs/triage.md.
type verdict struct {
	module  string // path@version
	places  string
	verdict string
	why     string
}

type verdicts []verdict

// heading begins the part of docs/triage.md that is read here.
const heading = "## Confirmed on strangers' code"

// readVerdicts reads the rows `| module@version | places | code | variable |
// verdict | why |` below the heading. A row with a line that sounds like a fault of Interlock has
// the line for places, and the verdict `test` where it is the module's own.
func readVerdicts(name string) (verdicts, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	_, part, _ := strings.Cut(string(data), heading+"\n")
	part, _, _ = strings.Cut(part, "\n## ")
	var all verdicts
	for line := range strings.Lines(part) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 6 || !strings.Contains(cells[0], "@") {
			continue
		}
		v := verdict{strings.TrimPrefix(cells[0], "| "), cells[1], cells[4], strings.TrimSuffix(cells[5], " |")}
		switch v.verdict {
		case harmful, benign, inTest, falsely:
			all = append(all, v)
		default:
			return nil, fmt.Errorf("%s: verdict %q on %s at %s: want %s, %s, %s or %s", name, v.verdict, v.module, v.places,
				harmful, benign, inTest, falsely)
		}
	}
	return all, nil
}

// of returns the verdict on a finding, which its places name, or on a line that sounds like a fault; nil
// if nobody has read it.
func (all verdicts) of(m *result, places string) *verdict {
	for i, v := range all {
		if v.module == m.Module+"@"+m.Version && v.places == places {
			return &all[i]
		}
	}
	return nil
}

// blamed returns the lines of a step that sound like faults of Interlock, without those that a person has
// found to be the tests' own.
func (all verdicts) blamed(m *result, s *step) []string {
	return slices.DeleteFunc(slices.Clone(s.Faults), func(line string) bool {
		v := all.of(m, line)
		return v != nil && v.verdict == inTest
	})
}
