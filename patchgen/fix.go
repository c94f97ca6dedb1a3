package patchgen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Input is one variable to protect.
type Input struct {
	Module *Module
	// Group holds all findings on the variable; each names both accesses.
	Group []*finding.Finding
	// Patched says that the module holds patches for other variables, made
	// after the findings: one of them may be what this variable needs.
	Patched bool
	// Checks are what a candidate has to pass besides patchgen's own checks.
	Checks Checks
}

// strategy builds a candidate, or says why it does not apply.
type strategy struct {
	name  string
	build func(*problem) (*patch, error)
}

// strategies in the order in which they are tried: least intrusive first.
var strategies = []strategy{
	{"reorder", reorder},
	{"guard", guard},
	{"atomic", atomically},
	{"once", once},
	{"mutex", mutex},
}

// Fix builds a patch for the group. It tries the strategies in order and
// returns the first candidate that passes every check, with the new contents
// of the files that it changes, by slash path relative to the module's root.
// If the module is patched and the variable under its lock by that, the fix
// is empty but for its strategy and checks. Where none does, the fix is withheld, with the reason for every strategy,
// and there are no files. An error means that nothing could be tried: the
// context ended, or a check could not be run.
//
// Fix reads the module as it was loaded; it writes nothing below its root.
func Fix(ctx context.Context, in Input) (*finding.Fix, map[string][]byte, error) {
	p, err := newProblem(in.Module, in.Group)
	if err == nil {
		p.patched = in.Patched
		err = p.unseen()
	}
	if err != nil {
		return &finding.Fix{Withheld: err.Error()}, nil, nil
	}
	v := &verifier{m: in.Module, checks: in.Checks, observed: observed(in.Group)}
	var reasons []string
	for _, s := range strategies {
		out, err := tryBuild(s, p)
		if err == nil {
			err = v.verify(ctx, out)
		}
		switch {
		case ctx.Err() != nil:
			return nil, nil, fmt.Errorf("building a patch for %s: %w", p.t, ctx.Err())
		case errors.Is(err, ErrCannotCheck):
			return nil, nil, fmt.Errorf("checking the %s patch for %s: %w", s.name, p.t, err)
		case err != nil:
			reasons = append(reasons, s.name+": "+err.Error())
			continue
		}
		return p.fix(s.name, out, v.passed)
	}
	return &finding.Fix{Withheld: strings.Join(reasons, "\n")}, nil, nil
}

// tryBuild turns a panic of a strategy into a reason: a patch that cannot be
// built must not stop the others.
func tryBuild(s strategy, p *problem) (out *patch, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("internal error: %v", r)
		}
	}()
	if out, err = s.build(p); err == nil && len(out.files) == 0 && !p.patched {
		err = errors.New("nothing to change")
	}
	return out, err
}

func (p *problem) fix(name string, out *patch, passed []string) (*finding.Fix, map[string][]byte, error) {
	diff, err := Diff(p.m.Old(out.files), out.files)
	if err != nil {
		return nil, nil, err
	}
	return &finding.Fix{Strategy: name, Diff: diff, Checked: passed, Notes: out.notes}, out.files, nil
}

// observed reports whether a run has shown one of the findings.
func observed(group []*finding.Finding) bool {
	return slices.ContainsFunc(group, func(f *finding.Finding) bool { return f.Status == finding.Confirmed })
}

// Old returns the contents that the files had when the module was loaded, as
// [Diff] and [Apply] want them.
func (m *Module) Old(files map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for path := range files {
		if u := m.files[path]; u != nil {
			out[path] = u.src
		}
	}
	return out
}
