package lockset

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Acquire is a lock that an instruction may block on, directly or in callees.
type Acquire struct {
	// Path names the lock in terms of the function at hand; zero if it has
	// no name there.
	Path  accesspath.Path
	Class string
	Read  bool
	// Freed lists the classes of locks that were released on the way, for
	// a caller that had taken them before.
	Freed []string
	// Where is the place that takes the lock: "(*T).M at file.go:12"; empty if the
	// instruction at hand does.
	Where string
	// Depends means that a parameter decides whether the lock is taken: one
	// that reports whether the caller holds it, for all that is known.
	Depends bool

	imported bool // then Path has no root, but a parameter
	param    int  // -1 for none
}

// Taken is an [Acquire] in a fact.
type Taken struct {
	Param  int    // parameter that the lock is reached from, or -1
	Fields string // ".mu"
	Class  string
	Read   bool
	Freed  []string
	Where  string
	// Depends is that of Acquire.
	Depends bool
}

// point is a call that may take locks, with the locks that the function has
// taken itself before it.
type point struct {
	call    ssa.CallInstruction
	state   *State
	op      op // its own operation on a lock
	targets []target
	calls   string // class of the call through an interface that it is, or empty
	told    bool   // sumTakes has noted the locks that op takes, or calls
}

// target is a function that a call runs before it returns.
type target struct {
	fn      *ssa.Function
	args    []ssa.Value // nil for a callback
	through bool        // a callback that the callee runs
	told    int         // how many locks of takenBy(fn) sumTakes has told
}

// findPoints lists the calls of each function that may take locks.
func (r *Result) findPoints() {
	for _, fn := range r.prog.Funcs {
		own := r.local[fn]
		if own == nil {
			continue // no body
		}
		f := &flow{r: r, onCall: func(call ssa.CallInstruction, s *State) {
			if _, isGo := call.(*ssa.Go); isGo {
				return
			}
			p := point{call: call, state: s}
			if o, ok := r.callOp(call); ok && !r.wrapsLock(call) {
				p.op = o
			} else if p.targets = r.targets(fn, call); len(p.targets) == 0 {
				if p.calls = r.dispatched(call); p.calls == "" {
					return
				}
			}
			r.points[fn] = append(r.points[fn], p)
		}}
		f.quiet, f.in = own.quiet, own.in
		f.walkBlocks(fn, nil)
	}
}

// wrapsLock reports whether call runs a method with a body that is known to change locks,
// so that the call is no lock operation itself.
func (r *Result) wrapsLock(call ssa.CallInstruction) bool {
	fn, _ := callgraph.Target(call.Common())
	return fn != nil && len(r.effects(fn)) > 0
}

// targets lists the functions that call may run: the one it names, those
// behind an interface as far as they are known, callbacks that it hands over.
func (r *Result) targets(fn *ssa.Function, call ssa.CallInstruction) []target {
	var list []target
	common := call.Common()
	if callee, args := callgraph.Target(common); callee != nil {
		list = append(list, target{fn: callee, args: args})
	} else if method := r.concrete(common); method != nil {
		list = append(list, target{fn: method, args: append([]ssa.Value{common.Value}, common.Args...)})
	}
	for _, s := range r.graph.At(call) {
		if s.Caller != fn || s.Mode == callgraph.Go ||
			slices.ContainsFunc(list, func(t target) bool { return t.fn == s.Callee }) {
			continue
		}
		list = append(list, target{fn: s.Callee, args: s.Args, through: s.Through != nil})
	}
	return list
}

// concrete returns the method behind a call through an interface, if its value
// was made from a known type in the same function.
func (r *Result) concrete(common *ssa.CallCommon) *ssa.Function {
	if !common.IsInvoke() {
		return nil
	}
	root := accesspath.Of(common.Value)
	if root.Root == nil || root.Fields != "" {
		return nil
	}
	if _, isInterface := root.Root.Type().Underlying().(*types.Interface); isInterface {
		return nil
	}
	sel := types.NewMethodSet(root.Root.Type()).Lookup(common.Method.Pkg(), common.Method.Name())
	if sel == nil || len(sel.Index()) != 1 {
		return nil
	}
	return r.prog.Pkg.Prog.FuncValue(sel.Obj().(*types.Func).Origin())
}

