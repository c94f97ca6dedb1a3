package patchgen

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/syncfix"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// Input is one cause of findings to correct.
type Input struct {
	Module *Module
	// Group holds all findings on one variable, each with both accesses; or the
	// findings of one code on one lock, WaitGroup or channel.
	Group []*finding.Finding
	// Patched reports that the module holds patches for other variables, made
	// after the findings: one of them may be what this variable needs.
	Patched bool
	// Failing reports that the tests failed in each of so many runs that their passing with a patch is no chance: then
	// that shows the bug, and that the patch corrects it.
	Failing bool
	// HasPatch reports whether a race for another variable has a patch of its own, or one is to come; nil: none has.
	HasPatch func(finding.Variable) bool
	// Checks are what a candidate has to pass besides patchgen's own checks.
	Checks Checks
	// Drafts allows candidates of which some obligations could not be shown, if there is no other: see [finding.Draft].
	Drafts bool
}

// Fix builds a patch for the group. It tries the strategies in order and
// returns the first candidate that passes every check, with the new contents
// of the files that it changes, by slash path relative to the module's root.
// If the module is patched and the variable under its lock by that, the fix
// is empty except for its strategy and checks. Where none does, it returns on request the best draft. Else the fix is
// withheld, with the reason for every strategy, and there are no files. An error means that nothing could be tried: the
// context ended, or a check could not be run.
//
// Fix reads the module as it was loaded; it writes nothing below its root.
func Fix(ctx context.Context, in Input) (*finding.Fix, map[string][]byte, error) {
	if err := in.isCurrent(); err != nil {
		return withheld(err.Error()), nil, nil
	}
	s := newSearch(in)
	list, err := strategy.Fence(func() ([]candidate, error) { return candidates(in, shown) })
	if err != nil && !in.Drafts {
		return withheld(err.Error()), nil, nil
	}
	if err != nil {
		s.refuse(nil, err.Error())
	}
	won, err := s.proven(ctx, list)
	if won == nil && err == nil && in.Drafts {
		won, err = s.draft(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	if won == nil {
		return withheld(s.why()), nil, nil
	}
	fix, err := s.fixOf(won)
	return fix, won.patch.Files, err
}

// isCurrent returns an error where the source is not what the findings were made of: a line that one quotes stands
// elsewhere. A patch that was made before may have changed it rightly.
func (in Input) isCurrent() error {
	if in.Patched {
		return nil
	}
	for _, f := range in.Group {
		for _, a := range f.Accesses {
			file := in.Module.Files[a.File]
			if file == nil || a.Source == "" {
				continue
			}
			lines := strings.Split(string(file.Source), "\n")
			if a.Line < 1 || a.Line > len(lines) || !strings.Contains(lines[a.Line-1], strings.TrimSpace(a.Source)) {
				return fmt.Errorf("%s:%d: the file changed since the finding was made: check or test again", a.File, a.Line)
			}
		}
	}
	return nil
}

// withheld is the fix for which there is no patch.
func withheld(reason string) *finding.Fix {
	return &finding.Fix{Verdict: finding.Withheld, Withheld: reason}
}

// candidate is a strategy with its problem.
type candidate struct {
	name  string
	build func() (*strategy.Patch, error)
}

// candidates lists what may be tried for a group, in order. The error is the
// reason why nothing may.
func candidates(in Input, how boldness) ([]candidate, error) {
	// Findings on locks, WaitGroups and channels name places, and no variable to protect.
	if code, ok := onSync(in.Group); ok {
		return syncCandidates(in, code, how)
	}
	// Where a use is torn from what leads to it, and no more, the least is to make them one step.
	var list []candidate
	if code, ok := splitCode(in.Group); ok {
		var err error
		if list, err = placeCandidates(in, code, how); err != nil {
			return nil, err
		}
	}
	p, err := newProblem(in, how)
	switch {
	case err != nil && len(list) == 0:
		return nil, err
	case err != nil:
		return append(list, candidate{"guard", func() (*strategy.Patch, error) { return nil, err }}), nil
	}
	tested := ""
	if code, ok := splitCode(in.Group); ok && code == finding.TestAndUse {
		tested = p.Variable.Name
		if others := p.Variable.Others; len(others) > 0 {
			tested = others[0][strings.LastIndexByte(others[0], '.')+1:]
		}
	}
	others := in.others(p)
	neighbors, err := in.neighbors(p, others)
	if err != nil {
		return nil, err
	}
	strategies := strategy.For(p)
	if len(others) > 0 {
		if strategies, err = oneLock(p, strategies); err != nil {
			return nil, err
		}
	}
	for _, s := range strategies {
		list = append(list, candidate{s.Name, func() (*strategy.Patch, error) {
			out, err := strategy.Try(s, p)
			if err == nil {
				err = covers(out, others)
			}
			if err == nil {
				out.Claim.Tested, out.Claim.Neighbors, out.Claim.HasPatch = tested, neighbors, in.hasPatch
				for _, also := range out.Claim.Also {
					out.Notes = append(out.Notes, fmt.Sprintf("the same goroutines race for %s too, which is covered with it", also))
				}
			}
			return out, err
		}})
	}
	return list, nil
}

// syncCandidates lists the strategies for the codes of a group: where a lock is left held or taken twice, that is what
// those who wait for it need.
func syncCandidates(in Input, code finding.Code, how boldness) ([]candidate, error) {
	codes := []finding.Code{code}
	for _, f := range in.Group {
		if isLockFault(f.Code) {
			codes = append([]finding.Code{f.Code}, codes...)
		} else if !slices.Contains(codes, f.Code) {
			codes = append(codes, f.Code)
		}
	}
	var list []candidate
	for i, code := range codes {
		if slices.Contains(codes[:i], code) {
			continue
		}
		more, err := placeCandidates(in, code, how)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no strategy corrects %s (%s)", code, code.Title())
	}
	return list, nil
}

// placeCandidates lists the strategies that correct the places of findings of a code.
func placeCandidates(in Input, code finding.Code, how boldness) ([]candidate, error) {
	before, err := in.Module.original()
	if err != nil {
		return nil, err
	}
	own := slices.DeleteFunc(slices.Clone(in.Group), func(f *finding.Finding) bool { return f.Code != code })
	p := &syncfix.Problem{Module: in.Module.Module, Facts: how.factsOf(before), Findings: own, Bold: how != shown}
	var list []candidate
	for _, s := range syncfix.For(code) {
		list = append(list, candidate{s.Name, func() (*strategy.Patch, error) { return syncfix.Try(s, p) }})
	}
	return list, nil
}

// CodesInSource lists, in ascending order, the codes of findings that are corrected without a run that has shown
// them: what is wrong stands in the source.
func CodesInSource() []finding.Code {
	var codes []finding.Code
	for _, s := range syncfix.All {
		for _, code := range s.Codes {
			switch code {
			case finding.BlockedForEver, finding.TestAndUse, finding.LoadAndStore, finding.UsedAfterLock, finding.WaitUnderLock:
			default:
				codes = append(codes, code)
			}
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// subject names what a group is about.
func subject(group []*finding.Finding) string {
	if len(group) == 0 {
		return "no finding"
	}
	return cmp.Or(group[0].Variable.Name, group[0].Title)
}

// boldness is how far the strategies edit where they could not show that it is right.
type boldness int

const (
	shown    boldness = iota // not at all
	bold                     // they do, but no new lock is held around code that is not known
	trusting                 // nor does that keep them from it
)

// factsOf returns the facts of the source that the strategies ask for.
func (how boldness) factsOf(before *facts.Facts) *facts.Facts {
	if how == shown {
		return before
	}
	return before.Bold(how == trusting)
}

// newProblem analyses the module and finds the variable in it. The error is
// the reason why there is no patch.
func newProblem(in Input, how boldness) (*strategy.Problem, error) {
	before, err := in.Module.original()
	if err != nil {
		return nil, err
	}
	p, err := strategy.NewProblem(in.Module.Module, how.factsOf(before), onOneVariable(in.Group))
	if err != nil {
		return nil, err
	}
	p.Patched, p.Bold = in.Patched, how != shown
	return p, nil
}

// neighbors returns the variables beside that of the problem for which the goroutines race too, by what the runs have
// shown, and which no other patch is for; and has the strategies cover them, and the others of its group.
func (in Input) neighbors(p *strategy.Problem, others []validate.Variable) (list []validate.Neighbor, err error) {
	for _, v := range others {
		p.Cover(v, true)
	}
	var raced []validate.Raced
	for _, f := range onOneVariable(in.Group) {
		if f.Status == finding.Confirmed && f.Code.IsDataRace() && len(f.Accesses) == 2 {
			raced = append(raced, validate.Raced{placesOf(f.Accesses[0]), placesOf(f.Accesses[1])})
		}
	}
	if len(raced) == 0 || p.Variable.Function != nil {
		return nil, nil
	}
	judge, err := in.Module.judge()
	if err != nil {
		return nil, err
	}
	for _, n := range judge.Neighbors(p.Claimed(), raced) {
		switch {
		case slices.Contains(others, n.Variable):
			list = append(list, n)
		case !in.hasPatch(n.Variable):
			list = append(list, n)
			p.Cover(n.Variable, false)
		}
	}
	return list, nil
}

// hasPatch reports whether a race for another variable has a patch of its own, or one is to come.
func (in Input) hasPatch(v validate.Variable) bool {
	return in.HasPatch != nil && in.HasPatch(finding.Variable{Package: v.Package, Type: v.Type, Name: v.Name})
}

// placesOf returns the place of an access, and those of the calls that led there.
func placesOf(a finding.Access) []finding.Position {
	places := []finding.Position{a.Position}
	if a.Goroutine != nil && len(a.Goroutine.Stack) > 0 {
		for _, f := range a.Goroutine.Stack[1:] {
			places = append(places, finding.Position{File: f.File, Line: f.Line})
		}
	}
	return places
}

// splitCode returns the code of findings of a group that say that a lock is released too early: before what was
// tested under it is used, or what was loaded is stored, in all of them, or before what was reached under it is, where
// others may be the races that this leads to.
func splitCode(group []*finding.Finding) (finding.Code, bool) {
	isTorn := func(f *finding.Finding) bool {
		isHalves := f.Code == finding.TestAndUse || f.Code == finding.LoadAndStore
		return isHalves && f.Section != nil && f.Code == group[0].Code
	}
	isUsed := func(f *finding.Finding) bool { return f.Code == finding.UsedAfterLock }
	switch {
	case len(group) > 0 && !slices.ContainsFunc(group, func(f *finding.Finding) bool { return !isTorn(f) }):
		return group[0].Code, true
	case slices.ContainsFunc(group, isUsed):
		return finding.UsedAfterLock, true
	}
	return "", false
}

// onOneVariable returns those of a group that are on the variable which a run has shown to be raced for, or on the
// first one: a use behind a lock is a finding on what was reached, the race that it leads to one on where it happens.
func onOneVariable(group []*finding.Finding) []*finding.Finding {
	if len(group) == 0 {
		return nil
	}
	first := group[0]
	if i := slices.IndexFunc(group, func(f *finding.Finding) bool { return f.Status == finding.Confirmed }); i >= 0 {
		first = group[i]
	}
	return slices.DeleteFunc(slices.Clone(group), func(f *finding.Finding) bool {
		return isUsedBehind(f, first) || isUsedBehind(first, f) ||
			first.Status == finding.Confirmed && !isSameVariable(f, first)
	})
}

// onSync returns the code of findings on locks, channels and WaitGroups, which name no access of memory.
func onSync(group []*finding.Finding) (finding.Code, bool) {
	memory := []finding.Mode{finding.Read, finding.Write, finding.AtomicRead, finding.AtomicWrite}
	isMemory := func(a finding.Access) bool { return slices.Contains(memory, a.Mode) }
	for _, f := range group {
		// A panic that ended a section is a side too, beside the accesses. Where the runs see
		// memory alone, the close that a send races with is a write of the channel.
		isSync := len(f.Accesses) > 0 && !slices.ContainsFunc(f.Accesses, isMemory)
		if isSync || len(f.Cycle) > 0 || f.Code == finding.CloseRaces {
			return f.Code, true
		}
	}
	return "", false
}

// observed reports whether a run has shown one of the findings.
func observed(group []*finding.Finding) bool {
	return slices.ContainsFunc(group, func(f *finding.Finding) bool { return f.Status == finding.Confirmed })
}
