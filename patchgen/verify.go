package patchgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// Candidate is a patched module that a check looks at: the tree at Root with
// the contents of Files, by slash path, in place of what is on disk.
type Candidate struct {
	Root  string
	Files map[string][]byte
	// touched names the declared functions whose source the patch changes, as [types.Func.FullName] does.
	touched map[string]bool
}

// Check looks at a candidate without changing the tree; its error is the
// reason why the candidate is no good. An error that wraps [ErrCannotCheck]
// says that the check itself could not be made.
type Check func(context.Context, Candidate) error

// ErrCannotCheck marks errors of a check itself: no go command, no disk.
var ErrCannotCheck = errors.New("the check could not be made")

// Checks are the checks that need to run something. A nil check is left out,
// and so missing from the fix's list of passed checks.
type Checks struct {
	Build    Check // everything compiles, tests too
	Vet      Check // no complaint that the original has not
	Test     Check // the packages' own tests pass
	Campaign Check // under the same noise, no run shows the variable raced for
	// Static finds nothing on the variable without running the program. It is
	// asked for findings that no run has shown.
	Static Check
}

// verifier checks candidates of one module.
type verifier struct {
	module *Module
	checks Checks
	drafts bool // what could not be shown is a doubt, and no reason to refuse a candidate
	// observed: a run has shown a finding of the group. Only then is it worth
	// saying that runs do not show it any more.
	observed bool
	// failing: none has, but the tests have failed in each run.
	failing bool
}

// step is one check, as the fix names it.
type step struct {
	name string
	run  Check
}

// Names of checks that are asked for.
const (
	typeChecks = "type-checks"
	testsPass  = "tests pass"
)

// unobserved names the campaign for findings that no run has shown. That it
// does not show them either proves nothing, so it is not listed as passed; it
// may still show what the patch breaks.
const unobserved = "fit under noise"

// verdict is what the checks that were passed are worth: where a run has shown the bug, or the tests have failed by it,
// and the same runs have not shown it with the patch, nobody needs to try it once more.
func (v *verifier) verdict() finding.Verdict {
	if (v.observed || v.failing) && v.checks.Build != nil && v.checks.Test != nil && v.checks.Campaign != nil {
		return finding.Verified
	}
	return finding.Manual
}

// judge makes the checks of the source: the candidate type-checks, and meets its obligations. What could not be shown
// becomes a doubt; what is known to fail is the error.
func (v *verifier) judge(ctx context.Context, a *attempt) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	after, err := v.module.analysed.With(a.patch.Files)
	if err != nil {
		return fmt.Errorf("not %q: %w", typeChecks, err)
	}
	original, err := v.module.analysed.Original()
	if err != nil {
		return err
	}
	judge, err := v.module.judge()
	if err != nil {
		return err
	}
	a.after, a.touched, a.passed = after, after.Touched(original), []string{typeChecks}
	// What it promises first, then what may deadlock: a fix names the two apart.
	refused := judge.Check(after, a.patch.Claim)
	for _, order := range []bool{false, true} {
		name := a.patch.Claim.Kind.Promise()
		if order {
			name = "lock order"
		}
		if err := v.settle(a, name, refused, order); err != nil {
			return fmt.Errorf("not %q: %w", name, err)
		}
	}
	return nil
}

// settle returns the first refusal of one half of the obligations that is known to fail, and keeps the others as
// doubts. If there is none, the half counts as passed.
func (v *verifier) settle(a *attempt, name string, refused []*validate.Refusal, order bool) error {
	before := len(a.doubts)
	var doubtful error
	for _, r := range refused {
		if r.Blocks() != order {
			continue
		}
		d, isDoubt := r.Doubt()
		if !isDoubt {
			return r
		}
		a.doubt(d)
		doubtful = cmp.Or(doubtful, error(r))
	}
	if doubtful != nil && !v.drafts {
		return doubtful
	}
	if len(a.doubts) == before {
		a.passed = append(a.passed, name)
	}
	return nil
}

// doubt adds a doubt to a candidate, the heavy ones first.
func (a *attempt) doubt(d finding.Doubt) {
	if slices.ContainsFunc(a.doubts, func(known finding.Doubt) bool { return known.Text == d.Text }) {
		return
	}
	a.doubts = append(a.doubts, d)
	slices.SortStableFunc(a.doubts, func(d, e finding.Doubt) int {
		return strings.Compare(string(d.Weight), string(e.Weight)) // heavy, light
	})
}

// run makes the checks that run something, cheapest first; the first failure ends it.
func (v *verifier) run(ctx context.Context, a *attempt) error {
	c := Candidate{Root: v.module.Root, Files: a.patch.Files, touched: a.touched}
	steps := []step{
		{"builds", v.checks.Build},
		{"vet", v.checks.Vet},
		{testsPass, v.checks.Test},
		{"does not come back", v.checks.Campaign},
	}
	if v.failing {
		steps[len(steps)-2].name, steps[len(steps)-1].name = "tests pass that failed", "they pass in all runs"
	}
	if !v.observed {
		if !v.failing {
			steps[len(steps)-1].name = unobserved
		}
		steps = append(steps, step{"static finding gone", v.checks.Static})
	}
	for _, s := range steps {
		if s.run == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.run(ctx, c)
		// What runs leave open is a doubt too, and tests that fail as before have not passed.
		var open *NotShown
		isOpen := errors.As(err, &open) && v.drafts
		if isOpen {
			for _, d := range open.Doubts {
				a.doubt(d)
			}
			err = nil
		}
		if err != nil {
			return fmt.Errorf("not %q: %w", s.name, err)
		}
		if isOpen && s.name == testsPass {
			s.name = "tests fail as before"
		}
		if s.name != unobserved && !slices.Contains(a.passed, s.name) { // drafts are run again
			a.passed = append(a.passed, s.name)
		}
	}
	return nil
}

// NotShown is the error of a check that a candidate passes except for doubts.
type NotShown struct{ Doubts []finding.Doubt }

// Error returns the doubts, as a reason to withhold a candidate.
func (e *NotShown) Error() string {
	var texts []string
	for _, d := range e.Doubts {
		texts = append(texts, d.Text)
	}
	return strings.Join(texts, "; ")
}
