// Package accesses is the shared pass that lists the accesses of a package to
// fields, package variables and the maps in them: the variable, the mode, the locks
// held, and the owner of the object. The checks are judgements over this list.
//
// Left out: locals, and accesses without an expression in the source, such as composite
// literals. Accesses by copies of structs, to elements and by calls on inner objects are
// listed apart. An embedded pointer that is followed to a promoted field is read.
//
// Cost: linear in the instructions, with a question to ownership for each access. [List.Parallel] looks at the callers
// of the two functions.
package accesses

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// Analyzer lists the accesses of a package.
var Analyzer = &analysis.Analyzer{
	Name:       "interlockaccesses",
	Doc:        "list the accesses to fields, package variables and maps",
	Run:        run,
	Requires:   []*analysis.Analyzer{ir.Analyzer, callgraph.Analyzer, ownership.Analyzer, lockset.Analyzer},
	FactTypes:  []analysis.Fact{new(Touches)},
	ResultType: reflect.TypeFor[*List](),
}

// Access is one access. Loads and stores that one x++ or x += f makes are one
// access, a write.
type Access struct {
	Name   accesspath.Name
	Obj    *types.Var // the field or package variable, of the generic origin
	Map    bool       // the map itself, not the variable that holds it
	Mode   finding.Mode
	Update bool // x++, x += f, m[k]++

	Instr ssa.Instruction
	Fn    *ssa.Function
	Value ssa.Value // the result of a load, or the operand of a store; nil for others
	Index ssa.Value // key of a map access, nil for others
	Addr  ssa.Value // the location; for maps that of the variable that holds it
	Expr  ast.Expr  // as the source has it; nodes start where the access starts
	Path  accesspath.Path
	Locks *lockset.State
	Sharing

	// Implied: it is one of [List.Implied], and Part, Elements and Inner say
	// why: Addr is that of a struct, of which Part (".f") is copied or assigned;
	// it is an access to elements of the slice or array at Addr; a method that
	// touches Inner is called on the object that the field at Addr holds or
	// points to.
	Implied  bool
	Part     string
	Elements bool
	Inner    []Touch

	load  ssa.Instruction // of the map or slice with the contents that are accessed
	place []string        // see location
	root  string          // see rootType
	// beside are the classes of locks without a path here that lie beside the object; see striped.
	beside []string
}

// List is the accesses of a package by function and then by instruction. It
// is read-only once built.
type List struct {
	Prog  *ir.Program
	Graph *callgraph.Graph
	Locks *lockset.Result
	All   []*Access
	// Implied are accesses to shared objects beside All, outside of tests.
	Implied []*Access

	kept    map[*types.Var]bool // fields with an address that some variable holds
	signals map[*ssa.Function]signalling
	met     meetings

	flags     map[*ssa.Function][]*Access // loads of atomics
	published map[groupKey]publication
}

func run(pass *analysis.Pass) (any, error) {
	l := &List{
		Prog:  pass.ResultOf[ir.Analyzer].(*ir.Program),
		Graph: pass.ResultOf[callgraph.Analyzer].(*callgraph.Graph),
		Locks: pass.ResultOf[lockset.Analyzer].(*lockset.Result),
	}
	c := collector{
		list:  l,
		pass:  pass,
		loads: map[ssa.Instruction]*lockset.State{},
		calls: map[ssa.Instruction]*lockset.State{},
		owner: pass.ResultOf[ownership.Analyzer].(*ownership.Result),
	}
	l.Prog.Analyse(pass, func() {
		l.findKept()
		l.findSignals()
		for _, fn := range l.Prog.Funcs {
			c.function(fn)
		}
		c.touches = c.newTouching()
		c.touches.export()
		c.findImplied()
		c.findBeside(slices.Concat(l.All, l.Implied))
		l.findPublished()
	})
	return l, nil
}

type collector struct {
	list    *List
	pass    *analysis.Pass
	owner   *ownership.Result
	touches *touching
	found   []*Access                          // of the current function
	pending []pending                          // outside of tests
	loads   map[ssa.Instruction]*lockset.State // of maps and slices
	calls   map[ssa.Instruction]*lockset.State // of functions, with locks held
}