// sumTakes computes takes for all functions to a fixed point.
func (r *Result) sumTakes() {
	r.findPoints()
	for changed := true; changed; {
		changed = false
		for _, fn := range r.graph.CalleesFirst() {
			for i := range r.points[fn] {
				p := &r.points[fn][i]
				for _, a := range r.untold(p) {
					changed = r.addTaken(fn, a, p) || changed
				}
			}
		}
	}
}

// untold lists the locks that point p may block on, in terms of its function,
// except those that an earlier call has noted: the set of taken locks only grows.
func (r *Result) untold(p *point) []Acquire {
	switch p.op.kind {
	case lock, rlock:
		if p.op.path.Root == nil || p.told {
			return nil
		}
		p.told = true
		return []Acquire{{Path: p.op.path, Class: p.op.class, Read: p.op.kind == rlock}}
	case 0:
	default:
		return nil
	}
	if p.calls != "" && !p.told {
		p.told = true
		return []Acquire{{Class: p.calls}}
	}
	var list []Acquire
	for i := range p.targets {
		t := &p.targets[i]
		taken := r.takenBy(t.fn)
		for _, a := range taken[t.told:] {
			list = append(list, a.inCaller(*t))
		}
		t.told = len(taken)
	}
	return list
}

// locksTaken lists all locks that point p may block on, in terms of its function.
func (r *Result) locksTaken(p point) []Acquire {
	p.told, p.targets = false, slices.Clone(p.targets)
	for i := range p.targets {
		p.targets[i].told = 0
	}
	return r.untold(&p)
}

func (r *Result) takenBy(fn *ssa.Function) []Acquire {
	if len(fn.Blocks) > 0 {
		return r.takes[fn]
	}
	r.foreign.mu.Lock()
	defer r.foreign.mu.Unlock()
	list, ok := r.foreign.takes[fn]
	if ok {
		return list
	}
	var fact Effects
	if obj, ok := fn.Object().(*types.Func); ok && r.pass.ImportObjectFact(obj, &fact) {
		for _, t := range fact.Takes {
			list = append(list, Acquire{
				Path: accesspath.Path{Fields: t.Fields}, Class: t.Class, Read: t.Read, Freed: t.Freed, Where: t.Where,
				Depends:  t.Depends,
				imported: true, param: t.Param,
			})
		}
	}
	r.foreign.takes[fn] = list
	return list
}

// inCaller returns a, a lock that t takes, in terms of the caller.
func (a Acquire) inCaller(t target) Acquire {
	i := -1
	switch {
	case a.Path.Root != nil:
		if i = a.Path.Param(t.fn); i < 0 {
			return a // a package variable, or captured
		}
	case a.imported:
		i = a.param
	}
	fields := a.Path.Fields
	a.Path, a.imported, a.param = accesspath.Path{}, false, 0
	if i >= 0 && i < len(t.args) {
		a.Path = accesspath.Of(t.args[i]).Plus(fields)
	}
	return a
}

