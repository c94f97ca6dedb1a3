package endpoints

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/analyzers/syncapi"
)

// Where the object of an [Effect] comes from, if not from a parameter.
const (
	global  = -1 // package variable
	unknown = -2
)

// Effect is an access that a function makes, itself or by its calls, as its
// callers see it.
type Effect struct {
	Name   accesspath.Name
	Map    bool
	Param  int    // parameter that the variable is reached from, or global, unknown
	Fields string // selected from the parameter
	Key    int    // parameter that is the key of a map access, or unknown
	Exact  string // constant key
	Op     int
	Value  int  // parameter that is stored, or unknown
	Amount int  // parameter that is added or taken, or unknown
	Bound  int  // parameter that is an index into the variable, or unknown
	Varies bool // the amount added or taken is neither a parameter nor a constant
	Made   bool // an object of its own is stored, made by the function
	Tells  []Tell
	Locks  []Lock // that the function takes itself
	Atomic bool
	// Answers are the results of the function that carry the value that a write has made, or has found there.
	Answers []int
	// Rechecked: the function looks at the variable under the same lock, first or to take back an excess.
	Rechecked bool
	// Asked names other variables that decide there whether a write is made, and Versions those of them that
	// have to be equal to a parameter.
	Asked    []accesspath.Name
	Versions []Version
	Side     finding.Access
	Depth    int

	path    accesspath.Path // of package variables, and of captured variables
	keyPath accesspath.Path // of a key that a closure captures
}

// Lock is a lock that a function holds at an access, having taken it itself.
type Lock struct {
	Param  int // as in Effect
	Fields string
	Class  string
	Read   bool

	path accesspath.Path
}

// Effects is the fact of the tests and changes in a function. Parameters are counted with the receiver first.
type Effects struct{ List []Effect }

// AFact marks Effects as a fact.
func (*Effects) AFact() {}

func (f *Effects) String() string {
	var parts []string
	for _, e := range f.List {
		verb := op(e.Op).pastVerb()
		if len(e.Tells) > 0 {
			verb = "tells of"
		}
		parts = append(parts, fmt.Sprintf("%s %d%s", verb, e.Param, e.Fields))
	}
	return strings.Join(parts, "; ")
}

// isAboutOneThing reports whether the function is about one thing.
func (f *function) isAboutOneThing() bool {
	changed := map[accesspath.Name]bool{}
	for _, e := range f.events {
		if e.op.writes() {
			changed[e.name] = true
		}
	}
	return len(f.fn.Blocks) <= knowledge.OneThingBlocks && len(changed) <= knowledge.OneThingChanges
}

// effects returns the accesses of a call of fn, as far as tests and uses go.
func (c *checker) effects(fn *ssa.Function) []Effect {
	if list, ok := c.summaries[fn]; ok {
		return list
	}
	c.summaries[fn] = nil
	if len(fn.Blocks) == 0 {
		c.summaries[fn] = c.imported(fn)
		return c.summaries[fn]
	}
	if c.list.Prog.InTest(fn) {
		return nil
	}
	// A function that is about many things says nothing to a reader of its caller.
	f := c.factsOf(fn)
	if !f.isAboutOneThing() {
		return nil
	}
	var list []Effect
	for _, e := range f.events {
		if len(list) >= knowledge.EffectsOfFunction {
			break
		}
		if e.owner == ownership.Fresh || e.depth >= knowledge.CallsToEnds || e.op == swap {
			continue
		}
		// A read counts if its outcome is returned, or decided by a parameter.
		eff := c.effectOf(f, e)
		if e.op == read && eff.Bound < 0 && (len(eff.Tells) == 0 || f.writes(e)) {
			continue
		}
		list = append(list, eff)
	}
	c.summaries[fn] = list
	return list
}

func (c *checker) imported(fn *ssa.Function) []Effect {
	var fact Effects
	if obj, ok := fn.Object().(*types.Func); ok && c.pass.ImportObjectFact(obj, &fact) {
		return fact.List
	}
	return nil
}

// export exports the effects of exported functions, for importing packages.
func (c *checker) export() {
	for _, fn := range c.list.Prog.Funcs {
		obj, ok := fn.Object().(*types.Func)
		if !ok || !obj.Exported() || c.list.Prog.InTest(fn) {
			continue
		}
		if list := c.effects(fn); len(list) > 0 {
			c.pass.ExportObjectFact(obj, &Effects{list})
		}
	}
}

// writes reports whether the function changes the variable that e reads: then
// it is an operation of its own, not a test.
func (f *function) writes(e *event) bool {
	return f.changed[cell{e.name, e.inMap}]
}

