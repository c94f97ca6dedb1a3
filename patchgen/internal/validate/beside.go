package validate

import (
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// A race that a run has shown proves more than itself: the functions of its two sides ran at the same time, with one
// object. What they do to other fields of that object without a common lock is a race as well, if nothing that orders
// goroutines lies between it and the access that was raced for. A patch of the one variable must not leave it.
//
//	if d.conn == "" {	// raced for: two goroutines run Conn at once, with one d
//		c, err := d.dial()
//		if err != nil {
//			d.fails++	// a race that no run need have shown

// Raced is the two sides of a race that a run has shown: each the place of the access, and then those of the calls that
// led there.
type Raced [2][]finding.Position

// Neighbor is a variable beside that of a claim, for which the same goroutines race.
type Neighbor struct {
	Variable Variable
	places   []meeting
}

// meeting is two sets of functions that run at the same time, with one object.
type meeting [2][]frame

// frame is a function of one side of a race, with its name for the object, as both outlive a patch.
type frame struct{ pkg, function, object string }

// Neighbors returns the variables of the same object, or package, that the goroutines of the races also race for, in
// the original. Each has the name by which a patch may protect it.
func (v *Validator) Neighbors(of Variable, raced []Raced) []Neighbor {
	s := newSide(v.original, Claim{Variable: of})
	var list []Neighbor
	for _, r := range raced {
		var m meeting
		var sides [2][]beside
		for i, places := range r {
			for _, a := range s.anchors(places) {
				m[i] = append(m[i], frame{s.Of(a.fn).Path, a.fn.String(), a.object.String()})
				object := func(p accesspath.Path) bool { return p == a.object }
				near := a.around()
				sides[i] = append(sides[i], slices.DeleteFunc(s.besides(a.fn, object, nil, nil, 0),
					func(x beside) bool { return !near[x.at] })...)
			}
		}
		for _, x := range conflicts(sides) {
			n := Variable{Package: x.name.Package, Type: x.name.Type, Name: x.name.Field}
			i := slices.IndexFunc(list, func(known Neighbor) bool { return known.Variable == n })
			if i < 0 {
				i, list = len(list), append(list, Neighbor{Variable: n})
			}
			list[i].places = append(list[i].places, m)
		}
	}
	return list
}

// noRaceBeside demands that the patch leaves no race for a neighbor of the variable.
func (j *judge) noRaceBeside() {
	s := j.now
	for _, n := range s.claim.Neighbors {
		for _, m := range n.places {
			var sides [2][]beside
			for i, frames := range m {
				for _, f := range frames {
					if fn := s.functionOf(f); fn != nil {
						object := func(p accesspath.Path) bool { return p.Root != nil && p.String() == f.object }
						sides[i] = append(sides[i], s.besides(fn, object, nil, nil, 0)...)
					}
				}
			}
			for _, x := range conflicts(sides) {
				if (Variable{Package: x.name.Package, Type: x.name.Type, Name: x.name.Field}) == n.Variable {
					j.doubt(place{s.Of(x.fn), x.instr}, finding.Heavy, "beside", "",
						"%s would still be raced for at %s: runs have shown that two goroutines are there at once", n.Variable,
						at(s.Of(x.fn), x.instr))
					break
				}
			}
		}
	}
}

// functionOf returns the function of a frame.
func (s *side) functionOf(f frame) *ssa.Function {
	p := s.Package(f.pkg)
	if p == nil {
		return nil
	}
	i := slices.IndexFunc(p.IR.Funcs, func(fn *ssa.Function) bool { return fn.String() == f.function })
	if i < 0 {
		return nil
	}
	return p.IR.Funcs[i]
}

// anchor is an instruction of a function that ran at the same time as those of the other side: the access, or the call
// that led there.
type anchor struct {
	fn     *ssa.Function
	at     ssa.Instruction
	object accesspath.Path // whose field was raced for; the zero path stands for the package
}

// anchors returns the functions of one side, as far as they have the object by a name, tests left out.
func (s *side) anchors(places []finding.Position) (list []anchor) {
	for i, place := range places {
		var found *anchor
		for _, p := range s.Packages {
			isVariable := s.isVariable(p)
			for _, fn := range p.IR.Funcs {
				if found != nil || p.IR.InTest(fn) || p.IR.InTestFile(fn) || !isAround(p, fn, place) {
					continue
				}
				for instr := range ir.Instructions(fn) {
					if found != nil || !isAt(p, instr, place) {
						continue
					}
					object, ok := s.objectAt(instr, isVariable, list, i)
					if ok {
						found = &anchor{fn, instr, object}
					}
				}
			}
		}
		if found == nil {
			break
		}
		list = append(list, *found)
	}
	return list
}

// objectAt returns the object of the variable that instr accesses or, for a caller, that it hands to the function that
// was found before.
func (s *side) objectAt(instr ssa.Instruction, isVariable func(ssa.Value) bool, list []anchor, i int) (
	object accesspath.Path, ok bool) {
	if i == 0 {
		for _, op := range instr.Operands(nil) {
			for _, o := range (tracer{isVariable}).origins(*op) {
				return s.objectOf(o.root), true
			}
		}
		return accesspath.Path{}, false
	}
	call, isCall := instr.(*ssa.Call)
	if !isCall {
		return accesspath.Path{}, false
	}
	inner := list[i-1]
	fn, args := callgraph.Target(call.Common())
	if fn == nil || ir.Origin(fn) != ir.Origin(inner.fn) {
		return accesspath.Path{}, false
	}
	n := inner.object.Param(inner.fn)
	if n < 0 {
		_, isGlobal := inner.object.Global()
		return inner.object, isGlobal || inner.object.Root == nil
	}
	if n >= len(args) || inner.object.Fields != "" {
		return accesspath.Path{}, false
	}
	return accesspath.Of(args[n]), true
}

// isAround reports whether a place is in the source of fn.
func isAround(p *session.Package, fn *ssa.Function, place finding.Position) bool {
	syntax := fn.Syntax()
	if syntax == nil {
		return false
	}
	from, to := p.Fset.PositionFor(syntax.Pos(), false), p.Fset.PositionFor(syntax.End(), false)
	return from.Line <= place.Line && place.Line <= to.Line &&
		strings.HasSuffix(filepath.ToSlash(from.Filename), "/"+place.File)
}

// isAt reports whether an instruction stands in the line of a place in its function.
func isAt(p *session.Package, instr ssa.Instruction, place finding.Position) bool {
	return instr.Pos().IsValid() && p.Fset.PositionFor(instr.Pos(), false).Line == place.Line
}

// objectOf returns the object that a field belongs to, structs in it that are held by value included; the zero path for
// package variables.
func (s *side) objectOf(addr ssa.Value) accesspath.Path {
	f, ok := addr.(*ssa.FieldAddr)
	if !ok || s.claim.Variable.Type == "" {
		return accesspath.Path{}
	}
	root := f.X
	for next := holder(root); next != nil; next = holder(root) {
		root = next
	}
	return accesspath.Of(root)
}

// holder returns the address of what holds, by value, the field or the element of an array at addr; nil for others. Of
// elements only those count whose index is a constant: each goroutine may have one of its own.
func holder(addr ssa.Value) ssa.Value {
	switch addr := addr.(type) {
	case *ssa.FieldAddr:
		return addr.X
	case *ssa.IndexAddr:
		_, isConst := addr.Index.(*ssa.Const)
		if _, isArray := addr.X.Type().Underlying().(*types.Pointer); isArray && isConst {
			return addr.X
		}
	}
	return nil
}

// beside is an access to another variable of the object.
type beside struct {
	fn    *ssa.Function
	name  accesspath.Name
	path  string // within the object
	write bool
	instr ssa.Instruction
	at    ssa.Instruction // where the anchor's function makes it, perhaps by a call
	locks []lockset.Held
	once  bool // only the goroutine that has found the variable of the claim unset comes there
}

// isObject reports whether a path leads to the object.
type isObject func(accesspath.Path) bool

// Bound on calls that are followed.
const maxBesideDepth = 3

// besides lists the accesses of a function, and of those that it calls, to other variables of the object.
func (s *side) besides(fn *ssa.Function, object isObject, held []lockset.Held, via ssa.Instruction,
	depth int) (list []beside) {
	won, flow := s.elections(fn), s.Of(fn).IR.Flow(fn)
	s.Of(fn).Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) {
		locks, where := slices.Concat(held, st.Held()), via
		if where == nil {
			where = instr
		}
		// An access through a call is made where the anchor's function makes the call.
		isWon := slices.ContainsFunc(won, func(w ssa.Instruction) bool { return w == instr || flow.Precedes(w, instr) })
		add := func(addr ssa.Value, write bool) {
			x := beside{fn: fn, write: write, instr: instr, at: where, locks: locks, once: isWon}
			if s.isBeside(addr, instr, object, &x) {
				list = append(list, x)
			}
		}
		switch instr := instr.(type) {
		case *ssa.UnOp:
			if instr.Op == token.MUL {
				add(instr.X, false)
			}
		case *ssa.Store:
			add(instr.Addr, true)
		case *ssa.MapUpdate:
			add(ir.Back(instr.Map, ir.Loaded), true)
		case *ssa.Lookup:
			add(ir.Back(instr.X, ir.Loaded), false)
		case *ssa.Range:
			add(ir.Back(instr.X, ir.Loaded), false)
		case *ssa.Call, *ssa.Defer:
			call := instr.(ssa.CallInstruction)
			if name := callee(call); name == "delete" || name == "clear" {
				add(ir.Back(call.Common().Args[0], ir.Loaded), true)
				return
			}
			if depth >= maxBesideDepth {
				return
			}
			inner, is := s.enters(call, object)
			if inner == nil {
				return
			}
			for _, runs := range whenRun(instr, where) {
				for _, x := range s.besides(inner, is, locks, runs, depth+1) {
					x.once = x.once || isWon
					list = append(list, x)
				}
			}
		}
	})
	return list
}

