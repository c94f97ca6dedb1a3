package watched

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// Findings makes a finding of each race, and of each variable whose value changed while a goroutine was held at an
// access and no write was seen, if the source has one variable there. sites are those of the packages whose source is
// at hand.
func (r *Result) Findings(sites []plan.Site) []*finding.Finding {
	lines := map[place][]plan.Site{}
	for _, s := range sites {
		at := place{file: s.File, line: s.Line}
		lines[at] = append(lines[at], s)
	}
	var all []*finding.Finding
	for _, key := range slices.SortedFunc(maps.Keys(r.races), func(a, b [2]place) int {
		return cmp.Or(comparePlaces(a[0], b[0]), comparePlaces(a[1], b[1]))
	}) {
		all = append(all, r.finding(r.races[key], lines))
	}
	return append(all, r.changed(sites, lines)...)
}

func (r *Result) finding(race *race, lines map[place][]plan.Site) *finding.Finding {
	// The variable, and how the two were seen.
	v, found := variable(race, lines)
	f := &finding.Finding{
		Version: finding.SchemaVersion, Code: finding.Unordered, Status: finding.Predicted, Variable: v,
		Title: fmt.Sprintf("data race on %s: %s and %s that nothing orders", v, race.sides[0].mode, race.sides[1].mode),
		Message: "In production, one goroutine made its access while another one had made, or was about to make, the other " +
			"one, and that one had released nothing: no lock, channel or other synchronisation orders the two.",
	}
	if !race.seen {
		f.Title = fmt.Sprintf("data race on %s: %s, and a write like the other one", v, race.sides[0].mode)
		f.Message = "In production, the value changed while a goroutine was held at one of the accesses. The write was not " +
			"seen, but the other access is a write of the variable by another goroutine that was."
	} else if race.met {
		f.Code = finding.CaughtInTheAct
		f.Title = fmt.Sprintf("data race on %s: %s and %s at the same moment", v, race.sides[0].mode, race.sides[1].mode)
		f.Message = "In production, one goroutine was held at its access for a moment, and another one stood at the other " +
			"access meanwhile."
	}
	if race.sides[0].mode == finding.AtomicWrite || race.sides[1].mode == finding.AtomicWrite {
		f.Code = finding.MixedAtomic
	}
	for i := range race.sides {
		f.Accesses = append(f.Accesses, access(&race.sides[i], found[i], v))
	}
	return r.complete(f, race)
}

// complete adds to a finding how often, where and how surely its race was seen, and its id.
func (r *Result) complete(f *finding.Finding, race *race) *finding.Finding {
	if len(race.uncounted) > 0 {
		f.Notes = append(f.Notes, "assembly of these packages may release what no clock counts: "+
			strings.Join(race.uncounted, ", "))
	}
	count := uint64(0)
	for _, n := range race.processes {
		count += n
	}
	f.Evidence = &finding.Evidence{
		Engine: Engine, Run: 1, Runs: r.Processes, Hits: len(race.processes), Count: int(count),
	}
	f.Notes = append(f.Notes, fmt.Sprintf("seen by %d of %d instances, in %d of %d builds", len(race.processes),
		r.Processes, len(race.builds), r.Builds))
	f.ID = f.ComputeID()
	return f
}

// variable returns the variable that both sides access, and the site of each, where the source shows one.
func variable(race *race, lines map[place][]plan.Site) (v finding.Variable, found [2]*plan.Site) {
	both := map[plan.Variable][2]*plan.Site{}
	for i, s := range race.sides {
		sites := lines[place{file: s.at.file, line: s.at.line}]
		for j := range sites {
			site := &sites[j]
			if writes := finding.Mode(site.Mode) == finding.Write; s.mode == finding.Write && !writes {
				continue
			}
			pair := both[site.Variable]
			pair[i] = site
			both[site.Variable] = pair
		}
	}
	maps.DeleteFunc(both, func(_ plan.Variable, pair [2]*plan.Site) bool { return pair[0] == nil || pair[1] == nil })
	if len(both) == 1 {
		for v, pair := range both {
			return finding.Variable(v), pair
		}
	}
	s := race.sides[0]
	return finding.Variable{Package: s.pkg, Name: finding.MemoryAt(path.Base(s.at.file), s.at.line)}, found
}

