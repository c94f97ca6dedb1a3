package judge

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/deadlock"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/userpath"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/predict"
)

// Predict adds the races and deadlocks that another order of the traced run would show. It keeps only races between
// two sites of the plan, since a run can be driven to them.
func (e *Unordered) Predict(trace string, b build.Binary) error {
	sections, ids := e.sections()
	found, err := predict.FromFile(trace, b.Path, sections)
	if err != nil {
		return err
	}
	if err := os.Remove(trace); err != nil {
		return fmt.Errorf("removing the trace: %w", err)
	}
	if found.Cut {
		e.problem("%s: nothing is predicted of what lies behind the first %d events of the run", b.Package, found.Events)
	}
	// Races between sites of the plan.
	for _, steps := range found.Races {
		r := &exactRace{
			sides: [2]exactSide{e.stepSide(steps[0]), e.stepSide(steps[1])},
			run:   e.seen.Runs, seed: e.seen.Seed, test: b.Package,
			hits: map[int]bool{e.seen.Runs: true}, count: 1,
		}
		if _, known := sharedVariable(e.sitesOf(&r.sides[0]), e.sitesOf(&r.sides[1])); !known {
			continue
		}
		key := keyOf(&r.sides)
		if e.Races[key] == nil && e.predicted[key] == nil {
			e.predicted[key] = r
		}
	}
	// Splits by an access of the plan.
	for _, split := range found.Splits {
		e.takeSplit(ids[split.Section], split, b.Package)
	}
	// Deadlocks of locks that the monitor knows.
	run := deadlock.Run{N: e.seen.Runs, Seed: e.seen.Seed, Package: b.Package}
	for _, steps := range found.Deadlocks {
		circle := []deadlock.Nested{e.nested(steps[0], steps[1]), e.nested(steps[2], steps[3])}
		if order, ok := e.seen.Deadlocks.Order(run, circle); ok {
			e.orders = append(e.orders, order)
		}
	}
	return nil
}

// sections returns the atomic sections that a trace may show to be split, and their ids. Others mean nothing there:
// invariants are only guessed, and a trace does not show which entry of a map is accessed.
func (e *Unordered) sections() (all predict.Sections, ids []uint32) {
	for i := range e.cfg.Plan.Sections {
		s := &e.cfg.Plan.Sections[i]
		isMap := e.cfg.Plan.Site(s.Entry).Variable.Kind == plan.KindMap
		if s.Kind == plan.Invariant || isMap && !s.Length {
			continue
		}
		section := predict.Section{Function: s.Package + "." + s.Function, Entry: e.half(s.Entry, s.EntryCall), Own: s.Own}
		for _, end := range s.Ends {
			to := predict.End{Half: e.half(end.Site, end.EndCall)}
			for _, m := range end.Allows {
				to.Allows = append(to.Allows, stepOf(finding.Mode(m)))
			}
			section.Ends = append(section.Ends, to)
		}
		all.All, ids = append(all.All, section), append(ids, s.ID)
	}
	all.Named = func(at predict.Place) predict.Place {
		pkg, function := stacktext.SplitName(at.Function)
		return predict.Place{Function: pkg + "." + function, File: userpath.File(e.cfg.Workspace, at.File), Line: at.Line}
	}
	return all, ids
}

// half returns a site of the plan as an access of a section, in a callee where call is not nil.
func (e *Unordered) half(site uint32, call *plan.Place) predict.Half {
	s := e.cfg.Plan.Site(site)
	h := predict.Half{File: s.File, Line: s.Line, Op: stepOf(finding.Mode(s.Mode))}
	if call != nil {
		h.Call = &predict.Lines{From: call.Line, To: call.EndLine}
	}
	return h
}

func stepOf(m finding.Mode) predict.Op {
	if writes(m) {
		return predict.Write
	}
	return predict.Read
}

// takeSplit takes up that another order of the traced run splits a section by an access of the plan.
func (e *Unordered) takeSplit(id uint32, found predict.FoundSplit, pkg string) {
	section := e.seen.Section(id)
	v := e.cfg.Plan.Site(section.Entry).Variable
	remote := e.stepSide(found.Steps[1])
	sites := slices.DeleteFunc(e.sitesOf(&remote), func(s *plan.Site) bool { return s.Variable != v })
	if len(sites) == 0 || e.splits[id] != nil {
		return
	}
	side := func(k int, site uint32) *evidence.Side {
		s := found.Steps[k]
		return &evidence.Side{Site: site, Write: s.Write, Atomic: s.Atomic}
	}
	end := section.Ends[found.End].Site
	e.splits[id] = &predictedSplit{
		section: section, remote: sites[0].ID, end: end,
		split: evidence.SplitSection{
			Section: id, Entry: side(0, section.Entry), Remote: side(1, sites[0].ID), End: side(2, end),
		},
		run: e.seen.Runs, seed: e.seen.Seed, test: pkg,
	}
}

