package patchgen

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/session"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
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

// Path is the absolute path of one of the files.
func (c Candidate) Path(file string) string { return filepath.Join(c.Root, filepath.FromSlash(file)) }

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
	passed []string // by the last candidate
	// reentry is what code of others must not do any more with the last candidate.
	reentry string
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

// verify runs the checks in order, cheapest first; the first failure ends it.
func (v *verifier) verify(ctx context.Context, out *strategy.Patch) error {
	v.passed = nil
	c := Candidate{Root: v.module.Root, Files: out.Files} // touched is known once the patched source is analysed
	steps := []step{
		{"type-checks", nil},
		{out.Claim.Kind.Promise(), nil},
		{"lock order", nil},
		{"builds", v.checks.Build},
		{"vet", v.checks.Vet},
		{"tests pass", v.checks.Test},
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
	// The first three are one analysis of the patched source.
	var after *session.Snapshot
	var refused []*validate.Refusal
	steps[0].run = func(context.Context, Candidate) (err error) {
		if after, err = v.module.analysed.With(out.Files); err != nil {
			return err
		}
		original, err := v.module.analysed.Original()
		if err == nil {
			c.touched = after.Touched(original)
		}
		return err
	}
	steps[1].run = func(context.Context, Candidate) error {
		judge, err := v.module.judge()
		if err != nil {
			return err
		}
		refused = judge.Check(after, out.Claim)
		return firstOf(refused, false)
	}
	steps[2].run = func(context.Context, Candidate) error { return firstOf(refused, true) }
	for _, s := range steps {
		if s.run == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.run(ctx, c); err != nil {
			return fmt.Errorf("not %q: %w", s.name, err)
		}
		if s.name != unobserved {
			v.passed = append(v.passed, s.name)
		}
	}
	judge, err := v.module.judge()
	if err == nil {
		v.reentry = judge.Reentry(after, out.Claim)
	}
	return err
}

// firstOf returns the first refusal that is about the order of locks and about
// waiting under them, or the first that is not.
func firstOf(refused []*validate.Refusal, order bool) error {
	for _, r := range refused {
		if r.Blocks() == order {
			return r
		}
	}
	return nil
}