// access returns a side as a finding has it.
func access(s *side, site *plan.Site, v finding.Variable) finding.Access {
	a := finding.Access{
		Position: finding.Position{File: s.at.file, Line: s.at.line}, Package: s.pkg, Function: s.at.function,
		Expr: v.Name, Mode: s.mode, Goroutine: &s.goroutine,
	}
	if site != nil {
		a.Function, a.Expr, a.Source = site.Function, site.Expr, site.Source
		a.Column, a.EndLine, a.EndColumn = site.Column, site.EndLine, site.EndCol
	}
	return a
}

// changed makes findings of variables whose value changed while a goroutine was held at an access: another goroutine
// wrote then, without an order. Which write it was is not known; the source has those that it can be.
func (r *Result) changed(sites []plan.Site, lines map[place][]plan.Site) (all []*finding.Finding) {
	covered := map[place]bool{}
	for _, race := range r.races {
		covered[race.sides[0].at], covered[race.sides[1].at] = true, true
	}
	for _, at := range slices.SortedFunc(maps.Keys(r.changes), comparePlaces) {
		change := r.changes[at]
		if covered[at] {
			continue // a race that was seen there explains it
		}
		first := only(lines[place{file: at.file, line: at.line}], change)
		if first == nil {
			r.Unnamed++
			continue
		}
		// The writes of the variable, first those of other places.
		var writes []*plan.Site
		for i := range sites {
			if s := &sites[i]; s.Variable == first.Variable && finding.Mode(s.Mode) == finding.Write {
				writes = append(writes, s)
			}
		}
		slices.SortStableFunc(writes, func(a, b *plan.Site) int { return cmp.Compare(same(a, first), same(b, first)) })
		if len(writes) == 0 {
			r.Unnamed++
			continue
		}
		all = append(all, r.change(change, first, writes))
	}
	return all
}

// only returns the site of the one variable that the access of a change may be of, or nil.
func only(sites []plan.Site, change *race) (found *plan.Site) {
	for i := range sites {
		s := &sites[i]
		writes := finding.Mode(s.Mode) == finding.Write
		if change.sides[0].mode == finding.Write && !writes || change.global != (s.Variable.Kind == "global") {
			continue
		}
		if found != nil && found.Variable != s.Variable {
			return nil
		}
		found = s
	}
	return found
}

// same returns 1 if a is at the place of b, otherwise 0.
func same(a, b *plan.Site) int {
	if a.File == b.File && a.Line == b.Line {
		return 1
	}
	return 0
}

func (r *Result) change(change *race, first *plan.Site, writes []*plan.Site) *finding.Finding {
	v, w := finding.Variable(first.Variable), writes[0]
	f := &finding.Finding{
		Version: finding.SchemaVersion, Code: finding.CaughtInTheAct, Status: finding.Predicted, Variable: v,
		Title: fmt.Sprintf("data race on %s: its value changed at a %s", v, change.sides[0].mode),
		Message: "In production, the value changed while a goroutine was held at this access for a moment: another " +
			"goroutine wrote it then. The write was not seen; the source has it at the other place, or at those of the notes.",
		Accesses: []finding.Access{access(&change.sides[0], first, v), {
			Position: finding.Position{
				File: w.File, Line: w.Line, Column: w.Column, EndLine: w.EndLine, EndColumn: w.EndCol,
			},
			Package: w.Package, Function: w.Function, Expr: w.Expr, Source: w.Source, Mode: finding.Write,
		}},
	}
	for _, w := range writes[1:] {
		f.Notes = append(f.Notes, fmt.Sprintf("it is written at %s:%d as well", w.File, w.Line))
	}
	return r.complete(f, change)
}
