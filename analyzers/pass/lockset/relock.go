package lockset

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
)

// Relock is a lock that a function waits for while it holds it: package sync's
// locks know no owner, so that it waits for itself.
type Relock struct {
	Nesting
	First Held
}

// Relocks lists where functions outside of tests wait for a lock that they have
// surely taken themselves, each lock and call once.
func (r *Result) Relocks() []Relock {
	var list []Relock
	for _, fn := range r.prog.Funcs {
		if !r.prog.InTest(fn) {
			list = append(list, r.relocksIn(fn)...)
		}
	}
	return list
}

func (r *Result) relocksIn(fn *ssa.Function) []Relock {
	type key struct {
		path accesspath.Path
		call ssa.CallInstruction
		read bool
	}
	seen := map[key]bool{}
	var list []Relock
	for _, n := range r.Nestings(fn) {
		for _, h := range n.Held {
			k := key{h.Path, n.Call, h.Read}
			if h.Path.Root == nil || h.Path != n.To.Path || h.Since == nil || n.To.Depends || seen[k] ||
				r.handedAway(fn, h.Path) {
				continue
			}
			seen[k] = true
			list = append(list, Relock{n, h})
		}
	}
	return list
}

// handedAway reports whether fn hands the release of a lock of its own variables to other code: a function value that
// releases it, or its address. Such a lock is taken again to wait for that code.
//
//	mu.Lock(); query(func() { mu.Unlock() }); mu.Lock()
func (r *Result) handedAway(fn *ssa.Function, lock accesspath.Path) bool {
	local, ok := lock.Root.(*ssa.Alloc)
	if !ok {
		return false
	}
	for instr := range ir.Instructions(fn) {
		switch instr := instr.(type) {
		case *ssa.MakeClosure:
			if r.hasUnlock(instr, local, lock.Fields) && !calledHere(instr) {
				return true
			}
		case ssa.CallInstruction:
			// Of a callee that is known, the effects are.
			if instr.Common().StaticCallee() == nil && slices.Contains(instr.Common().Args, ssa.Value(local)) {
				return true
			}
		}
	}
	return false
}

// hasUnlock reports whether a closure, or a method value of the lock, releases the lock at these fields of a variable.
func (r *Result) hasUnlock(made *ssa.MakeClosure, local *ssa.Alloc, fields string) bool {
	fn := made.Fn.(*ssa.Function)
	if k := kinds[boundName(fn)]; k == unlock || k == runlock {
		return accesspath.Of(made.Bindings[0]) == accesspath.Path{Root: local, Fields: fields}
	}
	i := slices.Index(made.Bindings, ssa.Value(local))
	return i >= 0 && slices.ContainsFunc(r.summaries[fn], func(e effect) bool {
		return e.path == (accesspath.Path{Root: local, Fields: fields}) && (e.status == released || e.status == unsure)
	})
}

// calledHere reports whether a closure is only called by the function that makes it, at once or at its end.
func calledHere(made *ssa.MakeClosure) bool {
	return !slices.ContainsFunc(*made.Referrers(), func(ref ssa.Instruction) bool {
		switch ref := ref.(type) {
		case *ssa.Call:
			return ref.Call.Value != ssa.Value(made)
		case *ssa.Defer:
			return ref.Call.Value != ssa.Value(made)
		}
		return true
	})
}

// Releaser returns a function that is not fn and releases a lock of the class that it has not taken; nil if there is
// none.
func (r *Result) Releaser(fn *ssa.Function, class string) *ssa.Function {
	i := slices.IndexFunc(r.prog.Funcs, func(other *ssa.Function) bool {
		return other != fn && class != "" && !r.prog.InTest(other) && r.releases(other, class)
	})
	if i < 0 {
		return nil
	}
	return r.prog.Funcs[i]
}

// ReleasedElsewhere reports whether some function of the package releases a
// lock of the class that it has not taken, for good: then the lock is handed
// from one function to another.
func (r *Result) ReleasedElsewhere(class string) bool {
	for _, fn := range r.prog.Funcs {
		if r.releases(fn, class) {
			return true
		}
	}
	return false
}

func (r *Result) releases(fn *ssa.Function, class string) bool {
	for _, e := range r.summaries[fn] {
		if e.class == class && (e.status == released || e.status == unsure) {
			return true
		}
	}
	return false
}

// HandedOn reports whether fn returns a lock, which its caller is to release, makes a closure or starts a goroutine
// that releases a lock of the class, or calls a function with a goroutine that waits for a Cond,
// and so releases its lock:
//
//	go func() { cond.Wait(); close(done) }()
//	select { case <-done: … case <-time.After(timeout): … }
func (r *Result) HandedOn(fn *ssa.Function, class string) bool {
	if startsCondWait(fn) || returnsLock(fn) {
		return true
	}
	for instr := range ir.Instructions(fn) {
		switch instr := instr.(type) {
		case *ssa.Call:
			if callee := instr.Call.StaticCallee(); callee != nil && startsCondWait(callee) {
				return true
			}
		case *ssa.Go:
			if callee, _ := callgraph.Target(instr.Common()); callee != nil && r.releases(callee, class) {
				return true
			}
		case *ssa.MakeClosure:
			made := instr.Fn.(*ssa.Function)
			if k := kinds[boundName(made)]; k == unlock || k == runlock || r.releases(made, class) {
				return true
			}
		}
	}
	return false
}

// returnsLock reports whether a result of fn is a lock of package sync:
//
//	func (c *Conn) await(id int) (size int, lock *sync.Mutex, err error)
func returnsLock(fn *ssa.Function) bool {
	for v := range fn.Signature.Results().Variables() {
		switch v.Type().String() {
		case "*sync.Mutex", "*sync.RWMutex", "sync.Locker":
			return true
		}
	}
	return false
}

// startsCondWait reports whether a goroutine that fn starts waits for a Cond.
func startsCondWait(fn *ssa.Function) bool {
	for instr := range ir.Instructions(fn) {
		if start, isGo := instr.(*ssa.Go); isGo {
			if target, _ := callgraph.Target(start.Common()); target != nil && waitsForCond(target) {
				return true
			}
		}
	}
	return false
}

// waitsForCond reports whether fn itself calls Wait of a Cond.
func waitsForCond(fn *ssa.Function) bool {
	for instr := range ir.Instructions(fn) {
		if call, isCall := instr.(*ssa.Call); isCall {
			if order.May(call, order.Await) {
				return true
			}
		}
	}
	return false
}

// boundName returns the name of the method that a method value binds.
func boundName(fn *ssa.Function) string {
	if fn.Synthetic != "" && fn.Parent() == nil && fn.Object() != nil {
		return fn.Object().Name()
	}
	return ""
}

// MayReturnLocked reports whether the name or the comment of fn says that it
// has to do with locks that it finds or leaves held.
func (r *Result) MayReturnLocked(fn *ssa.Function) bool {
	return r.wants[fn] || knowledge.MayReturnLocked(fn.Name())
}
