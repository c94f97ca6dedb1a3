package invariants

import (
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// event is one access as a function sees it: its own, or one that a call leads to.
type event struct {
	a     *accesses.Access
	path  accesspath.Path // of the variable, in the function
	at    ssa.Instruction
	call  *ast.CallExpr // nil for an access of the function itself
	owner ownership.Level
	locks *lockset.State // at at
	// first, last: of those in the callee, nothing comes before or behind it.
	first, last bool
}

// position is where the function has it.
func (e *event) position() token.Pos {
	if e.call != nil {
		return e.call.Pos()
	}
	return e.a.Expr.Pos()
}

// candidate reports whether others may reach the variable.
func (e *event) candidate() bool {
	return e.owner == ownership.Shared && !e.a.SetsUp()
}

// isNear is [accesses.Access.Near], of the variable as the function reaches it.
func (e *event) isNear(h lockset.Held) bool {
	a := *e.a
	a.Path = e.path
	return a.Near(h)
}

// isSameVariable reports whether the two are about one variable.
func (e *event) isSameVariable(u *event) bool {
	if e.path != u.path || e.path.Root == nil || e.a.Map != u.a.Map || e.a.Name != u.a.Name {
		return false
	}
	if !e.a.Map || e.a.Index == nil || u.a.Index == nil || e.call != nil || u.call != nil {
		return true
	}
	p, q := accesspath.Of(e.a.Index), accesspath.Of(u.a.Index)
	if c, ok := e.a.Index.(*ssa.Const); ok {
		d, ok := u.a.Index.(*ssa.Const)
		return ok && c.Value != nil && d.Value != nil && c.Value.ExactString() == d.Value.ExactString()
	}
	return p == q
}

// together reports whether the two are about different fields of one object.
func (e *event) together(u *event) bool {
	return e.path.Root != nil && e.path.Root == u.path.Root && e.path != u.path &&
		e.path.Fields != "" && u.path.Fields != "" && e.path.Owner() == u.path.Owner()
}

// variable is the variable of events that may be alike, and of map accesses the key: a constant, variesKey for
// others, or anyKey for all together.
type variable struct {
	path  accesspath.Path
	name  accesspath.Name
	inMap bool
	key   string
}

const (
	anyKey    = ""
	variesKey = "?"
)

func (e *event) variable() variable {
	v := variable{e.path, e.a.Name, e.a.Map, variesKey}
	if c, ok := e.a.Index.(*ssa.Const); ok && e.call == nil && c.Value != nil {
		v.key = c.Value.ExactString()
	}
	return v
}

// isLastEvent reports whether control comes to no event after e that can be alike.
// Most that it comes to stand behind e, so the last are asked first.
func (b *body) isLastEvent(e *event) bool {
	comes := func(v variable) bool {
		for _, u := range slices.Backward(b.about[v]) {
			b.work.Spend(1)
			if b.flow.Leads(e.at, u.at) {
				return true
			}
		}
		return false
	}
	v := e.variable()
	if v.key == variesKey {
		v.key = anyKey
		return !comes(v)
	}
	varies := v
	varies.key = variesKey
	return !comes(v) && !comes(varies)
}

// body is the events of a function.
type body struct {
	events  []*event
	byInstr map[ssa.Instruction][]*event
	about   map[variable][]*event
	flow    *ir.Flow
	work    *ir.Work // steps left for the function, while its sections are looked for
}

func (f *finder) bodyOf(fn *ssa.Function) *body {
	if b := f.known[fn]; b != nil {
		return b
	}
	b := &body{byInstr: map[ssa.Instruction][]*event{}, about: map[variable][]*event{}, flow: f.list.Prog.Flow(fn)}
	f.known[fn] = b
	for _, a := range f.own[fn] {
		b.addEvent(&event{a: a, path: a.Path, at: a.Instr, owner: a.Owner, locks: a.Locks, first: true, last: true})
	}
	f.list.Locks.Walk(fn, func(instr ssa.Instruction, s *lockset.State) {
		if call, ok := instr.(*ssa.Call); ok {
			for _, e := range f.called(call, s) {
				b.addEvent(e)
			}
		}
	})
	return b
}

func (b *body) addEvent(e *event) {
	b.events = append(b.events, e)
	b.byInstr[e.at] = append(b.byInstr[e.at], e)
	v := e.variable()
	b.about[v] = append(b.about[v], e)
	v.key = anyKey
	b.about[v] = append(b.about[v], e)
}

// nextEvents lists the events of e's variable that control may come to next. The
// access that e is itself, come to again, is one: a circular section. Where
// there are more than limit, there are none that anybody meant.
func (b *body) nextEvents(e *event, limit int) []*event {
	if !e.last || b.isLastEvent(e) {
		return nil
	}
	return b.following(e, limit, e.isSameVariable)
}

// following lists the events that are wanted which control may come to next from e.
func (b *body) following(e *event, limit int, wanted func(*event) bool) []*event {
	var found []*event
	b.flow.Reached(e.at, func(instr ssa.Instruction) bool {
		b.work.Spend(1)
		v, ok := instr.(ssa.Value)
		stop := ok && e.path.Uses(v) // in a loop: from here on the path leads to another object
		for _, u := range b.byInstr[instr] {
			if u.first && wanted(u) {
				stop = true
				b.work.Spend(len(found))
				if !slices.Contains(found, u) {
					found = append(found, u)
				}
			}
		}
		return !stop && len(found) <= limit
	})
	if len(found) > limit {
		return nil
	}
	return found
}

// touch is an access that a call of a function makes, as its callers see it.
type touch struct {
	a           *accesses.Access
	param       int // that the variable is reached from, or global
	path        accesspath.Path
	first, last bool
}

// Bounds of the search in callees: calls deep, events looked at, and touches of one function, beyond which it
// is about too much to be an end of a section.
const (
	global = -1
)

// touches lists the first and last accesses of a call of fn to each variable that its callers reach too.
func (f *finder) touches(fn *ssa.Function, depth int) []touch {
	if list, ok := f.touched[fn]; ok || depth > knowledge.CallsToEnds || len(fn.Blocks) == 0 {
		return list
	}
	f.touched[fn] = nil // calls that come back add nothing
	b := f.bodyOf(fn)
	if len(b.events) > knowledge.EventsOfSection {
		return nil
	}
	var list []touch
	for _, e := range b.events {
		t := touch{a: e.a, param: e.path.Param(fn), path: e.path, first: b.isFirst(fn, e), last: e.last && b.isLast(e)}
		if _, isGlobal := e.path.Global(); isGlobal {
			t.param = global
		} else if t.param < 0 {
			continue
		}
		if t.first || t.last {
			list = append(list, t)
		}
	}
	if len(list) > knowledge.OneThingTouches {
		list = nil
	}
	f.touched[fn] = list
	return list
}

// isFirst reports whether control may come to e, from the start of fn, before
// it comes to another access of the variable.
func (b *body) isFirst(fn *ssa.Function, e *event) bool {
	if !e.first || len(fn.Blocks[0].Instrs) == 0 {
		return false
	}
	found := false
	look := func(instr ssa.Instruction) bool {
		for _, u := range b.byInstr[instr] {
			if u == e {
				found = true
			}
			if u.first && e.isSameVariable(u) {
				return false
			}
		}
		return true
	}
	start := fn.Blocks[0].Instrs[0]
	if look(start) {
		b.flow.Reached(start, look)
	}
	return found
}

// isLast reports whether control may leave the function from e without another
// access of the variable.
func (b *body) isLast(e *event) bool {
	found := false
	b.flow.Reached(e.at, func(instr ssa.Instruction) bool {
		if _, ok := instr.(*ssa.Return); ok {
			found = true
		}
		return !slices.ContainsFunc(b.byInstr[instr], e.isSameVariable)
	})
	return found
}

// called lists the events of a call.
func (f *finder) called(call *ssa.Call, s *lockset.State) []*event {
	node, ok := f.list.Prog.Node(call.Pos()).(*ast.CallExpr)
	if !ok {
		return nil
	}
	// Only a declared section begins in a test, and helpers of the test are meant too.
	graph := f.list.Graph
	if f.list.Prog.InTest(call.Parent()) {
		graph = graph.WithTests()
	}

	var list []*event
	for _, site := range graph.At(call) {
		if site.Through != nil || site.Mode != callgraph.Call {
			continue
		}
		for _, t := range f.touches(site.Callee, 1) {
			e := &event{a: t.a, path: t.path, at: call, call: node, owner: t.a.Owner, locks: s, first: t.first, last: t.last}
			if t.param >= 0 {
				if t.param >= len(site.Args) {
					continue
				}
				arg := site.Args[t.param]
				e.path = accesspath.Of(arg).Plus(t.path.Fields)
				e.owner = min(e.owner, f.owner.Of(arg, call))
			}
			list = append(list, e)
		}
	}
	return list
}