// whenRun returns where a call runs that the anchor's function makes, or another one for it: a deferred one where the
// function returns.
func whenRun(call, where ssa.Instruction) (list []ssa.Instruction) {
	if _, isDefer := call.(*ssa.Defer); !isDefer || where != call {
		return []ssa.Instruction{where}
	}
	for instr := range ir.Instructions(call.Parent()) {
		if _, ok := instr.(*ssa.RunDefers); ok {
			list = append(list, instr)
		}
	}
	return list
}

// enters returns the function of the module that a call runs with the object, and what is the object there.
func (s *side) enters(call ssa.CallInstruction, object isObject) (inner *ssa.Function, is isObject) {
	fn, args := callgraph.Target(call.Common())
	inner = s.Calls.Body(fn) // a literal has the names of the function around it
	if inner == nil || s.Of(inner).IR.InTest(inner) {
		return nil, nil
	}
	var params []accesspath.Path
	for i, arg := range args {
		if i < len(inner.Params) && object(accesspath.Of(arg)) {
			params = append(params, accesspath.Of(inner.Params[i]))
		}
	}
	isOuter := inner.Parent() != nil || s.claim.Variable.Type == ""
	if len(params) == 0 && !isOuter {
		return nil, nil
	}
	return inner, func(p accesspath.Path) bool { return slices.Contains(params, p) || isOuter && object(p) }
}