// addTaken adds a to the locks that fn takes, if callers should know of it.
func (r *Result) addTaken(fn *ssa.Function, a Acquire, p *point) bool {
	a.Depends = a.Depends || byParameter(p.call)
	if p.op.kind != 0 || p.calls != "" {
		a.Where = r.prog.FuncName(fn) + " at " + r.fileAndLine(p.call.Pos())
	}
	if a.Path.Root != nil && p.state.locks[a.Path].status == released {
		return false // released before for the caller, which takes it back so
	}
	if a.Path.Root != nil && (!visible(a.Path, fn) || strings.Count(a.Path.Fields, ".") > knowledge.FieldsOfPath ||
		r.reassigned(fn, a.Path)) {
		a.Path = accesspath.Path{}
	}
	if a.Class == "" && a.Path.Root == nil {
		return false
	}
	a.Freed = unionSorted(a.Freed, p.state.freedClasses())
	variants, calls := 0, 0
	for _, b := range r.takes[fn] {
		if IsDispatch(b.Class) {
			calls++
		}
		if b.Path == a.Path && b.Class == a.Class && b.Read == a.Read && b.Depends == a.Depends {
			if variants++; variants == knowledge.AcquisitionVariants || subset(b.Freed, a.Freed) {
				return false
			}
		}
	}
	if IsDispatch(a.Class) && calls >= knowledge.DispatchesOfCallee {
		return false
	}
	r.takes[fn] = append(r.takes[fn], a)
	return true
}

// freedClasses lists the classes of locks that were released for the caller.
func (s *State) freedClasses() []string {
	var classes []string
	for _, h := range s.locks {
		if (h.status == released || h.status == unsure) && h.class != "" {
			classes = unionSorted(classes, []string{h.class})
		}
	}
	return classes
}

func unionSorted(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(x string) bool { return !slices.Contains(b, x) })
}

// reassigned reports whether fn assigns a pointer on the way to the lock at p.
func (r *Result) reassigned(fn *ssa.Function, p accesspath.Path) bool {
	if strings.Count(p.Fields, ".") < 2 {
		return false
	}
	for instr := range ir.Instructions(fn) {
		if st, ok := instr.(*ssa.Store); ok {
			if _, under := p.Under(accesspath.Of(st.Addr)); under {
				return true
			}
		}
	}
	return false
}

// byParameter reports whether a parameter decides whether call runs.
func byParameter(call ssa.CallInstruction) bool {
	b := call.Block()
	for d := b.Idom(); d != nil; d = d.Idom() {
		cond, ok := d.Instrs[len(d.Instrs)-1].(*ssa.If)
		if !ok || !fromParameter(cond.Cond) {
			continue
		}
		for _, s := range d.Succs {
			if len(s.Preds) == 1 && s.Dominates(b) {
				return true
			}
		}
	}
	return false
}

func fromParameter(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Parameter:
		return true
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return isOption(accesspath.Of(v).Root)
		}
		return v.Op == token.NOT && fromParameter(v.X)
	case *ssa.BinOp:
		_, isConst := v.Y.(*ssa.Const)
		_, isParam := v.X.(*ssa.Parameter)
		return isConst && isParam
	}
	return false
}

// isOption reports whether v is a parameter, but not the receiver, or the local variable with its value.
func isOption(v ssa.Value) bool {
	if local, ok := v.(*ssa.Alloc); ok {
		for _, use := range *local.Referrers() {
			if store, ok := use.(*ssa.Store); ok && store.Addr == local {
				return isOption(store.Val)
			}
		}
	}
	p, ok := v.(*ssa.Parameter)
	return ok && (p.Parent().Signature.Recv() == nil || p != p.Parent().Params[0])
}

func (r *Result) fileAndLine(pos token.Pos) string {
	p := ir.Position(r.prog.Fset(), pos)
	return fmt.Sprintf("%s:%d", filepath.Base(p.Filename), p.Line)
}

// exported returns the locks that fn takes, in the form of a fact.
func exported(list []Acquire, fn *ssa.Function) []Taken {
	var taken []Taken
	for _, a := range list {
		if a.Class == "" {
			continue
		}
		t := Taken{Param: a.Path.Param(fn), Class: a.Class, Read: a.Read, Freed: a.Freed, Where: a.Where, Depends: a.Depends}
		if t.Param >= 0 {
			t.Fields = a.Path.Fields
		}
		taken = append(taken, t)
	}
	slices.SortFunc(taken, func(a, b Taken) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Param, b.Param), cmp.Compare(a.Fields, b.Fields),
			cmp.Compare(a.Where, b.Where))
	})
	return taken
}

