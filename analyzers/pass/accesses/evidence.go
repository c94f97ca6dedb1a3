package accesses

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/crosspkg"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/scope"
)

// Evidence returns the data of a for judgements that go by the whole variable, of
// one package or of all. Of its place it has the function only.
func (l *List) Evidence(a *Access) *crosspkg.Access {
	r := l.Graph.Roles(a.Fn)
	e := &crosspkg.Access{
		Access: finding.Access{Package: l.Prog.Pkg.Pkg.Path(), Function: l.Prog.FuncName(a.Fn), Mode: a.Mode},
		Map:    a.Map,
		Update: a.Update,
		Place:  a.place,
		May:    a.Locks.MayHoldClasses(),

		Unknown: a.Locks.Unknown,
		Exempt:  l.beforeSharing(a) || l.behindFlag(a) || l.Prog.SaysNoLock(a.Fn, a.Expr.Pos()),
		SetUp:   a.Completes() || a.MadeHere() && a.BeforeStart(),
		Others:  r.Concurrent() || r.Unknown,
		Lone:    l.isOnlyUse(a),
	}
	for _, h := range a.Locks.Held() {
		held := crosspkg.Held{Class: h.Class, Read: h.Read, Near: a.Near(h)}
		if h.Path.Named() {
			held.Name = h.Path.String()
		}
		e.Held = append(e.Held, held)
		e.Ordered = e.Ordered || l.Locks.Outlives(h.Class)
	}
	return e
}

// isOnlyUse reports whether a is all that an exported function does under its lock, or such a function ends the
// object's service there: the author of that function knew that others access the variable meanwhile.
//
//	l.mu.Lock(); defer l.mu.Unlock(); l.format = format
//	l.mu.Lock(); defer l.mu.Unlock(); return l.format
//	func (p *Pool) Close() { p.mu.Lock(); p.conns, p.factory = nil, nil; …
func (l *List) isOnlyUse(a *Access) bool {
	if a.Map || a.Update || a.Implied || !l.Graph.Open(a.Fn) || !a.Exclusive() {
		return false
	}
	if set, ok := a.Value.(*ssa.Const); ok && a.Writes() && set.IsNil() && knowledge.TakesDown(a.Fn.Name()) {
		return true
	}
	if len(a.Fn.Blocks) > knowledge.LoneBlocks {
		return false
	}
	for instr := range ir.Instructions(a.Fn) {
		switch instr := instr.(type) {
		case *ssa.Store:
			_, local := instr.Addr.(*ssa.Alloc)
			if instr != a.Instr && !local {
				return false
			}
		case *ssa.UnOp: // pointers lead to the lock and to the variable
			_, field := instr.X.(*ssa.FieldAddr)
			_, pointer := instr.Type().Underlying().(*types.Pointer)
			if instr != a.Instr && field && !pointer {
				return false
			}
		case *ssa.MapUpdate, *ssa.Send:
			return false
		case ssa.CallInstruction:
			if l.Locks.Receiver(instr) == nil {
				return false
			}
		}
	}
	return true
}

// isFromUnknown reports whether the object comes from a function of which nothing is
// known, such as one behind an interface, and may have been made for its caller.
func isFromUnknown(a *Access) bool {
	root := a.Path.Root
	if e, ok := root.(*ssa.Extract); ok {
		root = e.Tuple
	}
	call, ok := root.(*ssa.Call)
	return ok && call.Call.StaticCallee() == nil
}

// beforeSharing reports whether only the main goroutine runs a, so that it may come
// before any other goroutine is started.
func (l *List) beforeSharing(a *Access) bool {
	r := l.Graph.Roles(a.Fn)
	return r.Main && !r.API && len(r.Goroutines) == 0
}

// Exported lists the variables of the modules at work that other packages may
// name, with the accesses that count; those of a function that say the same
// are one. codesAt returns the codes that a directive suppresses at an access, and
// annotated the lock that one names as the guard of a variable.
func (l *List) Exported(codesAt func(*Access) []finding.Code, annotated map[*types.Var]string) []crosspkg.Variable {
	var list []crosspkg.Variable
	own := l.Prog.Pkg.Pkg
	for _, v := range l.Variables() {
		if len(v.Accesses) == 0 {
			continue
		}
		obj := v.Accesses[0].Obj
		switch {
		case obj == nil || !obj.Exported():
			continue
		case obj.Pkg() == own && (own.Name() == "main" || !atStake(v)): // a main package is not imported
			continue
		case obj.Pkg() != own && !(scope.Unit{Path: v.Name.Package}).In():
			continue
		}
		w := crosspkg.Variable{Variable: variable(v.Name), Annotated: annotated[obj]}
		for _, a := range v.Accesses {
			e := l.Evidence(a)
			e.Ignored = codesAt(a)
			if isFromUnknown(a) {
				e.Exempt, e.SetUp = true, true
			}
			same := slices.IndexFunc(w.Accesses, func(b *crosspkg.Access) bool { return isSameEvidence(e, b) })
			if same >= 0 {
				w.Accesses[same].Alike++
				continue
			}
			e.Access = l.Side(a)
			w.Accesses = append(w.Accesses, e)
		}
		list = append(list, w)
	}
	return list
}

// atStake reports whether accesses in other packages may say something new
// about a variable of this one: it can be accessed atomically, or there is a
// lock beside it or held at some access.
func atStake(v *Variable) bool {
	if b, ok := v.Accesses[0].Obj.Type().Underlying().(*types.Basic); ok {
		switch b.Kind() {
		case types.Int32, types.Int64, types.Uint32, types.Uint64, types.Uintptr, types.UnsafePointer:
			return true
		}
	}
	return slices.ContainsFunc(v.Accesses, func(a *Access) bool {
		return a.Atomic() || len(a.Locks.MayHoldClasses()) > 0 || lockBeside(a.Addr)
	})
}

// lockBeside reports whether the struct that addr is a field of has a lock
// too; beside a package variable there may always be one.
func lockBeside(addr ssa.Value) bool {
	fa, ok := addr.(*ssa.FieldAddr)
	if !ok {
		return true
	}
	p, ok := fa.X.Type().Underlying().(*types.Pointer)
	if !ok {
		return true
	}
	st, ok := p.Elem().Underlying().(*types.Struct)
	if !ok {
		return true
	}
	for f := range st.Fields() {
		if synchronises(f.Type()) {
			return true
		}
	}
	return false
}

// isSameEvidence reports whether a and b, of one function, say the same.
func isSameEvidence(a, b *crosspkg.Access) bool {
	return a.Function == b.Function && a.Mode == b.Mode && a.Map == b.Map && a.Update == b.Update &&
		a.Unknown == b.Unknown && a.Ordered == b.Ordered && a.Exempt == b.Exempt && a.SetUp == b.SetUp &&
		a.Others == b.Others &&
		slices.Equal(a.Place, b.Place) && slices.Equal(a.Held, b.Held) && slices.Equal(a.May, b.May) &&
		slices.Equal(a.Ignored, b.Ignored)
}
