package labels

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/levels"
)

// firstBlind is the first draw that two readers read who had written nothing of the checks; all later ones are read
// like that, except those of runs.
const firstBlind = 12

// class returns the name of the class of the finding. Where it depends on more than code and place, the label holds it.
func (l Label) class() string {
	f := finding.Finding{Code: finding.Code(l.Code), Class: l.Class}
	file, _, _ := strings.Cut(strings.Trim(l.Place, "`"), ":")
	f.Accesses = []finding.Access{{Position: finding.Position{File: file}}}
	return levels.Name(&f)
}

// isTrue reports whether all readers call the finding true.
func (l Label) isTrue() bool { return l.Verdict == Harmful || l.Verdict == Benign || l.Verdict == True }

// countClasses returns the classes of before with the counts of the blind readings, and those that it lacks.
func (l *Labels) countClasses(before []levels.Class) []levels.Class {
	classes := map[string]*levels.Class{}
	for _, c := range before {
		if c.True, c.Read = 0, 0; c.Construction != "" {
			classes[c.Name] = &c
		}
	}
	for _, f := range l.Findings {
		code := finding.Code(f.Code)
		if f.Draw < firstBlind || code == finding.BlockedForEver || f.Verdict == Unclear || f.Class == string(finding.Lead) {
			continue
		}
		c := classes[f.class()]
		if c == nil {
			c = &levels.Class{Name: f.class()}
			classes[c.Name] = c
		}
		c.Read++
		if f.isTrue() {
			c.True++
		}
	}
	var all []levels.Class
	for _, c := range classes {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b levels.Class) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// writeClasses writes the classes with their counts to the file, for the checks to read.
func (l *Labels) writeClasses(file string) error {
	text, err := json.MarshalIndent(l.countClasses(levels.Classes()), "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the classes: %w", err)
	}
	return os.WriteFile(file, append(text, '\n'), 0o666)
}