// Takes lists the classes of locks that a call of fn may acquire, callees
// included, in ascending order.
func (r *Result) Takes(fn *ssa.Function) []string {
	var classes []string
	for _, a := range r.takes[fn] {
		if a.Class != "" && !IsDispatch(a.Class) {
			classes = append(classes, a.Class)
		}
	}
	slices.Sort(classes)
	return slices.Compact(classes)
}

// Blocks reports whether call, in fn, may wait for a lock of the class.
func (r *Result) Blocks(fn *ssa.Function, call ssa.CallInstruction, class string) bool {
	for _, p := range r.points[fn] {
		takes := func(a Acquire) bool { return a.Class == class && !a.Depends }
		if p.call == call && slices.ContainsFunc(r.locksTaken(p), takes) {
			return true
		}
	}
	return false
}

// Nesting is a lock that may be waited for while others are held.
type Nesting struct {
	Fn *ssa.Function
	// Call is the instruction that blocks, or calls a function that does.
	Call ssa.CallInstruction
	// Held are the locks that Fn has taken before.
	Held []Held
	// Entry are the locks that all callers of Fn hold.
	Entry []Held
	// Turns are the channels that are held as locks, by Fn or all its callers.
	Turns []Held
	To    Acquire
}

// Nestings lists where fn waits for a lock while it holds one that it has
// taken itself. Locks of a caller count in that caller.
func (r *Result) Nestings(fn *ssa.Function) []Nesting {
	var list []Nesting
	for _, p := range r.points[fn] {
		held := p.state.Held()
		if len(held) == 0 {
			continue
		}
		for _, a := range r.locksTaken(p) {
			n := Nesting{Fn: fn, Call: p.call, Turns: p.state.Turns(), To: a}
			for _, h := range held {
				if h.Class == "" || !slices.Contains(a.Freed, h.Class) && !r.handsOff(p.call, h.Class) {
					n.Held = append(n.Held, h)
				}
			}
			if e := r.entry[fn]; e != nil {
				n.Entry = e.Held()
				n.Turns = append(n.Turns, e.Turns()...)
			}
			if len(n.Held) > 0 {
				list = append(list, n)
			}
		}
	}
	return list
}

// WalkOwn is Walk with the locks that fn has taken itself, or released, and
// not those that its callers hold.
func (r *Result) WalkOwn(fn *ssa.Function, visit func(ssa.Instruction, *State)) {
	if f := r.local[fn]; f != nil && f.quiet == nil {
		f.walkBlocks(fn, visit)
	}
}

// Locking is a place that takes a lock, not only its read side.
type Locking struct {
	Fn   *ssa.Function
	Call ssa.CallInstruction
	Path accesspath.Path
}

// Written lists by class of the lock where the package locks, and does not only
// read-lock, outside of tests.
func (r *Result) Written() map[string][]Locking {
	written := map[string][]Locking{}
	for _, fn := range r.prog.Funcs {
		for _, p := range r.points[fn] {
			if p.op.kind == lock && p.op.class != "" && !r.prog.InTest(fn) {
				written[p.op.class] = append(written[p.op.class], Locking{fn, p.call, p.op.path})
			}
		}
	}
	return written
}

// Receiver returns the address of the lock that the instruction takes or
// releases; nil if it is no plain operation on a lock.
func (r *Result) Receiver(instr ssa.Instruction) ssa.Value {
	call, ok := instr.(ssa.CallInstruction)
	if !ok {
		return nil
	}
	if _, ok := r.callOp(call); !ok {
		return nil
	}
	if call.Common().IsInvoke() {
		return call.Common().Value
	}
	if lock := r.unlocks(call.Common()); lock != nil {
		return lock
	}
	_, args := callgraph.Target(call.Common())
	return args[0]
}