// isBeside reports whether addr is that of another variable of the object than the claim's, which others can reach; and
// names it in x.
func (s *side) isBeside(addr ssa.Value, instr ssa.Instruction, object isObject, x *beside) bool {
	if addr == nil {
		return false
	}
	p := s.Of(instr.Parent())
	isVariable := s.isVariable(p)
	root := addr
	for next := holder(root); next != nil; next = holder(root) {
		if isVariable(root) {
			return false
		}
		root = next
	}
	global, isGlobal := root.(*ssa.Global)
	switch {
	case s.claim.Variable.Type == "":
		if !isGlobal || isVariable(global) || global.Pkg.Pkg.Path() != s.claim.Variable.Package {
			return false
		}
	case root == addr || !object(accesspath.Of(root)):
		return false
	}
	name, ok := accesspath.NameOf(addr)
	x.name, x.path = name, accesspath.Of(addr).Fields
	u := use{touch: touch{origin: origin{root: addr}}, base: baseOf(addr), pkg: p, fn: instr.Parent(), instr: instr}
	return ok && !p.Calls.Roles(u.fn).OnlyInit() &&
		(u.base == nil || p.Owners.Proven().Of(u.base, instr) != ownership.Fresh)
}

// conflicts lists the accesses, one of each pair, that two goroutines make to one variable without a common lock.
func conflicts(sides [2][]beside) (list []beside) {
	for _, x := range sides[0] {
		for _, y := range sides[1] {
			if x.name != y.name || !x.write && !y.write || x.once && y.once || haveCommonLock(x.locks, y.locks) {
				continue
			}
			write := x
			if !x.write {
				write = y
			}
			if !slices.ContainsFunc(list, func(known beside) bool { return known.instr == write.instr }) {
				list = append(list, write)
			}
		}
	}
	return list
}

// haveCommonLock reports whether both hold a lock of one class, and one of them for writing.
func haveCommonLock(a, b []lockset.Held) bool {
	return slices.ContainsFunc(a, func(h lockset.Held) bool {
		return slices.ContainsFunc(b, func(g lockset.Held) bool {
			return h.Class == g.Class && (h.Class != "" || h.Path == g.Path) && !(h.Read && g.Read)
		})
	})
}

