package arm

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

// Heuristic is where noise is made: AtomRace's heuristics (3.3), or "guided", which
// leaves it to the monitor: it makes noise where near misses and static findings point.
// The zero value plans runs by the evidence of earlier ones, see [schedule.Auto].
type Heuristic struct {
	Text  string // as the user has it
	Noise string // as the monitor has it
	Depth int    // of the bugs that PCT looks for; 0 for other schedules
	// Functions is how many functions of a stack lead to the acquisition of a lock, for DrFinder; 0 for other schedules.
	Functions int
}

// DrFinder is the name of that schedule, and DefaultFunctions the number of its functions: the paper's depth.
const (
	DrFinder         = "drfinder"
	DefaultFunctions = 12
)

// Flags are those of the command line by which the heuristic is chosen.
func (h *Heuristic) Flags() []string {
	flags := []string{"-schedule=" + h.Text}
	if h.Functions != 0 && h.Functions != DefaultFunctions {
		flags = append(flags, fmt.Sprintf("-depth=%d", h.Functions))
	}
	return flags
}

// defaultDepth is that of the bugs that PCT looks for: most need no more than three events in one order.
const defaultDepth = 3

// CheckHeuristic finds a fault in the text of a heuristic, except in the names and places that only a plan knows.
func CheckHeuristic(text string) error {
	kind, list, given := strings.Cut(text, ":")
	switch {
	case slices.Contains([]string{"", "auto", "guided", "random", "contest", DrFinder}, text):
	case kind == "pct":
		if depth, err := strconv.Atoi(cmp.Or(list, strconv.Itoa(defaultDepth))); err != nil || depth < 1 || depth > 100 {
			return fmt.Errorf("%q is no depth of bugs for pct: use a number from 1 to 100, as in pct:3", list)
		}
	case given && (kind == "variable" || kind == "location"):
	default:
		return errors.New("use auto, guided, random, contest, drfinder, pct, pct:DEPTH, variable:NAME or " +
			"location:FILE:LINE, several with commas")
	}
	return nil
}

// ParseHeuristic reads "auto", "guided", "random", "contest", "drfinder", "pct", "pct:depth",
// "variable:name,..." or "location:place,...". Names are those of variables as plans and findings
// show them, with the package's path or without: Account.balance. at finds the
// sites at a place, as SitesAt does.
func ParseHeuristic(p *plan.Plan, text string, at func(place string) ([]uint32, error)) (Heuristic, error) {
	if err := CheckHeuristic(text); err != nil {
		return Heuristic{}, err
	}
	kind, list, _ := strings.Cut(text, ":")
	var numbers []string
	switch {
	case text == "" || text == "auto":
		return Heuristic{}, nil
	case text == "guided":
		return Heuristic{Text: text}, nil
	case text == "random", text == "contest":
		return Heuristic{Text: text, Noise: text}, nil
	case text == DrFinder:
		return Heuristic{Text: text, Noise: text, Functions: DefaultFunctions}, nil
	case kind == "pct":
		depth, err := strconv.Atoi(cmp.Or(list, strconv.Itoa(defaultDepth)))
		if err != nil {
			return Heuristic{}, err
		}
		return Heuristic{Text: text, Noise: fmt.Sprintf("pct,depth=%d", depth), Depth: depth}, nil
	// The monitor knows variables by their groups, and places by their sites.
	case kind == "variable":
		for name := range strings.SplitSeq(list, ",") {
			found, err := variablesNamed(p, name)
			if err != nil {
				return Heuristic{}, err
			}
			numbers = append(numbers, found...)
		}
	default: // location
		for place := range strings.SplitSeq(list, ",") {
			ids, err := at(place)
			if err != nil {
				return Heuristic{}, err
			}
			for _, id := range ids {
				numbers = append(numbers, fmt.Sprint(id))
			}
		}
	}
	return Heuristic{Text: text, Noise: kind + ":" + strings.Join(numbers, ",")}, nil
}

// variablesNamed returns the groups of the monitored variables that go by name.
func variablesNamed(p *plan.Plan, name string) ([]string, error) {
	groups := Groups(p)
	last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	var found, others []string
	for i := range p.Sites {
		s := &p.Sites[i]
		if s.Decision != plan.Monitor {
			continue
		}
		short := cmp.Or(s.Variable.Type, s.Variable.Function)
		if short = short + "." + s.Variable.Name; short[0] == '.' {
			short = short[1:]
		}
		// A name in another case, or with another type, is offered where none fits.
		group := fmt.Sprint(groups[s.Variable])
		switch {
		case slices.Contains(found, group):
		case name == short || name == s.Variable.Package+"."+short:
			found = append(found, group)
		case strings.HasSuffix(strings.ToLower(short), last) && !slices.Contains(others, short):
			others = append(others, short)
		}
	}
	if found != nil {
		return found, nil
	}
	if others != nil {
		others = others[:min(len(others), 3)]
		return nil, fmt.Errorf("no monitored variable %q; there is %s", name, strings.Join(others, ", "))
	}
	return nil, fmt.Errorf("no monitored variable %q", name)
}
