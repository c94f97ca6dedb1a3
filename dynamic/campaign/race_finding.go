package campaign

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// findings makes a confirmed finding of each pair caught, and a finding of each
// section split, and adds the races of the happens-before engine, if it was asked; claims holds, by
// the id of a section, the id of the suspected finding that it came from.
func (t *tally) findings(
	cfg *Settings, pkgs []PackageResult, e *exact,
) (all []*finding.Finding, claims map[string]string) {
	plain := map[string]*PackageResult{}
	for i := range pkgs {
		plain[pkgs[i].Package] = &pkgs[i]
	}
	// A race did harm if tests failed in a run that showed it, and pass without noise.
	for _, race := range t.races() {
		f := t.raceFinding(cfg, race)
		for _, p := range race {
			for pkg := range t.caught[p].failed {
				f.Evidence.Harmful = f.Evidence.Harmful || plain[pkg] != nil && plain[pkg].Plain == Passed
			}
		}
		all = append(all, f)
	}
	if e != nil {
		all = e.withPredicted(withUnordered(all, e.findings()), pkgs)
	}
	// Errors at a race add to its finding, so races come first.
	all = append(all, t.endedBy(cfg, all)...)
	deadlocks := t.deadlocked(cfg, pkgs)
	all = append(all, deadlocks...)
	all = append(all, t.blockedForEver(cfg, deadlocks, pkgs)...)
	// Findings have no ids before they are sealed, by which the claims are kept.
	claimed := map[*finding.Finding]string{}
	for _, id := range t.sectionsSplit() {
		section := t.section(id)
		f := t.sectionFinding(cfg, section, t.splits[id], plain)
		if (section.Lead || t.splits[id].best.split.Serial) && f.Status != finding.Confirmed {
			continue // nobody has suspected it, or each split was harmless; and nothing has come of it
		}
		claimed[f] = section.Finding
		all = append(all, f)
	}
	all = t.withIsolated(cfg, all)
	if e != nil {
		all = e.withSplits(all)
	}
	finding.Sort(all)
	finding.Seal(all)
	claims = map[string]string{}
	for f, claim := range claimed {
		claims[f.ID] = claim
	}
	return all, claims
}

// raceFinding makes the finding of a race, which describes the first of its pairs.
func (t *tally) raceFinding(cfg *Settings, race []pair) *finding.Finding {
	p := race[0]
	c := t.caught[p]
	hits, tries, count := t.rate(race)
	a := t.access(cfg, c.record.A)
	b := t.access(cfg, c.record.B)
	// A run cannot tell which side lacks protection; the text decides, so
	// that the same race reads the same each time.
	if cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) < 0 {
		a, b = b, a
	}
	on := t.plan.Site(p[0]).Variable
	if other := t.plan.Site(p[1]).Variable; isWhole(on, other) {
		on = other
	}
	v := finding.Variable(on)
	f := &finding.Finding{
		Code: raceCode(v.Kind), Status: finding.Confirmed,
		Title:    fmt.Sprintf("%s on %s: %s and %s at the same moment", raceName(v.Kind), v, a.Mode, b.Mode),
		Message:  message(v, &a, &b) + t.found(c.record.B),
		Variable: v,
		Accesses: []finding.Access{a, b},
		Evidence: &finding.Evidence{
			Engine: "watch", Run: c.run, Runs: tries, Hits: hits, Count: count, Seed: c.seed, Test: c.test,
		},
	}
	windows := map[string]time.Duration{}
	for id, length := range c.windows {
		windows[t.position(id).String()] = length
	}
	t.replays(cfg, c.strength, windows, f, func(seen *tally) bool {
		return slices.ContainsFunc(race, func(p pair) bool { return seen.caught[p] != nil })
	})
	if n := t.runs; n != f.Evidence.Runs {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of the %d runs delayed goroutines at these places; "+
			"the others looked for further races", f.Evidence.Runs, n))
	}
	f.Notes = append(f.Notes, copies(on, t.plan.Site(p[0]), t.plan.Site(p[1]))...)
	return f
}

