package validate

import (
	"cmp"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// knownHolders demands that a lock which is taken at more places than before is only ever locked by its own name: where
// it is handed on as a value, code may hold it of which the analyses do not know that it does.
//
//	with(&b.mu, func() { b.draw() })	with locks a sync.Locker
//	defer acquire(&b.mu)()
func (j *judge) knownHolders() {
	old, now := j.takings(j.old), j.takings(j.now)
	for _, k := range now.more(old) {
		if where := j.now.handedOn(k.what); where != "" {
			j.doubt(place{}, finding.Heavy, "order", "if a caller holds it already, this deadlocks",
				"%s is handed on as a value (%s): who holds it when %s takes it is not known",
				short(k.what), where, short(k.function))
		}
	}
}

// takings counts, in touched functions, where locks of each class are taken.
func (j *judge) takings(s *side) tally {
	count := tally{}
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
		if call, ok := instr.(ssa.CallInstruction); ok {
			if class := facts.Acquired(p, call); class != "" {
				count[tallyKey{declared(p, fn), class}]++
			}
		}
	})
	return count
}

// handedOn returns where a lock of the class is used as a value: handed to a function other than sync.NewCond, its own
// methods and those that only access its plain fields, stored or returned; "" if it never is.
func (s *state) handedOn(class string) (where string) {
	isLock := func(v ssa.Value) bool {
		if v = ir.Root(v, ir.Boxed); v == nil || !canLock(v.Type()) {
			return false
		}
		name, ok := accesspath.NameOf(v)
		return ok && name.String() == class
	}
	for _, p := range s.Packages {
		each(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			var values []ssa.Value
			switch instr := instr.(type) {
			case ssa.CallInstruction:
				fn, args := callgraph.Target(instr.Common())
				if p.Locks.Receiver(instr) != nil || fn != nil && fn.String() == "sync.NewCond" {
					return
				}
				for i, arg := range args {
					if !leavesUnlocked(fn, i) {
						values = append(values, arg)
					}
				}
			case *ssa.Store:
				values = []ssa.Value{instr.Val}
				// &part{lock: &whole.mu}
				if name, ok := accesspath.NameOf(instr.Addr); ok && name.String() == class && isAlias(instr.Val) {
					where = cmp.Or(where, at(p, instr))
				}
			case *ssa.Return:
				values = instr.Results
			case *ssa.Send:
				values = []ssa.Value{instr.X}
			case *ssa.MakeClosure: // b.mu.Lock as a value
				values = instr.Bindings
			}
			if where == "" && slices.ContainsFunc(values, isLock) {
				where = at(p, instr)
			}
		})
	}
	return where
}

// isAlias reports whether v may be the address of a lock that has a name of its own.
func isAlias(v ssa.Value) bool {
	switch v = ir.Root(v, ir.Boxed); v.(type) {
	case *ssa.Alloc, *ssa.Const:
		return false
	}
	return canLock(v.Type())
}

// leavesUnlocked reports whether a function uses its i-th parameter for nothing but fields of basic types.
//
//	func (m *maybeMutex) Disable() { m.disabled = true }
func leavesUnlocked(fn *ssa.Function, i int) bool {
	if fn == nil || len(fn.Blocks) == 0 || i >= len(fn.Params) {
		return false
	}
	for _, use := range *fn.Params[i].Referrers() {
		switch use := use.(type) {
		case *ssa.DebugRef:
		case *ssa.FieldAddr:
			if _, basic := use.Type().(*types.Pointer).Elem().Underlying().(*types.Basic); !basic {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// canLock reports whether values of the type have a method Lock.
func canLock(t types.Type) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, "Lock")
	_, isMethod := obj.(*types.Func)
	return isMethod
}
