package endpoints

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// op is the effect of an access on its variable, as far as a test can see it.
type op int

const (
	read   op = iota
	insert    // an entry into a map
	remove    // entries of a map
	grow      // a counter raised, a slice appended to
	shrink    // a counter lowered, a slice cut
	set       // another value
	mark      // a constant that is not zero, an entry without contents
	reset     // zero
	swap      // compare-and-swap and the like: test and use in one
)

// writes reports whether o changes the variable.
func (o op) writes() bool { return o != read }

// lessens reports whether o takes something away from the variable.
func (o op) lessens() bool { return o == remove || o == shrink || o == reset }

// pastVerb returns the verb for o in the past tense.
func (o op) pastVerb() string {
	switch o {
	case read:
		return "used"
	case remove:
		return "removed from"
	case insert:
		return "added to"
	case grow:
		return "raised"
	case shrink:
		return "taken from"
	case reset:
		return "cleared"
	}
	return "set"
}

// event is one access as a function sees it: its own, or one that a call
// leads to.
type event struct {
	name  accesspath.Name
	inMap bool
	path  accesspath.Path // of the variable; no root: of an object that has no name here
	key   *key            // of a map access; nil: none, or any
	op    op
	value ssa.Value // the value that a write stores; nil if that is not known here
	// amount is the number added or taken, where that is known.
	amount ssa.Value
	varies bool // that is not known, but that it is no constant
	made   bool // the value is an object of its own, made where it is stored

	// bound is an index into the result of a read, or an end of a part of it.
	bound ssa.Value

	at    ssa.Instruction // the access, or the call that leads to it
	call  bool
	own   *accesses.Access // where at is the access
	tells []Tell           // results of the call that show the value of a read

	held      []lockset.Held
	aside     []lockset.Held // of these, the locks that make no one step of two accesses
	turns     []lockset.Held // channels that are held as locks
	unknown   bool           // a caller may hold more
	atomic    bool
	rechecked bool        // a write: the callee looks at the variable under the same lock, first or to put it back
	answers   []ssa.Value // a write by a call: results that carry the value that the callee has made, or found there
	// asked and versions are the variables that the callee looks at first, under the same lock: see askedFor
	// and versions of [function].
	asked    []accesspath.Name
	versions []version
	owner    ownership.Level
	side     finding.Access
	depth    int // calls between at and the access
}

// varying reports whether the amount is no constant.
func (e *event) varying() bool {
	_, constant := e.amount.(*ssa.Const)
	return e.varies || e.amount != nil && !constant
}

// key is the key of a map access: a value of the function, or a constant.
type key struct {
	v     ssa.Value
	exact string          // constant
	path  accesspath.Path // of a variable that the callee has captured
}

func keyOfMapEntry(v ssa.Value) *key {
	if v == nil {
		return nil
	}
	if c, ok := v.(*ssa.Const); ok && c.Value != nil {
		return &key{exact: c.Value.ExactString()}
	}
	return &key{v: v}
}

// sameKey reports whether a and b are surely the same key.
func sameKey(a, b *key) bool {
	switch {
	case a == nil || b == nil:
		return false
	case a.exact != "" || b.exact != "":
		return a.exact == b.exact
	case a.v == b.v && a.v != nil:
		return true
	}
	p, q := a.pathOfKey(), b.pathOfKey()
	return p == q && (p.Named() || p.Root != nil && p.Fields == "" && !reassigned(p.Root))
}

// reassigned reports whether v is a local in memory that has several values.
func reassigned(v ssa.Value) bool {
	cell, ok := v.(*ssa.Alloc)
	return ok && len(accesspath.Stored(cell)) != 1
}

func (k *key) pathOfKey() accesspath.Path {
	if k.v == nil {
		return k.path
	}
	return accesspath.Of(k.v)
}

// events lists the accesses of fn, by itself and by its calls, in the order of the blocks; calls that come back
// to fn add nothing.
func (c *checker) events(fn *ssa.Function) []*event {
	if list, ok := c.known[fn]; ok {
		return list
	}
	c.known[fn] = nil
	var list []*event
	for _, a := range c.byFn[fn] {
		list = append(list, c.ownEvent(a))
	}
	if c.callsMatter(fn) {
		c.list.Locks.Walk(fn, func(instr ssa.Instruction, s *lockset.State) {
			if call, ok := instr.(*ssa.Call); ok {
				list = append(list, c.called(fn, call, s)...)
			}
		})
	}
	c.known[fn] = list
	return list
}

// callsMatter leaves out functions that access nothing by their calls.
func (c *checker) callsMatter(fn *ssa.Function) bool {
	for instr := range ir.Instructions(fn) {
		call, ok := instr.(*ssa.Call)
		if !ok {
			continue
		}
		if syncMapOp(call) != "" {
			return true
		}
		for _, s := range c.list.Graph.At(call) {
			if s.Through == nil && len(c.effects(s.Callee)) > 0 {
				return true
			}
		}
	}
	return false
}

