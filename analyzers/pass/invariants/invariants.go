package invariants

import (
	"cmp"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// Analyzer finds the sections of a package. Its result is a [*Result].
var Analyzer = &analysis.Analyzer{
	Name:       "interlockinvariants",
	Doc:        "find candidates of atomic sections, and those declared in comments",
	Run:        run,
	Requires:   []*analysis.Analyzer{accesses.Analyzer, ownership.Analyzer},
	ResultType: reflect.TypeFor[*Result](),
}

// Wanted means that all pairs of consecutive accesses are asked for, not only
// those that comments declare. It is set while flags are parsed, and only read by passes.
var Wanted bool

// Result is the sections of a package, by function and entry.
type Result struct {
	Sections []Section
	Problems []Problem // directives that make no sense
}

// Section is a pair of consecutive accesses of one variable, with all that may
// be the second one. File names are as the driver gave them.
type Section struct {
	Declared bool   `json:"declared,omitempty"` // by a comment
	Lead     string `json:"lead,omitempty"`     // its kind, where the second access has to do with the first
	Package  string `json:"package"`            // import path
	Function string `json:"function"`           // that has both accesses
	Variable string `json:"variable"`           // for people: Type.field
	Entry    Half   `json:"entry"`
	Ends     []Half `json:"ends"`
	// Length: one of them accesses a map without a key, so that any key counts.
	Length bool `json:"length,omitempty"`
}

// Half is one access of a section.
type Half struct {
	finding.Position
	Mode finding.Mode      `json:"mode"`
	Map  bool              `json:"map,omitempty"`  // the map itself, not the variable that holds it
	Call *finding.Position `json:"call,omitempty"` // in Function, that leads there
}

// Places lists the positions of s, for callers that rewrite file names.
func (s *Section) Places() []*finding.Position {
	var all []*finding.Position
	add := func(h *Half) {
		all = append(all, &h.Position)
		if h.Call != nil {
			all = append(all, h.Call)
		}
	}
	add(&s.Entry)
	for i := range s.Ends {
		add(&s.Ends[i])
	}
	return all
}

func run(pass *analysis.Pass) (any, error) {
	f := &finder{
		pass:  pass,
		list:  pass.ResultOf[accesses.Analyzer].(*accesses.List),
		owner: pass.ResultOf[ownership.Analyzer].(*ownership.Result),
		own:   map[*ssa.Function][]*accesses.Access{},
		known: map[*ssa.Function]*body{}, touched: map[*ssa.Function][]touch{},
		byName: map[accesspath.Name][]*accesses.Access{},
		result: new(Result),
	}
	if !f.list.Prog.InScope() {
		return f.result, nil
	}
	f.readDirectives()
	f.list.Prog.Analyse(pass, f.findSections)
	f.unused()
	return f.result, nil
}

// finder is one package at work.
type finder struct {
	pass    *analysis.Pass
	list    *accesses.List
	owner   *ownership.Result
	own     map[*ssa.Function][]*accesses.Access
	byName  map[accesspath.Name][]*accesses.Access // of shared objects, outside of tests
	known   map[*ssa.Function]*body
	touched map[*ssa.Function][]touch
	spans   []*span
	result  *Result
}

func (f *finder) findSections() {
	for _, a := range f.list.All {
		f.own[a.Fn] = append(f.own[a.Fn], a)
		if a.Owner == ownership.Shared && f.list.Counts(a) && !a.MadeByCallers() {
			f.byName[a.Name] = append(f.byName[a.Name], a)
		}
	}
	f.list.Prog.Each(f.pass, func(fn *ssa.Function, work *ir.Work) {
		inSpan := slices.ContainsFunc(f.spans, func(s *span) bool { return s.hasCodeOf(fn) })
		if !inSpan && !f.counts(fn) {
			return
		}
		b := f.bodyOf(fn)
		b.work = work
		f.findLeads(fn, b)
		if !inSpan && !Wanted {
			return
		}
		for _, e := range slices.SortedStableFunc(slices.Values(b.events),
			func(d, e *event) int { return cmp.Compare(d.position(), e.position()) }) {
			f.sections(fn, b, e)
		}
		f.addDeclaredPairs(fn, b)
	})
}

// counts reports whether fn is code that several goroutines may meet in.
func (f *finder) counts(fn *ssa.Function) bool {
	prog, graph := f.list.Prog, f.list.Graph
	return !prog.InTest(fn) && !prog.NoRace(fn) && !graph.Roles(fn).OnlyInit() && !graph.Once(fn)
}

// sections adds the sections that begin at e: those declared, or else a candidate.
func (f *finder) sections(fn *ssa.Function, b *body, e *event) {
	limit := knowledge.EndsOfSection
	if len(f.spans) > 0 {
		limit = len(b.events) // somebody may have meant them
	}
	next := b.nextEvents(e, limit)
	declared := false
	for _, s := range f.spans {
		inside := slices.DeleteFunc(slices.Clone(next), func(u *event) bool { return !s.hasBoth(fn, e, u) })
		if len(inside) > 0 {
			s.used, declared = true, true
			f.addSection(fn, e, inside, true)
		}
	}
	if declared || !Wanted || !f.counts(fn) || !e.candidate() {
		return
	}
	ends := slices.DeleteFunc(next, func(u *event) bool {
		return !u.candidate() || inOneSection(e, u) || !f.splits(fn, e, u)
	})
	if len(ends) > 0 {
		f.addSection(fn, e, ends, false)
	}
}

// addDeclaredPairs adds the sections that comments declare of different variables: where one covers no two
// accesses of one variable, its fields of one object belong together, each with the next.
func (f *finder) addDeclaredPairs(fn *ssa.Function, b *body) {
	for _, s := range f.spans {
		if s.used || !s.hasCodeOf(fn) {
			continue
		}
		for _, e := range b.events {
			next := b.following(e, len(b.events), func(u *event) bool { return s.hasBoth(fn, e, u) && e.together(u) })
			if e.last && len(next) > 0 {
				s.pair = true
				f.addSection(fn, e, next, true)
			}
		}
	}
}

func (f *finder) addSection(fn *ssa.Function, e *event, ends []*event, declared bool) {
	s := Section{
		Declared: declared, Package: f.list.Prog.Pkg.Pkg.Path(), Function: f.list.Prog.FuncName(fn),
		Variable: e.a.Name.Short(), Entry: f.halfOf(e), Length: e.a.Map && e.a.Index == nil,
	}
	for _, u := range ends {
		h := f.halfOf(u)
		if !slices.ContainsFunc(s.Ends, func(o Half) bool { return isSameHalf(o, h) }) {
			s.Ends = append(s.Ends, h)
		}
		s.Length = s.Length || u.a.Map && u.a.Index == nil
	}
	f.result.Sections = append(f.result.Sections, s)
}

func isSameHalf(a, b Half) bool {
	return a.Position == b.Position && a.Mode == b.Mode && a.Map == b.Map && (a.Call == nil) == (b.Call == nil) &&
		(a.Call == nil || *a.Call == *b.Call)
}

func (f *finder) halfOf(e *event) Half {
	h := Half{Position: f.list.Side(e.a).Position, Mode: e.a.Mode, Map: e.a.Map}
	if e.call != nil {
		at := accesses.Position(f.list.Prog.Fset(), e.call.Pos(), e.call.End())
		h.Call = &at
	}
	return h
}

// splits reports whether another goroutine may make an access that may not
// come between e and u.
func (f *finder) splits(fn *ssa.Function, e, u *event) bool {
	bothWrite := e.a.Writes() && u.a.Writes()
	mine := f.list.Graph.Roles(fn)
	return slices.ContainsFunc(f.byName[e.a.Name], func(r *accesses.Access) bool {
		if r.Map != e.a.Map || r.Writes() == bothWrite {
			return false
		}
		theirs := f.list.Graph.Roles(r.Fn)
		if single := mine.Single(); single != nil && single == theirs.Single() {
			return false
		}
		return r.Fn != fn || mine.Concurrent()
	})
}

// inOneSection reports whether one critical section of a lock of the variable's object
// holds both.
func inOneSection(e, u *event) bool {
	for _, h := range e.locks.Held() {
		g, ok := u.locks.Has(h.Path)
		if !ok || g.Since != h.Since || h.Read && (e.a.Writes() || u.a.Writes()) {
			continue
		}
		if e.isNear(h) {
			return true
		}
	}
	return false
}
