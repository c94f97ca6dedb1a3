// Package levels decides how much a suspected finding is worth. Findings fall
// into classes, by their code and by the kind of evidence for them; people have
// read findings of each class against the source of released modules, and a
// finding has the level that its class has earned by that.
//
// Cost: constant for a finding.
package levels

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Class is a kind of findings, with the verdicts of readers on some of them.
type Class struct {
	// Name is the code, with the kind of evidence behind a blank.
	Name string `json:"class"`
	// Construction is why a finding of the class shows the fault as such, so that it counts as likely unless
	// readings speak against it. Empty for classes that infer an intention, such as the lock that guards a field.
	Construction string `json:"construction,omitempty"`
	// True of Read findings were true to all of their readers.
	True int `json:"true"`
	Read int `json:"read"`
}

//go:embed classes.json
var table []byte

var classes = func() (all []Class) {
	if err := json.Unmarshal(table, &all); err != nil {
		panic("levels: classes.json: " + err.Error())
	}
	return all
}()

// Classes lists the classes with a row of their own, by name.
func Classes() []Class { return slices.Clone(classes) }

// Name returns the name of f's class. A check that knows more than the finding shows sets the class itself, without
// [finding.InTests].
func Name(f *finding.Finding) string {
	name := cmp.Or(f.Class, string(f.Code))
	at := f.Places()
	if len(at) > 0 && strings.HasSuffix(at[0].File, "_test.go") && !strings.HasSuffix(name, finding.InTests) {
		name += finding.InTests
	}
	return name
}

// Graded returns a copy of f with its class, and of a suspected finding with the level that the class has earned.
func Graded(f *finding.Finding) *finding.Finding {
	g := *f
	g.Class = Name(f)
	if g.Status != finding.Suspected {
		return &g
	}
	g.Level = Of(g.Class).Level()
	return &g
}

// Raise sets the level of f, a suspected finding, by the same finding of runs: one that they have confirmed is likely,
// and a lead is possible where they saw two goroutines come to one address at its accesses. It notes why.
func Raise(f, seen *finding.Finding) {
	switch {
	case f.Status != finding.Suspected:
		return
	case seen.Status == finding.Confirmed:
		f.Level = finding.Likely
		f.Notes = append(f.Notes, "runs have confirmed it")
	case seen.Apart > 0:
		if f.Level == finding.Unlikely {
			f.Level = finding.Possible
		}
		f.Notes = append(f.Notes, "in runs "+seen.NearMiss())
	}
}

// Of returns the class of that name; one without a row has no readings.
func Of(name string) Class {
	if i := slices.IndexFunc(classes, func(c Class) bool { return c.Name == name }); i >= 0 {
		return classes[i]
	}
	return Class{Name: name}
}

// The shares of true findings from which a class is likely, or possible.
const (
	likelyShare   = 0.9
	possibleShare = 0.5
)

// likely reports whether nine in ten of the class are true: by the lower end of the interval of its readings, or by
// construction where the upper end allows that. A fault in a test may show only where the test fails anyway.
func (c Class) likely() bool {
	low, high := c.Interval()
	if strings.HasSuffix(c.Name, finding.InTests) {
		return false
	}
	return low >= likelyShare || c.Construction != "" && high >= likelyShare
}

// possible reports whether at least half of the findings that were read are true. By construction those count that
// nobody has read.
func (c Class) possible() bool {
	if c.Read == 0 {
		return c.Construction != ""
	}
	return float64(c.True) >= possibleShare*float64(c.Read)
}

// Level returns the level of the class.
func (c Class) Level() finding.Level {
	switch {
	case c.likely():
		return finding.Likely
	case c.possible():
		return finding.Possible
	}
	return finding.Unlikely
}

// Interval returns the ends of the interval in which the share of true findings lies, with a confidence of 95 %
// (Wilson, 1927). It is all of 0 to 1 where none was read.
func (c Class) Interval() (low, high float64) {
	if c.Read == 0 {
		return 0, 1
	}
	const z = 1.96
	n, p := float64(c.Read), float64(c.True)/float64(c.Read)
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return (middle - half) / (1 + z*z/n), (middle + half) / (1 + z*z/n)
}
