package strangers

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// A verdict on a confirmed finding is one of these.
const (
	harmful = "harmful" // a bug that somebody should mend
	benign  = "benign"  // it happens, and does no harm
	inTest  = "test"    // it happens, in a test's own code
	falsely = "false"   // it cannot happen: a bug of Interlock
)

// verdict is the judgement on one confirmed finding, or on a line that sounds like a fault of Interlock.
type verdict struct {
	Module   string `json:"module"` // path@version
	Places   string `json:"places"` // of the accesses, sorted; or the line
	Code     string `json:"code"`
	Variable string `json:"variable"`
	Verdict  string `json:"verdict"`
	Why      string `json:"why"`
}

type verdicts []verdict

// readVerdicts reads verdicts.json.
func readVerdicts(name string) (verdicts, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var file struct {
		Verdicts verdicts `json:"verdicts"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, v := range file.Verdicts {
		switch v.Verdict {
		case harmful, benign, inTest, falsely:
		default:
			return nil, fmt.Errorf("%s: verdict %q on %s at %s: want %s, %s, %s or %s", name, v.Verdict, v.Module, v.Places,
				harmful, benign, inTest, falsely)
		}
	}
	return file.Verdicts, nil
}

// verdictOf returns the verdict on a finding, by its places, or on a line that sounds like a fault; nil
// if nobody has read it.
func (all verdicts) verdictOf(m *result, places string) *verdict {
	for i, v := range all {
		if v.Module == m.Module+"@"+m.Version && v.Places == places {
			return &all[i]
		}
	}
	return nil
}

// blamed returns the lines of a step that sound like faults of Interlock, without those that a person has
// found to be the tests' own.
func (all verdicts) blamed(m *result, s *step) []string {
	return slices.DeleteFunc(slices.Clone(s.Faults), func(line string) bool {
		v := all.verdictOf(m, line)
		return v != nil && v.Verdict == inTest
	})
}