// effectOf puts e in terms of the function's callers.
func (c *checker) effectOf(f *function, e *event) Effect {
	eff := Effect{
		Name: e.name, Map: e.inMap, Op: int(e.op), Made: e.made, Atomic: e.atomic, Side: e.side, Depth: e.depth + 1,
		Key: unknown, Value: unknown, Amount: unknown, Bound: unknown,
	}
	eff.Param, eff.Fields, eff.path = rootInCaller(f.fn, e.path)
	if e.key != nil {
		eff.Exact = e.key.exact
		if p, ok := e.key.v.(*ssa.Parameter); ok {
			eff.Key = slices.Index(f.fn.Params, p)
		} else if at := e.key.pathOfKey(); at.Root != nil && at.Root.Parent() != f.fn {
			eff.keyPath = at
		}
	}
	for _, h := range e.held {
		if h.Since == nil {
			continue // its caller's, which knows
		}
		l := Lock{Class: h.Class, Read: h.Read}
		l.Param, l.Fields, l.path = rootInCaller(f.fn, h.Path)
		eff.Locks = append(eff.Locks, l)
	}
	if e.op == read {
		if !f.writes(e) {
			eff.Tells = f.resultsAbout(e)
		}
		if p, ok := e.bound.(*ssa.Parameter); ok {
			eff.Bound = slices.Index(f.fn.Params, p)
			eff.Rechecked = e.rechecked || f.recheck(e) != nil
		}
		return eff
	}
	if p, ok := ir.Root(e.value, ir.Retyped|ir.Boxed).(*ssa.Parameter); ok {
		eff.Value = slices.Index(f.fn.Params, p)
	} else if e.value != nil {
		eff.Made = c.distinct(e.value)
	}
	if p, ok := e.amount.(*ssa.Parameter); ok {
		eff.Amount = slices.Index(f.fn.Params, p)
	} else {
		eff.Varies = e.varying()
	}
	eff.Rechecked = e.rechecked || f.recheck(e) != nil || f.corrected(e)
	eff.Answers = f.answers(e)
	eff.Asked = f.askedFor(e)
	for _, v := range f.versions(e) {
		p, ok := v.value.(*ssa.Parameter)
		if param, fields, _ := rootInCaller(f.fn, v.path); ok && param >= 0 {
			eff.Versions = append(eff.Versions, Version{v.name, param, fields, slices.Index(f.fn.Params, p)})
		}
	}
	slices.SortFunc(eff.Versions, func(a, b Version) int {
		return cmp.Or(cmp.Compare(a.Name.String(), b.Name.String()), cmp.Compare(a.Param, b.Param),
			cmp.Compare(a.Fields, b.Fields), cmp.Compare(a.Value, b.Value))
	})
	return eff
}

// rootInCaller returns how callers of fn reach the location at p.
func rootInCaller(fn *ssa.Function, p accesspath.Path) (param int, fields string, path accesspath.Path) {
	if i := p.Param(fn); i >= 0 {
		return i, p.Fields, accesspath.Path{}
	}
	if _, ok := p.Global(); ok {
		return global, p.Fields, p
	}
	if p.Root != nil && p.Root.Parent() != nil && p.Root.Parent() != fn { // captured
		return unknown, p.Fields, p
	}
	return unknown, p.Fields, accesspath.Path{}
}

// translate returns the event that an effect of the callee is to the caller,
// or nil where the caller has no name for its object and cannot do without.
func (c *checker) translate(eff Effect, site callgraph.Site, s *lockset.State) *event {
	call := site.Instr.(*ssa.Call)
	e := &event{
		name: eff.Name, inMap: eff.Map, op: op(eff.Op), made: eff.Made, at: call, call: true, tells: eff.Tells,
		unknown: s.Unknown, varies: eff.Varies, atomic: eff.Atomic, rechecked: eff.Rechecked, owner: ownership.Shared,
		side: eff.Side, depth: eff.Depth, asked: eff.Asked,
		path: inCaller(eff.Param, eff.Fields, eff.path, site), turns: s.Turns(),
	}
	// The object: counters are judged by their class where it has no name here.
	if object := argument(site, eff.Param); object != nil {
		e.owner = c.owner.Of(object, call)
		if e.owner == ownership.Handed && strings.Count(eff.Fields, ".") > 1 {
			e.owner = ownership.Shared // contents behind the object are not only its holder's
		}
	} else if eff.Param == unknown && e.path.Root == nil && e.op != grow && e.op != shrink {
		return nil
	}
	// The values: those that the caller hands over.
	e.key = keyInCaller(eff, site)
	if v := argument(site, eff.Value); v != nil {
		e.op, e.value, e.made = c.storing(e.op, v), v, c.distinct(v)
	}
	e.bound = argument(site, eff.Bound)
	if v := argument(site, eff.Amount); v != nil {
		e.amount = stripConversions(v)
	}
	// A write is test and use in one if the caller asks for its answer.
	if e.answers = results(call, eff.Answers); e.op.writes() && slices.ContainsFunc(e.answers, answered) {
		e.op = swap
	}
	for _, v := range eff.Versions {
		if value := argument(site, v.Value); value != nil && v.Param < len(site.Args) {
			e.versions = append(e.versions, version{v.Name, inCaller(v.Param, v.Fields, accesspath.Path{}, site), value})
		}
	}
	// The locks: the caller's own, and those that the callee takes in this call.
	e.held = s.Held()
	for _, l := range eff.Locks {
		path := inCaller(l.Param, l.Fields, l.path, site)
		e.held = append(e.held, lockset.Held{Path: path, Read: l.Read, Since: call, Class: l.Class})
	}
	return e
}

