package syncops

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// Free reports whether any goroutine may do op at any time: in an exported
// function, on something that was there before the call, without a lock.
func (l *List) Free(op *Op) bool {
	_, own := op.Path.Root.(*ssa.Parameter)
	_, global := op.Path.Global()
	return l.Graph.Open(l.Function(op)) && op.Locks.Free() && (own || global) && op.Key.Name.Field != ""
}

// Function returns the declared function in every call of which op happens: the
// literals around it are called, or deferred, where they stand.
func (l *List) Function(op *Op) *ssa.Function {
	fn := op.Fn
	for fn.Parent() != nil && l.calledInPlace(fn) {
		fn = fn.Parent()
	}
	return fn
}

func (l *List) calledInPlace(literal *ssa.Function) bool {
	sites := l.Graph.Sites(literal)
	return len(sites) > 0 && !slices.ContainsFunc(sites, func(s callgraph.Site) bool {
		return s.Mode == callgraph.Go || s.Through != nil || s.Caller != literal.Parent() || IsAsked(s.Instr)
	})
}

// IsAsked reports whether a branch comes before instr in its function, so that instr need not be carried out in each
// call.
func IsAsked(instr ssa.Instruction) bool {
	for b := instr.Block().Idom(); b != nil; b = b.Idom() {
		if _, asks := b.Instrs[len(b.Instrs)-1].(*ssa.If); asks {
			return true
		}
	}
	return false
}

// MeantForMany reports whether the struct that holds the object of op has a lock:
// then its methods are meant to be called by several goroutines.
func (l *List) MeantForMany(op *Op) bool {
	pkg := l.Prog.Pkg.Pkg
	if i := slices.IndexFunc(pkg.Imports(),
		func(p *types.Package) bool { return p.Path() == op.Key.Name.Package }); i >= 0 {
		pkg = pkg.Imports()[i]
	}
	obj := pkg.Scope().Lookup(op.Key.Name.Type)
	if obj == nil || op.Key.Name.Package != pkg.Path() {
		return false
	}
	st, ok := obj.Type().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range st.Fields() {
		if lockset.IsLock(f.Type()) {
			return true
		}
	}
	return false
}