// WithSplits adds the sections that are predicted to be split and that no run has shown.
func (e *Unordered) WithSplits(all []*finding.Finding) []*finding.Finding {
	for _, id := range slices.Sorted(maps.Keys(e.splits)) {
		if e.seen.Splits[id] == nil {
			all = append(all, e.splitFinding(e.splits[id]))
		}
	}
	return all
}

func (e *Unordered) splitFinding(p *predictedSplit) *finding.Finding {
	words := wordsOf(p.section.Kind)
	entry, remote, end := e.seen.planned(p.section.Entry), e.seen.planned(p.remote), e.seen.planned(p.end)
	entry.Step, remote.Step, end.Step = 1, 2, 3
	pattern := p.split.Pattern()
	v := finding.Variable(p.section.Variables[0])
	f := &finding.Finding{
		Code: words.code, Status: finding.Predicted,
		Title: fmt.Sprintf("%s of %s split by a remote %s (%s) in another order of the same run",
			words.both, v, plainVerb(remote.Mode), pattern),
		Message: fmt.Sprintf("In the run that was traced a lock had one goroutine go through the section and another %s %s "+
			"in %s one after the other. The section releases that lock between %s and %s. In another order of the same run, "+
			"with each goroutine reading the same values before, the other comes in between; no serial order of the two has "+
			"this result: %s.", plainVerb(remote.Mode), remote.Expr, remote.Function, words.entry, words.end, pattern),
		Variable: v, Accesses: []finding.Access{end, entry, remote},
		Section: e.seen.sectionFor(p.section, p.end),
		Evidence: &finding.Evidence{
			Engine: "hb", Run: p.run, Runs: e.Runs, Hits: 1, Count: 1, Seed: p.seed, Test: p.test, Pattern: pattern,
		},
	}
	again := e.replayOf(f)
	f.Evidence.Replay = strings.Replace(again.Command(e.cfg), " -engine=hb ", " -engine=hb -predict ", 1)
	return f
}

// nested returns two acquisitions in a row of a trace.
func (e *Unordered) nested(holds, wants predict.Step) deadlock.Nested {
	at := func(s predict.Step) finding.Position {
		p := e.stepSide(s).at
		return finding.Position{File: p.file, Line: p.line}
	}
	return deadlock.Nested{
		GID: int64(wants.Goroutine), Holds: at(holds), Wants: at(wants),
		Stack: fmt.Sprintf("goroutine %d [running]:\n%s(...)\n\t%s:%d\n",
			wants.Goroutine, wants.Function, wants.File, wants.Line),
	}
}

// stepSide returns a step of a trace as a recorded access.
func (e *Unordered) stepSide(s predict.Step) exactSide {
	g := finding.Goroutine{Stack: []finding.Frame{{Function: s.Function, File: s.File, Line: s.Line}}}
	userpath.Goroutine(e.cfg.Workspace, &g)
	frame := g.Stack[0]
	return exactSide{goroutine: g, frame: frame, mode: accessMode(s.Write, s.Atomic), at: place{frame.File, frame.Line}}
}

// Expect has the schedule of a package drive its runs to the predicted races, first in one order, then in the other.
func (e *Unordered) Expect(pkg *run.Package) {
	for _, order := range e.orders {
		pkg.Locks.Observe(order)
	}
	e.orders = nil // those of other packages are theirs
	for _, r := range e.predicted {
		for _, p := range e.pairsOf(r) {
			pkg.Auto.Predict(p[0], p[1])
			pkg.Auto.Predict(p[1], p[0])
		}
	}
}

// WithPredicted adds races that are predicted and that no run has shown.
func (e *Unordered) WithPredicted(shown []*finding.Finding, pkgs []run.Package) []*finding.Finding {
	all := shown
	for _, key := range slices.SortedFunc(maps.Keys(e.predicted), exactKey.compare) {
		r := e.predicted[key]
		f := e.finding(r)
		isShown := func(s *finding.Finding) bool { return sharedLines(s, f) == 2 }
		if e.Races[key] != nil || slices.ContainsFunc(shown, isShown) {
			continue
		}
		tries := 0
		for _, p := range e.pairsOf(r) {
			for i := range pkgs {
				tries += pkgs[i].Auto.Tries(p[0], p[1]) + pkgs[i].Auto.Tries(p[1], p[0])
			}
		}
		f.Status = finding.Predicted
		for i := range f.Accesses { // a trace has neither the stacks nor the goroutines' own numbers
			f.Accesses[i].Goroutine, f.Accesses[i].Role = nil, ""
		}
		f.Evidence.Replay = strings.Replace(f.Evidence.Replay, " -engine=hb ", " -engine=hb -predict ", 1)
		f.Title = fmt.Sprintf("data race on %s: %s and %s in another order of the same run", f.Variable,
			f.Accesses[0].Mode, f.Accesses[1].Mode)
		f.Message = "In the run that was traced a lock had the two one after the other. In another order of the same " +
			"run, with each goroutine reading the same values, both may come at once."
		if tries > 0 {
			f.Notes = append(f.Notes,
				fmt.Sprintf("later runs held one of the two %d times, and the other did not come", tries))
		}
		all = append(all, f)
	}
	return all
}