// elections returns the instructions behind which only one goroutine comes: where it has found the variable of the
// claim unset, and set it in the same region under the lock, or by a CompareAndSwap; if no other function sets it.
//
//	if s.started { return }
//	s.started = true
func (s *side) elections(fn *ssa.Function) (list []ssa.Instruction) {
	if s.claim.Lock == "" && s.claim.Kind != Atomic || s.isSetBeside(fn) {
		return nil
	}
	// Tests and stores under the lock; a CompareAndSwap is both.
	p := s.Of(fn)
	t := tracer{s.isVariable(p)}
	var reads, writes []part
	p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) {
		if call, ok := instr.(*ssa.Call); ok && isAtomicOn(call, t) {
			list = append(list, wonBehind(call)...)
			return
		}
		x, ok := s.partOf(p, instr, nil)
		if x.region = s.regionOf(st); !ok || !x.own || x.region == nil {
			return
		}
		if x.write {
			writes = append(writes, x)
		} else if x.value != nil {
			reads = append(reads, x)
		}
	})
	for _, w := range writes {
		for _, r := range reads {
			d := facts.Decided(r.value)
			if r.region == w.region && r.base == w.base && d.Controls(w.instr.Block()) && !d.Feeds(w.instr) {
				list = append(list, w.instr)
			}
		}
	}
	return list
}

// isSetBeside reports whether another function than fn sets the variable of the claim: back to what it was, perhaps.
func (s *side) isSetBeside(fn *ssa.Function) bool {
	for _, u := range s.uses() {
		if u.write && ir.Outermost(u.fn) != ir.Outermost(fn) {
			return true
		}
	}
	for _, p := range s.packages() {
		t := tracer{s.isVariable(p)}
		for _, other := range p.IR.Funcs {
			for instr := range ir.Instructions(other) {
				call, ok := instr.(*ssa.Call)
				if ok && ir.Outermost(other) != ir.Outermost(fn) && isAtomicOn(call, t) &&
					!strings.HasPrefix(call.Call.StaticCallee().Name(), "Load") {
					return true
				}
			}
		}
	}
	return false
}

// wonBehind returns where control comes if a CompareAndSwap has swapped.
func wonBehind(call *ssa.Call) (list []ssa.Instruction) {
	if !strings.HasPrefix(call.Call.StaticCallee().Name(), "CompareAndSwap") {
		return nil
	}
	add := func(v ssa.Value, way int) {
		for _, ref := range *v.Referrers() {
			if branch, ok := ref.(*ssa.If); ok && len(branch.Block().Succs[way].Preds) == 1 {
				list = append(list, branch.Block().Succs[way].Instrs[0])
			}
		}
	}
	add(call, 0)
	for _, ref := range *call.Referrers() {
		if not, ok := ref.(*ssa.UnOp); ok && not.Op == token.NOT {
			add(not, 1)
		}
	}
	return list
}

// around returns the instructions of the anchor's function between which and the anchor, or between these two and where
// the ways to them part, nothing orders goroutines: what is so for the one is so for the others.
func (a anchor) around() map[ssa.Instruction]bool {
	found := map[ssa.Instruction]bool{}
	// All that follows a start without a wait in between.
	passed := map[*ssa.BasicBlock]bool{}
	var ahead func(b *ssa.BasicBlock, i int)
	ahead = func(b *ssa.BasicBlock, i int) {
		for _, instr := range b.Instrs[i:] {
			if orders(instr) {
				return
			}
			found[instr] = true
		}
		for _, next := range b.Succs {
			if !passed[next] {
				passed[next] = true
				ahead(next, 0)
			}
		}
	}
	// The starts are where control comes from to the anchor: from a wait, or the entry.
	seen := map[*ssa.BasicBlock]bool{}
	var back func(b *ssa.BasicBlock, n int)
	back = func(b *ssa.BasicBlock, n int) {
		for i := n; i > 0; i-- {
			if orders(b.Instrs[i-1]) {
				ahead(b, i)
				return
			}
		}
		if len(b.Preds) == 0 {
			ahead(b, 0)
		}
		for _, before := range b.Preds {
			if !seen[before] {
				seen[before] = true
				back(before, len(before.Instrs))
			}
		}
	}
	b := a.at.Block()
	at := slices.Index(b.Instrs, a.at)
	back(b, at)
	ahead(b, at)
	found[a.at] = true
	return found
}

// ordering are the operations that order goroutines. A lock orders them in one of two ways, an atomic where a branch
// decides.
const ordering = order.Start | order.Send | order.Receive | order.Close | order.Done | order.Wait | order.Join |
	order.Once | order.Await

// orders reports whether an instruction may order goroutines, itself or in the function that it calls.
func orders(instr ssa.Instruction) bool {
	if _, deferred := instr.(*ssa.Defer); deferred || order.May(instr, ordering) {
		return !deferred
	}
	call, ok := instr.(*ssa.Call)
	if !ok {
		_, isSelect := instr.(*ssa.Select)
		return isSelect
	}
	fn, _ := callgraph.Target(call.Common())
	return fn != nil && slices.ContainsFunc(fn.Blocks, func(b *ssa.BasicBlock) bool {
		return slices.ContainsFunc(b.Instrs, func(inner ssa.Instruction) bool {
			_, isCall := inner.(*ssa.Call)
			return !isCall && orders(inner)
		})
	})
}
