package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stores"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/userpath"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// sectionFinding makes the finding of a section that was split.
func (t *Tally) sectionFinding(
	cfg *run.Settings, section *plan.Section, seen *splitSeen, plain map[string]*run.Package,
) *finding.Finding {
	best := &seen.best
	entry, remote, end := t.Access(cfg, best.split.Entry), t.Access(cfg, best.split.Remote), t.endOf(cfg, section, best)
	stackAt(entry.Goroutine, section, t.plan.Site(best.split.Entry.Site), section.EntryCall)
	entry.Step, remote.Step, end.Step = 1, 2, 3
	pattern := best.pattern(t.plan, section)
	harm := t.HarmOf(section, seen, plain)
	v := finding.Variable(section.Variables[0])
	words := wordsOf(section.Kind)
	f := &finding.Finding{
		Code: words.code, Status: finding.Predicted,
		Title: fmt.Sprintf("%s of %s split by a remote %s (%s)", words.both, variablesOf(section), plainVerb(remote.Mode),
			pattern),
		Message:  words.story(t, section, best, pattern, &entry, &remote, &end),
		Variable: v,
		Accesses: []finding.Access{end, entry, remote},
		Section:  t.sectionFor(section, best.endSite(section)),
		Evidence: &finding.Evidence{
			Engine: "watch", Run: best.run, Runs: t.Runs - t.rested[section.ID], Hits: len(seen.hits), Count: seen.count,
			Seed: best.seed, Test: best.test, Harmful: harm.counts.FailedSplit > 0,
			Pattern: pattern, Changed: best.proof && best.split.Changed,
		},
	}
	if best.panicked != nil { // the end that was not reached stays first, for the id
		f.Accesses = append([]finding.Access{t.planned(best.endSite(section))}, entry, remote, end)
	}
	// A panic where the test had another result needs no more: that the tests fail without
	// noise as well may be this very bug.
	passes := plain[best.test] != nil && plain[best.test].Plain == run.Passed
	switch {
	case best.proof, best.used && (best.split.Overturned || passes):
		f.Status = finding.Confirmed
	case harm.Significant() && stores.SaysInexact(t.Pkgs, t.plan.Site(section.Entry).Package+"."+section.Function):
		f.Notes = append(f.Notes, harm.String(), fmt.Sprintf("the comment of %s says that its result may be inexact: a test "+
			"that fails by this may expect too much", section.Function))
	case harm.Significant():
		f.Status = finding.Confirmed
		f.Notes = append(f.Notes, harm.String())
	default:
		f.Notes = append(f.Notes, unproven(section.Kind, best, &harm))
	}
	proof, id := best.proof, section.ID
	t.replays(cfg, best.strength, nil, f, func(seen *Tally) bool {
		return seen.Splits[id] != nil && (seen.Proven[id] || !proof)
	})
	if n := t.Runs; n != f.Evidence.Runs {
		f.Notes = append(f.Notes, fmt.Sprintf("open in %d of the campaign's %d runs; the others looked for further bugs",
			f.Evidence.Runs, n))
	}
	return f
}

// endSite returns the site of the end that was reached, or that a panic kept the
// owner from.
func (s *sighting) endSite(section *plan.Section) uint32 {
	if s.split.End == nil {
		return section.Ends[0].Site
	}
	return s.split.End.Site
}

func (s *sighting) pattern(p *plan.Plan, section *plan.Section) string {
	split := s.split
	if split.End == nil {
		mode := p.Site(section.Ends[0].Site).Mode
		split.End = &evidence.Side{Write: mode == plan.Write || mode == plan.AtomicWrite}
	}
	return split.Pattern()
}