func (c *collector) function(fn *ssa.Function) {
	c.found = nil
	inTest := c.list.Prog.InTest(fn)
	loads := map[ssa.Instruction]*lockset.State{} // of maps
	c.list.Locks.Walk(fn, func(instr ssa.Instruction, s *lockset.State) {
		if loadsMap(instr) {
			loads[instr] = s
		}
		if _, isCall := instr.(*ssa.Call); isCall && len(s.Held()) > 0 {
			c.calls[instr] = s
		}
		if !inTest {
			c.noteImplied(instr, fn, s)
		}
		a := c.access(instr)
		if a == nil || a.Map && lostLock(loads[a.load], s) {
			return
		}
		a.Obj = object(a.Addr)
		a.Path = accesspath.Of(a.Addr)
		c.finish(a, instr, fn, s)
		a.Private = c.private(a)
		a.onceForMaker = c.isFirst(a)
		c.found = append(c.found, a)
	})
	c.list.All = append(c.list.All, mergeUpdates(c.found)...)
}

// private reports whether no other goroutine can reach the object of a, for certain.
func (c *collector) private(a *Access) bool {
	if a.Map {
		return c.owner.Proven().Held(a.Addr, a.Instr) == ownership.Fresh
	}
	return c.owner.Proven().Of(a.Addr, a.Instr) == ownership.Fresh
}

// finish notes where a, made by instr, stands, and the owner of its object then.
func (c *collector) finish(a *Access, instr ssa.Instruction, fn *ssa.Function, s *lockset.State) {
	a.Instr, a.Fn, a.Locks = instr, fn, s
	a.place, a.root = a.location(), rootType(a.Path)
	a.Sharing = c.sharingOf(a)
}

func object(addr ssa.Value) *types.Var {
	switch addr := addr.(type) {
	case *ssa.FieldAddr:
		return accesspath.FieldOf(addr)
	case *ssa.Global:
		v, _ := addr.Object().(*types.Var)
		return v
	}
	return nil
}

// access recognises an instruction that accesses a variable; else nil.
func (c *collector) access(instr ssa.Instruction) *Access {
	switch instr := instr.(type) {
	case *ssa.UnOp:
		if instr.Op != token.MUL || feedsMapAccess(instr) {
			return nil
		}
		return cmp.Or(c.addPlace(instr.X, instr.Pos(), finding.Read, instr), c.addPromoted(instr))
	case *ssa.Store:
		return c.addPlace(instr.Addr, instr.Pos(), finding.Write, instr.Val)
	case *ssa.MapUpdate:
		return c.mapAccess(instr.Map, instr.Key, instr.Pos(), finding.Write, instr.Value)
	case *ssa.Lookup:
		return c.mapAccess(instr.X, instr.Index, instr.Pos(), finding.Read, instr)
	case *ssa.Range:
		return c.mapAccess(instr.X, nil, instr.Pos(), finding.Read, nil)
	case *ssa.Call:
		return c.addCall(instr)
	}
	return nil
}

// addPlace is an access to a field or package variable at addr.
func (c *collector) addPlace(addr ssa.Value, pos token.Pos, mode finding.Mode, value ssa.Value) *Access {
	switch addr.(type) {
	case *ssa.FieldAddr, *ssa.Global:
	default: // elements of arrays may each have a lock of their own
		return nil
	}
	name, ok := accesspath.NameOf(addr)
	if !ok {
		return nil
	}
	expr, ok := c.list.Prog.Node(pos).(ast.Expr)
	if !ok {
		return nil
	}
	return &Access{Name: name, Mode: mode, Addr: addr, Expr: expr, Value: value}
}

// addPromoted is an access to an embedded pointer on the way to a promoted field or method.
func (c *collector) addPromoted(load *ssa.UnOp) *Access {
	addr, ok := load.X.(*ssa.FieldAddr)
	if !ok || load.Pos().IsValid() {
		return nil
	}
	name, known := accesspath.NameOf(addr)
	expr := c.list.Prog.Promoted(addr)
	if !known || expr == nil || !accesspath.FieldOf(addr).Embedded() {
		return nil
	}
	return &Access{Name: name, Mode: finding.Read, Addr: addr, Expr: expr, Value: load}
}

