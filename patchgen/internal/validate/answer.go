package validate

import (
	"fmt"
	"path/filepath"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// An obligation has one of three answers. It is shown: then there is no [Refusal]. It is known to fail: the refusal has
// no weight, and its reason is a witness, such as an access without the lock, a test that is torn from its use, or a
// cycle of calls that are all resolved. Or it could not be shown: the refusal has a weight, and its reason is a doubt.

// Refusal is one obligation that a patch does not meet, or of which that could not be shown.
type Refusal struct {
	Obligation string // as the package comment names it
	Reason     string
	Weight     finding.Weight // "" if the obligation is known to fail
	Place      finding.Position
	Follows    string // what is wrong with the patch if a doubt is justified
}

// Error returns the reason, so that a refusal can withhold a patch.
func (r *Refusal) Error() string { return r.Reason }

// Doubt returns the refusal as a doubt of a draft; not ok if the obligation is known to fail.
func (r *Refusal) Doubt() (d finding.Doubt, ok bool) {
	text := r.Reason
	if r.Follows != "" {
		text += ": " + r.Follows
	}
	return finding.Doubt{Obligation: r.Obligation, File: r.Place.File, Line: r.Place.Line, Weight: r.Weight, Text: text},
		r.Weight != ""
}

// Blocks reports whether the patch may make goroutines wait for each other for
// ever, even if it protects its variable.
func (r *Refusal) Blocks() bool {
	return r.Obligation == "order" || r.Obligation == "waits" || r.Obligation == "channels"
}

// refusals collects what the obligations find.
type refusals struct {
	root string // of the module
	list []*Refusal
}

// add notes an obligation that is known to fail.
func (r *refusals) add(obligation, format string, args ...any) {
	r.list = append(r.list, &Refusal{Obligation: obligation, Reason: fmt.Sprintf(format, args...)})
}

// place is an instruction that a doubt is about; the zero place stands for a function or more.
type place struct {
	pkg   *session.Package
	instr ssa.Instruction
}

// doubt notes an obligation that could not be shown, with what follows if it fails.
func (r *refusals) doubt(at place, weight finding.Weight, obligation, follows, format string, args ...any) {
	x := &Refusal{Obligation: obligation, Reason: fmt.Sprintf(format, args...), Weight: weight, Follows: follows}
	if at.pkg != nil {
		where := at.pkg.Fset.PositionFor(posOf(at.instr), false)
		if rel, err := filepath.Rel(r.root, where.Filename); err == nil {
			x.Place = finding.Position{File: filepath.ToSlash(rel), Line: where.Line}
		}
	}
	r.list = append(r.list, x)
}

// What follows from doubts of several obligations.
const (
	deadlocks = "if it needs that lock, or waits for a goroutine that does, this deadlocks"
	takesLong = "goroutines that need the lock wait as long as that takes"
	stillRace = "if another goroutine is there at the same time, they race"
)
