package patchgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/session"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
)

// search is the way to one patch: the candidates that were tried, and why none of them was taken so far.
type search struct {
	in       Input
	verifier *verifier
	tried    []*attempt // those that could be built
	reasons  []reason
	notMeant []string // of strategies for other bugs
}

// attempt is a candidate that was built and judged by its source.
type attempt struct {
	name    string
	patch   *strategy.Patch
	after   *session.Snapshot // the module with it
	touched map[string]bool   // declared functions that it changes
	passed  []string          // names of checks
	doubts  []finding.Doubt
	lines   int // that it changes
	refused bool
}

// reason is why a candidate was not taken.
type reason struct {
	of   *attempt // nil if it could not be built
	text string
}

func newSearch(in Input) *search {
	v := &verifier{module: in.Module, checks: in.Checks, observed: observed(in.Group), drafts: in.Drafts}
	v.failing = in.Failing && !v.observed
	return &search{in: in, verifier: v}
}

func (s *search) refuse(of *attempt, text string) {
	if !slices.ContainsFunc(s.reasons, func(r reason) bool { return r.text == text }) {
		s.reasons = append(s.reasons, reason{of, text})
	}
}

// proven tries candidates in order, and returns the first that passes all checks without a doubt; nil if none does.
// Those with doubts are kept.
func (s *search) proven(ctx context.Context, list []candidate) (*attempt, error) {
	for _, c := range list {
		a, err := s.attempt(ctx, c)
		if err != nil {
			return nil, err
		}
		if a != nil && len(a.doubts) > 0 && !s.in.Drafts && !a.refused {
			s.refuse(a, c.name+": "+a.doubts[0].Text)
		}
		if a == nil || len(a.doubts) > 0 {
			continue
		}
		passes, err := s.run(ctx, a)
		if err != nil {
			return nil, err
		}
		if passes {
			return a, nil
		}
	}
	return nil, nil
}

// attempt builds a candidate and judges it by its source; nil if it is refused.
func (s *search) attempt(ctx context.Context, c candidate) (*attempt, error) {
	out, err := c.build()
	if err != nil {
		return nil, s.note(ctx, nil, c.name, err)
	}
	// What one strategy does for want of a proof, another one may have done already.
	isSame := func(a *attempt) bool { return maps.EqualFunc(a.patch.Files, out.Files, slices.Equal) }
	if slices.ContainsFunc(s.tried, isSame) && len(out.Files) > 0 {
		return nil, nil
	}
	a := &attempt{name: c.name, patch: out, doubts: slices.Clone(out.Doubts)}
	if text := assumedBy(out); text != "" {
		a.doubt(finding.Doubt{Obligation: "assumed", Weight: finding.Heavy, Text: text})
	}
	s.tried = append(s.tried, a)
	_, err = strategy.Fence(func() (*attempt, error) { return a, s.verifier.judge(ctx, a) })
	if err != nil {
		return nil, s.note(ctx, a, c.name, err)
	}
	return a, nil
}

// run makes the checks that run something, and reports whether the candidate passes.
func (s *search) run(ctx context.Context, a *attempt) (passes bool, err error) {
	_, err = strategy.Fence(func() (*attempt, error) { return a, s.verifier.run(ctx, a) })
	if err != nil {
		return false, s.note(ctx, a, a.name, err)
	}
	return len(a.doubts) == 0 && !a.refused, nil
}

// note keeps why a candidate is not taken. An error ends the search.
func (s *search) note(ctx context.Context, a *attempt, name string, err error) error {
	if a != nil {
		a.refused = true
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("building a patch for %s: %w", subject(s.in.Group), ctx.Err())
	case errors.Is(err, ErrCannotCheck):
		return fmt.Errorf("checking the %s patch for %s: %w", name, subject(s.in.Group), err)
	case errors.Is(err, strategy.ErrNoVariant):
	case strategy.IsNotMeant(err):
		s.notMeant = append(s.notMeant, name+": "+err.Error())
	default:
		s.refuse(a, name+": "+err.Error())
	}
	return nil
}

// mostDrafts is how many drafts are run, which costs as much as for a patch without doubts.
const mostDrafts = 3