func (c *collector) mapAccess(m, key ssa.Value, pos token.Pos, mode finding.Mode, value ssa.Value) *Access {
	if _, isMap := m.Type().Underlying().(*types.Map); !isMap {
		return nil
	}
	load, ok := m.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return nil
	}
	name, ok := accesspath.NameOf(load.X)
	if !ok {
		return nil
	}
	a := &Access{load: load, Name: name, Map: true, Mode: mode, Addr: load.X, Value: value, Index: key}
	switch node := c.list.Prog.Node(pos).(type) {
	case *ast.IndexExpr:
		a.Expr = node
	case *ast.RangeStmt:
		a.Expr = ast.Unparen(node.X)
	case *ast.CallExpr:
		a.Expr = ast.Unparen(node.Args[0])
	default:
		return nil
	}
	return a
}

// lostLock reports whether a lock that was held when a map was loaded is not
// held when it is accessed. That map may have been swapped out, and be ours
// alone; whether that is a fault is another question than this list answers.
func lostLock(loaded, now *lockset.State) bool {
	if loaded == nil {
		return false
	}
	for _, h := range loaded.Held() {
		if again, ok := now.Has(h.Path); !ok || again.Since != h.Since {
			return true
		}
	}
	return false
}

func loadsMap(instr ssa.Instruction) bool {
	load, ok := instr.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return false
	}
	_, isMap := load.Type().Underlying().(*types.Map)
	return isMap
}

// feedsMapAccess reports whether a map variable is only read to get at the map,
// which is no access of its own; that of the map is one.
func feedsMapAccess(instr ssa.Instruction) bool {
	if !loadsMap(instr) {
		return false
	}
	load := instr.(*ssa.UnOp)
	if len(*load.Referrers()) == 0 {
		return false
	}
	for _, ref := range *load.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Lookup, *ssa.MapUpdate, *ssa.Range:
		case *ssa.Call:
			if !removesFromMap(ref) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func removesFromMap(call *ssa.Call) bool {
	b, ok := call.Call.Value.(*ssa.Builtin)
	return ok && (b.Name() == "delete" || b.Name() == "clear")
}

// addCall recognises delete, clear, and the operations of sync/atomic.
func (c *collector) addCall(call *ssa.Call) *Access {
	if removesFromMap(call) {
		return c.mapAccess(call.Call.Args[0], nil, call.Pos(), finding.Write, nil)
	}
	o, ok := order.Find(call, order.Atomics)
	if !ok {
		return nil
	}
	addr := o.On
	mode, value := atomicMode(o, call)
	switch addr.(type) {
	case *ssa.UnOp, *ssa.IndexAddr: // the pointee of the variable, not the variable; elements are implied
		return nil
	}
	name, ok := accesspath.NameOf(addr)
	if !ok {
		return nil
	}
	expr, ok := c.list.Prog.Node(addr.Pos()).(ast.Expr)
	if node, isCall := c.list.Prog.Node(call.Pos()).(*ast.CallExpr); !ok && isCall {
		expr, ok = node.Fun, true
	}
	if !ok {
		return nil
	}
	return &Access{Name: name, Mode: mode, Addr: addr, Expr: expr, Value: value}
}

// atomicMode returns the mode of the operation o of sync/atomic, and the value that it loads or stores.
func atomicMode(o order.Op, call *ssa.Call) (finding.Mode, ssa.Value) {
	if o.Kind == order.Load {
		return finding.AtomicRead, call
	}
	return finding.AtomicWrite, o.With
}

// mergeUpdates makes one access of the load and the store of one expression.
func mergeUpdates(found []*Access) []*Access {
	type target struct {
		expr  ast.Expr
		name  accesspath.Name
		isMap bool
	}
	stores := map[target]*Access{}
	for _, a := range found {
		if a.Mode == finding.Write {
			stores[target{a.Expr, a.Name, a.Map}] = a
		}
	}
	return slices.DeleteFunc(found, func(a *Access) bool {
		st := stores[target{a.Expr, a.Name, a.Map}]
		if st == nil || a.Mode != finding.Read {
			return false
		}
		st.Update = true
		return true
	})
}

// Counts reports whether the access says something about the program: it is
// not in a test, and not made while the package is initialised or by a
// sync.Once, nor in a function that is marked go:norace. A Once under a lock, or one that ends an object's service,
// is no set-up.
func (l *List) Counts(a *Access) bool {
	return !l.Prog.InTest(a.Fn) && !l.Prog.NoRace(a.Fn) && !l.Graph.Roles(a.Fn).OnlyInit() &&
		(!l.Graph.Once(a.Fn) || a.Exclusive() || knowledge.TakesDown(ir.Outermost(a.Fn).Name()))
}