func (c *checker) ownEvent(a *accesses.Access) *event {
	e := &event{
		name: a.Name, inMap: a.Map, path: a.Path, key: keyOfMapEntry(a.Index), value: a.Value, at: a.Instr, own: a,
		held: a.Locks.Held(), turns: a.Locks.Turns(), unknown: a.Locks.Unknown,
		atomic: a.Atomic(), owner: a.Owner, side: c.list.Side(a),
	}
	e.op, e.amount, e.bound = operationOf(a), amountOf(a), boundOf(a)
	if call, ok := a.Instr.(*ssa.Call); ok && e.op == remove && len(call.Call.Args) > 1 {
		e.key = keyOfMapEntry(call.Call.Args[1])
	}
	e.op = c.storing(e.op, e.value)
	return e
}

// storing returns the operation o, which stores v, as one that marks or resets, if it is one by the value.
func (c *checker) storing(o op, v ssa.Value) op {
	if o != insert && o != set || c.distinct(v) {
		return o
	}
	constant, ok := v.(*ssa.Const)
	switch {
	case ok && o == set && ir.IsZero(constant):
		return reset
	case ok || v != nil && emptyStruct(v.Type()):
		return mark
	}
	return o
}

func emptyStruct(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	return ok && s.NumFields() == 0
}

// operationOf returns the operation of a.
func operationOf(a *accesses.Access) op {
	switch {
	case !a.Writes():
		return read
	case a.Atomic():
		return atomicOp(a.Instr.(*ssa.Call))
	case a.Update:
		if b, ok := a.Value.(*ssa.BinOp); ok && b.Op == token.SUB {
			return shrink
		}
		return grow
	}
	switch a.Instr.(type) {
	case *ssa.MapUpdate:
		return insert
	case *ssa.Call:
		return remove
	}
	return storeOp(a.Value, a.Path)
}

// amountOf returns the amount that a adds to its variable or takes from it, or nil.
func amountOf(a *accesses.Access) ssa.Value {
	if a.Atomic() {
		call, ok := a.Instr.(*ssa.Call)
		if ok && strings.HasPrefix(call.Call.StaticCallee().Name(), "Add") {
			return stripConversions(call.Call.Args[1])
		}
		return nil
	}
	b, ok := a.Value.(*ssa.BinOp)
	switch {
	case !ok || b.Op != token.ADD && b.Op != token.SUB:
	case a.Update || accesspath.Of(b.X) == a.Path:
		return stripConversions(b.Y)
	case accesspath.Of(b.Y) == a.Path:
		return stripConversions(b.X)
	}
	return nil
}

// boundOf returns the index or end by which the value that a reads is used, or nil.
func boundOf(a *accesses.Access) ssa.Value {
	load, ok := a.Instr.(*ssa.UnOp)
	if !ok {
		return nil
	}
	for _, ref := range *load.Referrers() {
		var v ssa.Value
		switch ref := ref.(type) {
		case *ssa.IndexAddr:
			v = ref.Index
		case *ssa.Slice:
			v = ref.High
		}
		if _, constant := v.(*ssa.Const); v != nil && !constant {
			return v
		}
	}
	return nil
}

// stripConversions leaves out conversions between numbers.
func stripConversions(v ssa.Value) ssa.Value { return ir.Root(v, ir.Converted) }

// storeOp returns the operation of a store of v in the variable at path.
func storeOp(v ssa.Value, path accesspath.Path) op {
	switch v := v.(type) {
	case *ssa.Const:
		if ir.IsZero(v) {
			return reset
		}
		return mark
	case *ssa.Slice:
		if accesspath.Of(v.X) == path {
			return shrink
		}
	case *ssa.BinOp:
		if accesspath.Of(v.X) == path || accesspath.Of(v.Y) == path {
			if v.Op == token.SUB {
				return shrink
			}
			return grow
		}
	case *ssa.Call:
		if b, ok := v.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
			if accesspath.Of(v.Call.Args[0]) == path {
				return grow
			}
			if cut, ok := v.Call.Args[0].(*ssa.Slice); ok && accesspath.Of(cut.X) == path {
				return shrink
			}
		}
	}
	return set
}

func atomicOp(call *ssa.Call) op {
	args := call.Call.Args
	switch name := call.Call.StaticCallee().Name(); {
	case strings.HasPrefix(name, "Add"):
		if answered(call) {
			return swap
		}
		if c, ok := args[1].(*ssa.Const); ok && c.Value != nil && c.Value.Kind() == constant.Int &&
			constant.Sign(c.Value) < 0 {
			return shrink
		}
		return grow
	case strings.HasPrefix(name, "Store"):
		return storeOp(args[1], accesspath.Path{})
	}
	return swap
}

// called lists the events of a call.
func (c *checker) called(fn *ssa.Function, call *ssa.Call, s *lockset.State) []*event {
	if e := c.syncMap(fn, call, s); e != nil {
		return []*event{e}
	}
	var list []*event
	for _, site := range c.list.Graph.At(call) {
		if site.Through != nil || site.Mode != callgraph.Call {
			continue
		}
		for _, eff := range c.effects(site.Callee) {
			if e := c.translate(eff, site, s); e != nil {
				list = append(list, e)
			}
		}
	}
	return list
}