// draft returns the best candidate of which some obligations could not be shown, and that passes all checks; nil if
// there is none. The strategies are asked again, to edit where they could not show that it is right.
func (s *search) draft(ctx context.Context) (*attempt, error) {
	proven := len(s.reasons)
	for _, how := range []boldness{bold, trusting} {
		list, err := strategy.Fence(func() ([]candidate, error) { return candidates(s.in, how) })
		if err != nil {
			break // for the same reason as before
		}
		for _, c := range list {
			a, err := s.attempt(ctx, c)
			if err != nil {
				return nil, err
			}
			// What only a bold strategy makes is never without a doubt.
			if a != nil && len(a.doubts) == 0 {
				a.doubt(finding.Doubt{Obligation: "maker", Weight: finding.Heavy, Text: s.reasonOf(c.name)})
			}
		}
	}
	// Why a strategy cannot be bolder either is a reason only where it could edit then.
	rest := slices.DeleteFunc(s.reasons[proven:], func(r reason) bool { return r.of == nil })
	for i := range rest {
		rest[i].text += ", in a draft"
	}
	s.reasons = s.reasons[:proven+len(rest)]
	// The best first. What is refused for a witness has no place here.
	list := slices.DeleteFunc(slices.Clone(s.tried), func(a *attempt) bool { return a.refused })
	for _, a := range list {
		a.lines = s.linesOf(a)
	}
	slices.SortStableFunc(list, func(a, b *attempt) int {
		return cmp.Or(finding.CompareDoubts(a.doubts, b.doubts), a.lines-b.lines)
	})
	for i, a := range list {
		if i == mostDrafts {
			break
		}
		if _, err := s.run(ctx, a); err != nil {
			return nil, err
		}
		if !a.refused {
			return a, nil
		}
	}
	return nil, nil
}

// reasonOf returns why a strategy would not make a patch before it was bold.
func (s *search) reasonOf(name string) string {
	for _, r := range s.reasons {
		if text, ok := strings.CutPrefix(r.text, name+": "); ok {
			return text
		}
	}
	return "it counts on code that is not known to do nothing that this needs"
}

// linesOf returns how many lines a candidate adds and removes.
func (s *search) linesOf(a *attempt) (n int) {
	diff, err := edit.Diff(s.in.Module.Old(a.patch.Files), a.patch.Files)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			n++
		}
	}
	return n
}

// why returns why there is no patch, a line for each candidate. Strategies for other bugs count only if they are alone.
func (s *search) why() string {
	var texts []string
	for _, r := range s.reasons {
		texts = append(texts, r.text)
	}
	switch {
	case len(texts) > 0:
		return strings.Join(texts, "\n")
	case len(s.notMeant) > 1:
		code := s.in.Group[0].Code
		return fmt.Sprintf("no strategy is for this kind of %s (%s)", code, code.Title())
	}
	return strings.Join(s.notMeant, "\n")
}

// fixOf returns the fix that a candidate is.
func (s *search) fixOf(a *attempt) (*finding.Fix, error) {
	diff, err := edit.Diff(s.in.Module.Old(a.patch.Files), a.patch.Files)
	if err != nil {
		return nil, err
	}
	fix := &finding.Fix{Strategy: a.name, Diff: diff, Checked: a.passed, Notes: a.patch.Notes, Doubts: a.doubts,
		Verdict: s.verifier.verdict()}
	if len(fix.Doubts) > 0 {
		fix.Verdict = finding.Draft
	}
	for _, r := range s.reasons {
		text := r.text
		if rest, same := strings.CutPrefix(text, a.name+": "); same { // a variant of it
			text = a.name + " in another way: " + rest
		}
		if r.of != a {
			fix.Rejected = append(fix.Rejected, text)
		}
	}
	return fix, nil
}

// assumedBy returns what a patch relies on and no obligation shows; "" for nothing.
func assumedBy(p *strategy.Patch) string {
	text := p.Assumes
	if p.Claim.Within {
		text = "no other object leads to the one that gets the lock, nor keeps a part of it"
	}
	if text != "" {
		text = "assumed, and shown by no check: " + text
	}
	return text
}
