package patchgen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/lockfacts"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
)

// Input is one variable to protect.
type Input struct {
	Module *Module
	// Group holds all findings on the variable; each names both accesses.
	Group []*finding.Finding
	// Patched reports that the module holds patches for other variables, made
	// after the findings: one of them may be what this variable needs.
	Patched bool
	// Checks are what a candidate has to pass besides patchgen's own checks.
	Checks Checks
}

// Fix builds a patch for the group. It tries the strategies in order and
// returns the first candidate that passes every check, with the new contents
// of the files that it changes, by slash path relative to the module's root.
// If the module is patched and the variable under its lock by that, the fix
// is empty except for its strategy and checks. Where none does, the fix is
// withheld, with the reason for every strategy, and there are no files. An error means that nothing could be tried: the
// context ended, or a check could not be run.
//
// Fix reads the module as it was loaded; it writes nothing below its root.
func Fix(ctx context.Context, in Input) (*finding.Fix, map[string][]byte, error) {
	p, err := newProblem(in)
	if err != nil {
		return &finding.Fix{Withheld: err.Error()}, nil, nil
	}
	v := &verifier{module: in.Module, checks: in.Checks, observed: observed(in.Group)}
	var reasons []string
	for _, s := range strategy.All {
		out, err := strategy.Try(s, p)
		if err == nil {
			err = v.verify(ctx, out)
		}
		switch {
		case ctx.Err() != nil:
			return nil, nil, fmt.Errorf("building a patch for %s: %w", p.Variable, ctx.Err())
		case errors.Is(err, ErrCannotCheck):
			return nil, nil, fmt.Errorf("checking the %s patch for %s: %w", s.Name, p.Variable, err)
		case err != nil:
			reasons = append(reasons, s.Name+": "+err.Error())
			continue
		}
		return fixOf(p, s.Name, out, v.passed)
	}
	return &finding.Fix{Withheld: strings.Join(reasons, "\n")}, nil, nil
}

func fixOf(p *strategy.Problem, name string, out *strategy.Patch, passed []string) (*finding.Fix, map[string][]byte,
	error) {
	diff, err := edit.Diff(p.Module.Old(out.Files), out.Files)
	if err != nil {
		return nil, nil, err
	}
	return &finding.Fix{Strategy: name, Diff: diff, Checked: passed, Notes: out.Notes}, out.Files, nil
}

// newProblem analyses the module and finds the variable in it. The error is
// the reason why there is no patch.
func newProblem(in Input) (*strategy.Problem, error) {
	if err := onMemory(in.Group); err != nil {
		return nil, err
	}
	before, err := in.Module.analysed.Original()
	if err != nil {
		return nil, err
	}
	p, err := strategy.NewProblem(in.Module.Module, lockfacts.New(before), in.Group)
	if err != nil {
		return nil, err
	}
	p.Patched = in.Patched
	return p, p.Unseen()
}

// onMemory refuses findings on locks, channels and WaitGroups alone: no strategy changes how these are used.
func onMemory(group []*finding.Finding) error {
	memory := []finding.Mode{finding.Read, finding.Write, finding.AtomicRead, finding.AtomicWrite}
	for _, f := range group {
		// A panic that ended a section is a side too, beside the accesses.
		if len(f.Accesses) > 0 && !slices.ContainsFunc(f.Accesses, func(a finding.Access) bool {
			return slices.Contains(memory, a.Mode)
		}) {
			return fmt.Errorf("patches are made for accesses to variables, not for %s (%s)", f.Code, f.Code.Title())
		}
	}
	return nil
}

// observed reports whether a run has shown one of the findings.
func observed(group []*finding.Finding) bool {
	return slices.ContainsFunc(group, func(f *finding.Finding) bool { return f.Status == finding.Confirmed })
}