// endOf returns the access that ended the section, or the panic that did.
func (t *Tally) endOf(cfg *run.Settings, section *plan.Section, s *sighting) finding.Access {
	if s.panicked == nil {
		end := t.Access(cfg, s.split.End)
		i := slices.IndexFunc(section.Ends, func(e plan.End) bool { return e.Site == s.split.End.Site })
		if i >= 0 {
			stackAt(end.Goroutine, section, t.plan.Site(s.split.End.Site), section.Ends[i].EndCall)
		}
		return end
	}
	g := s.panicked.Goroutine
	userpath.Goroutine(cfg.Workspace, &g)
	top := g.Stack[0]
	at := t.plan.Site(section.Entry)
	return finding.Access{
		Position: finding.Position{File: top.File, Line: top.Line},
		Package:  at.Package, Function: strings.TrimPrefix(top.Function, at.Package+"."),
		Expr: "panic: " + s.panicked.Message, Mode: finding.Leave, Goroutine: &g,
	}
}

// stackAt has the frame of the section's function name the line of the access at the site, or of the call that leads to
// it: the monitor keeps the stack where the owner pauses, behind the statement.
//
//	if h.refs.Load() == 0 {
//		return false
//	} // the pause
func stackAt(g *finding.Goroutine, section *plan.Section, site *plan.Site, call *plan.Place) {
	first, last := site.Line, site.EndLine
	if call != nil {
		first, last = call.Line, call.EndLine
	}
	i := slices.IndexFunc(g.Stack, func(f finding.Frame) bool { return isIn(f, section.File, section.Function) })
	if i >= 0 && (g.Stack[i].Line < first || g.Stack[i].Line > max(first, last)) {
		g.Stack[i].Line = first
	}
}

// unproven returns why a split is no proof.
func unproven(kind string, best *sighting, harm *harm) string {
	switch {
	case harm.counts.FailedSplit > 0:
		return "predicted, as chance may be why: " + harm.String()
	case harm.excuse != "":
		return "predicted: tests failed in such a run, which " + harm.excuse + " explains"
	case kind == plan.Invariant:
		return "predicted: the two accesses follow each other in the code, " +
			"and no test that failed says that they belong together"
	case kind == plan.UserSection:
		return "predicted: the other goroutine was about to come in between when the section went on to its end; " +
			"which of the two was first is not certain"
	case best.doubt != "":
		return "predicted: " + best.doubt
	}
	return "predicted: the section was split, but no run shows that this changed what the program does"
}

// words are those for the sections of a kind.
type words struct {
	code             finding.Code
	both, entry, end string
}

func wordsOf(kind string) words {
	switch kind {
	case plan.LoadAndStore:
		return words{finding.LoadAndStore, "load and store", "the load", "the store"}
	case plan.TestAndUse:
		return words{finding.TestAndUse, "test and use", "the test", "the use"}
	case plan.UserSection:
		return words{finding.Interleaved, "declared atomic section", "the first access", "the last"}
	}
	return words{finding.Interleaved, "consecutive accesses", "the first", "the second"}
}

// story reports the accesses, in their order.
func (w words) story(
	t *Tally, section *plan.Section, best *sighting, pattern string, entry, remote, end *finding.Access,
) string {
	s := &best.split
	owner := fmt.Sprintf("Goroutine %d was to %s in %s (%s)", s.Entry.GID, t.act(entry), entry.Function, w.entry)
	other := fmt.Sprintf("goroutine %d was to %s in %s", s.Remote.GID, t.act(remote), remote.Function)
	if at := panickedAtEnd(t.plan, section, end); best.panicked != nil && at != nil {
		return fmt.Sprintf("%s. Then %s, and goroutine %d panicked at %s:%d, where %s stands: %s.",
			owner, other, s.Entry.GID, at.File, at.Line, w.end, best.panicked.Message)
	}
	if best.panicked != nil {
		return fmt.Sprintf("%s. Then %s, and before goroutine %d came to %s, it panicked: %s.",
			owner, other, s.Entry.GID, w.end, best.panicked.Message)
	}
	text := fmt.Sprintf("%s and, %v later, to %s (%s). In between %s", owner, roughly(time.Duration(s.GapNS)), t.act(end),
		w.end, other)
	// Three accesses of two variables have a serial order by themselves: the fault is that they belong together.
	if s.End != nil && t.plan.Site(s.Entry.Site).Variable != t.plan.Site(s.End.Site).Variable {
		return text + ", so between two accesses of variables that may belong together." + w.effect(best)
	}
	return fmt.Sprintf("%s; no serial order of the two has this result: %s.%s", text, pattern, w.effect(best))
}