// argument returns the argument of the call for parameter i, or nil.
func argument(site callgraph.Site, i int) ssa.Value {
	if i < 0 || i >= len(site.Args) {
		return nil
	}
	return site.Args[i]
}

// keyInCaller returns the key of a map access in a callee, or nil.
func keyInCaller(eff Effect, site callgraph.Site) *key {
	switch v := argument(site, eff.Key); {
	case eff.Exact != "":
		return &key{exact: eff.Exact}
	case v != nil:
		return keyOfMapEntry(v)
	case eff.keyPath.Root != nil:
		return &key{path: eff.keyPath}
	}
	return nil
}

// inCaller returns the caller's path of a variable that the callee reaches from a parameter; path is that of
// package variables and captured ones.
func inCaller(param int, fields string, path accesspath.Path, site callgraph.Site) accesspath.Path {
	if param >= 0 && param < len(site.Args) {
		return accesspath.Of(site.Args[param]).Plus(fields)
	}
	return path
}

// callExpr returns the source of a call.
func (c *checker) callExpr(call *ssa.Call) *ast.CallExpr {
	e, _ := c.list.Prog.Node(call.Pos()).(*ast.CallExpr)
	return e
}

// distinct reports whether v is an object of its own, so that to store it twice is not the same as once: not
// plain values, not constants.
func (c *checker) distinct(v ssa.Value) bool { return c.isDistinct(v, map[ssa.Value]bool{}) }

// isDistinct looks at each value once: variables are stored into each other.
func (c *checker) isDistinct(v ssa.Value, seen map[ssa.Value]bool) bool {
	if v == nil || seen[v] {
		return false
	}
	seen[v] = true
	switch x := ir.Root(v, ir.Retyped|ir.Boxed).(type) {
	case *ssa.Const, *ssa.Function, *ssa.Global:
		return false
	case *ssa.Phi:
		return slices.ContainsFunc(x.Edges, func(e ssa.Value) bool { return c.isDistinct(e, seen) })
	case *ssa.UnOp: // the value of a variable, which others would take from there as well
		if cell, ok := x.X.(*ssa.Alloc); ok {
			return slices.ContainsFunc(accesspath.Stored(cell), func(s ssa.Value) bool { return c.isDistinct(s, seen) })
		}
		return false
	case *ssa.Extract, *ssa.Call, *ssa.Alloc, *ssa.MakeMap, *ssa.MakeChan, *ssa.MakeClosure, *ssa.Parameter:
		return c.mutable(x.Type())
	}
	return false
}

// mutable reports whether values of type t refer to something that changes.
func (c *checker) mutable(t types.Type) bool {
	t = types.Unalias(t)
	if types.Identical(t, types.Universe.Lookup("error").Type()) || knowledge.ConstantType(types.TypeString(t, nil)) {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Map, *types.Chan, *types.Signature, *types.Interface:
		return true
	case *types.Pointer:
		st, ok := u.Elem().Underlying().(*types.Struct)
		return !ok || c.changes(st, u.Elem())
	}
	return false
}

// changes reports whether objects of the struct type change once others can
// reach them; of other modules' types that is taken for granted.
func (c *checker) changes(st *types.Struct, t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg() != c.pass.Pkg {
		return true
	}
	if o, ok := n.Origin().Underlying().(*types.Struct); ok {
		st = o
	}
	for f := range st.Fields() {
		if !c.still.Has(f) || c.mutableInside(f) {
			return true
		}
	}
	return false
}

// mutableInside reports whether f is there to change: a lock, an atomic, a
// channel, or a map that something adds to.
func (c *checker) mutableInside(f *types.Var) bool {
	switch f.Type().Underlying().(type) {
	case *types.Chan:
		return true
	case *types.Map:
		return f.Exported() || c.entriesChange(f)
	}
	return strings.HasPrefix(syncapi.Type(f.Type()), "atomic.") || lockset.IsLock(f.Type())
}

// entriesChange reports whether the map in field f changes once others can
// reach it.
func (c *checker) entriesChange(f *types.Var) bool {
	for _, list := range c.writers {
		if slices.ContainsFunc(list, func(w *accesses.Access) bool { return w.Map && w.Obj == f.Origin() }) {
			return true
		}
	}
	return false
}