// copies returns notes on sites that copy the whole object with the field v. In the source that may only show as a
// method with a value receiver.
func copies(v plan.Variable, sites ...*plan.Site) (notes []string) {
	for _, s := range sites {
		if !isWhole(s.Variable, v) {
			continue
		}
		note := fmt.Sprintf("%s:%d accesses all of %s, with its field %s", s.File, s.Line, s.Expr, v.Name)
		if !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return notes
}

// raceCode returns the code of a race on a variable of the kind; operations of synchronisation have codes
// of their own.
func raceCode(kind string) finding.Code {
	switch kind {
	case plan.KindChannel:
		return finding.CloseRaces
	case plan.KindWaitGroup:
		return finding.AddRacesWait
	}
	return finding.CaughtInTheAct
}

// raceName returns the name of a race on a variable of the kind.
func raceName(kind string) string {
	if raceCode(kind) == finding.CaughtInTheAct {
		return "data race"
	}
	return "race"
}

// siteMode returns the mode of the access at a site, in the words of findings.
func siteMode(s *plan.Site) finding.Mode {
	switch s.Variable.Kind {
	case plan.KindChannel:
		if s.Mode == plan.Write {
			return finding.CloseChan
		}
		return finding.Send
	case plan.KindWaitGroup:
		if s.Mode == plan.AtomicWrite {
			return finding.Add
		}
		return finding.Wait
	}
	return finding.Mode(s.Mode)
}

func message(v finding.Variable, a, b *finding.Access) string {
	harm := "the read may see an old or a half-written value"
	switch {
	case a.Mode == finding.CloseChan && b.Mode == finding.CloseChan:
		harm = "the second close panics"
	case v.Kind == plan.KindChannel:
		harm = "a send on the closed channel panics"
	case v.Kind == plan.KindWaitGroup:
		harm = "Wait may return before what was added has begun"
	case v.Kind == plan.KindMap:
		harm = "the map may be corrupted, and the runtime ends the program when it notices"
	case writes(a.Mode) && writes(b.Mode):
		harm = "one of the writes may be lost"
	}
	return fmt.Sprintf("Goroutine %d was about to %s %s in %s while goroutine %d was about to %s it in %s, "+
		"and nothing orders the two: %s.",
		a.Goroutine.ID, verb(a.Mode), a.Expr, a.Function, b.Goroutine.ID, verb(b.Mode), b.Function, harm)
}

// found reports the value of the variable when the second goroutine came.
func (t *tally) found(b *evidence.Side) string {
	if kind := t.plan.Site(b.Site).Scalar; kind != "" && b.Value != nil {
		return fmt.Sprintf(" The variable held %s at that moment.", scalar(kind, *b.Value))
	}
	return ""
}

// scalar writes a value of a kind as plan.Site.Scalar has it.
func scalar(kind string, v uint64) string {
	switch kind {
	case "bool":
		return fmt.Sprint(v != 0)
	case "int8":
		return fmt.Sprint(int8(v))
	case "int16":
		return fmt.Sprint(int16(v))
	case "int32":
		return fmt.Sprint(int32(v))
	case "int", "int64":
		return fmt.Sprint(int64(v))
	case "float32":
		return fmt.Sprint(math.Float32frombits(uint32(v)))
	case "float64":
		return fmt.Sprint(math.Float64frombits(v))
	case "pointer":
		if v == 0 {
			return "nil"
		}
		return "a pointer other than nil"
	}
	return fmt.Sprint(v)
}

func writes(m finding.Mode) bool { return m == finding.Write || m == finding.AtomicWrite }

// verb returns the verb for an access of mode m.
func verb(m finding.Mode) string {
	switch m {
	case finding.Send:
		return "send on"
	case finding.Add:
		return "add to"
	case finding.Wait:
		return "wait for"
	}
	return strings.Replace(string(m), "atomic-", "atomically ", 1)
}

// act returns an access in words. The expression of an access to a sync.Map is the method that makes it.
func (t *tally) act(a *finding.Access) string {
	for i := range t.plan.Sites {
		s := &t.plan.Sites[i]
		if s.Variable.Kind == plan.KindSyncMap && s.File == a.File && s.Line == a.Line && s.Column == a.Column {
			return "call " + a.Expr
		}
	}
	return verb(a.Mode) + " " + a.Expr
}

// access joins the plan's facts about a site with the evidence of the run there.
func (t *tally) access(cfg *Settings, side *evidence.Side) finding.Access {
	s := t.plan.Site(side.Site)
	g := stacktext.Parse(side.Stack)
	g.ID = side.GID
	userPaths(cfg, &g)
	a := t.planned(side.Site)
	if calledAt(&a, g.Stack) {
		g.Stack = slices.Insert(g.Stack, 0,
			finding.Frame{Function: s.Package + "." + s.Function, File: a.File, Line: a.Line})
	}
	a.Goroutine = &g
	if s.Mode == plan.Write && !side.Write { // an append that had to grow has read
		a.Mode = finding.Read
	}
	if len(g.Created) > 0 {
		a.Role = fmt.Sprintf("goroutine started at %s:%d", g.Created[0].File, g.Created[0].Line)
	}
	return a
}

// calledAt reports whether the stack of an access ends at the call of the function that makes it: the monitor stands
// around the call of a function so short that the compiler inlines it.
func calledAt(a *finding.Access, stack []finding.Frame) bool {
	if len(stack) == 0 || strings.Contains(a.Function, ".func") {
		return false
	}
	_, top := stacktext.SplitName(stack[0].Function)
	method := func(function string) string {
		function = strings.ReplaceAll(function, "[...]", "")
		return function[strings.LastIndexByte(function, '.')+1:]
	}
	return method(top) != method(a.Function) && !slices.ContainsFunc(stack, func(f finding.Frame) bool {
		return f.File == a.File && a.Line <= f.Line && f.Line <= max(a.Line, a.EndLine)
	})
}

// planned returns the access at a site as the plan knows it.
func (t *tally) planned(site uint32) finding.Access {
	s := t.plan.Site(site)
	return finding.Access{
		Position: t.position(site), Package: s.Package, Function: s.Function,
		Expr: s.Expr, Source: s.Source, Mode: siteMode(s),
	}
}

// userPaths returns the files of g's stacks as findings name them.
func userPaths(cfg *Settings, g *finding.Goroutine) {
	for _, frames := range [][]finding.Frame{g.Stack, g.Created} {
		for i := range frames {
			frames[i].File = userPath(cfg, frames[i].File)
		}
	}
}

// userPath returns a file of a stack as findings name it: relative to the root
// where it lies below.
func userPath(cfg *Settings, file string) string {
	m := cfg.Workspace.Module
	file = cfg.Workspace.Original(file)
	if rel := m.Rel(file); filepath.IsLocal(filepath.FromSlash(rel)) {
		return rel
	}
	// Built with -trimpath, files begin with the module's path.
	if rel, ok := strings.CutPrefix(file, m.Path+"/"); ok {
		return rel
	}
	return filepath.ToSlash(file)
}

// shownFile returns a file of a dump as reports name it; "" for the file that Interlock adds.
func shownFile(cfg *Settings) func(string) string {
	return func(file string) string {
		if path.Base(file) == build.EndName {
			return ""
		}
		return userPath(cfg, file)
	}
}