// panickedAtEnd returns the frame of a panic that is on the lines of an end of the section, or of the call that leads
// to one; nil if there is none. The line may have been executed in part. If the function of the end is on the stack,
// its line is taken, and not that of the call.
func panickedAtEnd(p *plan.Plan, section *plan.Section, panicked *finding.Access) *finding.Frame {
	if panicked.Goroutine == nil {
		return nil
	}
	isAt := func(file string, first, last int) func(finding.Frame) bool {
		return func(f finding.Frame) bool { return f.File == file && first <= f.Line && f.Line <= max(first, last) }
	}
	stack := panicked.Goroutine.Stack
	for _, e := range section.Ends {
		site, call := p.Site(e.Site), e.EndCall
		i := slices.IndexFunc(stack, isAt(site.File, site.Line, site.EndLine))
		if i < 0 && call != nil {
			i = slices.IndexFunc(stack, isAt(section.File, call.Line, call.EndLine))
			inCallee := func(f finding.Frame) bool { return isIn(f, site.File, site.Function) }
			if slices.ContainsFunc(stack[:max(i, 0)], inCallee) {
				continue
			}
		}
		if i >= 0 {
			return &stack[i]
		}
	}
	return nil
}

// isIn reports whether a frame is one of a function, which is named as in the source.
func isIn(f finding.Frame, file, function string) bool {
	return f.File == file && strings.HasSuffix(strings.ReplaceAll(f.Function, "[...]", ""), "."+function)
}

// variablesOf names the variables of a section.
func variablesOf(section *plan.Section) string {
	var names []string
	for _, v := range section.Variables {
		if name := finding.Variable(v).String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " and ")
}

// effect returns the outcome.
func (w words) effect(best *sighting) string {
	s := &best.split
	switch {
	case !best.proof:
	case s.Overturned:
		return " The outcome was changed: the condition tested at the entry no longer held at the end."
	case s.Changed:
		return fmt.Sprintf(" The outcome was changed: the end overwrote what goroutine %d had written.", s.Remote.GID)
	}
	return ""
}

// roughly leaves out digits that nobody reads.
func roughly(d time.Duration) time.Duration {
	for unit := time.Second; unit > time.Nanosecond; unit /= 1000 {
		if d >= unit {
			return d.Round(unit / 10)
		}
	}
	return d
}

// sectionFor returns the section as findings have it, with the end at the site first.
func (t *Tally) sectionFor(s *plan.Section, site uint32) *finding.Section {
	out := &finding.Section{
		Kind: s.Kind, Function: s.Function, Length: s.Length, Own: s.Own,
		Entry: t.position(s.Entry), EntryCall: callPosition(s.File, s.EntryCall),
	}
	for i := range s.Ends {
		e := &s.Ends[i]
		end := finding.SectionEnd{
			Position: t.position(e.Site), Call: callPosition(s.File, e.EndCall), Allows: modes(e.Allows),
		}
		if out.End.File == "" && e.Site == site {
			out.End, out.EndCall, out.Allows = end.Position, end.Call, end.Allows
			continue
		}
		out.More = append(out.More, end)
	}
	return out
}

func callPosition(file string, p *plan.Place) *finding.Position {
	if p == nil {
		return nil
	}
	return &finding.Position{File: file, Line: p.Line, Column: p.Column, EndLine: p.EndLine, EndColumn: p.EndCol}
}

func modes(allows []plan.Mode) []finding.Mode {
	out := []finding.Mode{}
	for _, m := range allows {
		out = append(out, finding.Mode(m))
	}
	return out
}
