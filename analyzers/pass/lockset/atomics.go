package lockset

import (
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// findSpins finds the locks that the package makes itself of an atomic word:
// a method that tries to swap it from zero until that succeeds takes the lock,
// and a method of the same type that stores zero there releases it. Their names
// do not matter.
func (r *Result) findSpins() {
	takers := map[string]bool{}
	for _, fn := range r.prog.Funcs {
		if word, ok := atomicWord(fn, isTake); ok {
			r.spins[fn] = lock
			takers[word] = true
		}
	}
	for _, fn := range r.prog.Funcs {
		if word, ok := atomicWord(fn, isGiveUp); ok && takers[word] && r.spins[fn] == 0 {
			r.spins[fn] = unlock
		}
	}
}

// atomicWord returns the word of its receiver, by type and fields, on which fn,
// a method without parameters and results, makes an atomic call that is wanted.
func atomicWord(fn *ssa.Function, wanted func(*ssa.Call) bool) (string, bool) {
	if fn.Signature.Recv() == nil || fn.Signature.Params().Len() > 0 || fn.Signature.Results().Len() > 0 {
		return "", false
	}
	for instr := range ir.Instructions(fn) {
		call, ok := instr.(*ssa.Call)
		if !ok || !wanted(call) {
			continue
		}
		if p := accesspath.Of(call.Call.Args[0]); p.Root == fn.Params[0] {
			return fn.Params[0].Type().String() + p.Fields, true
		}
	}
	return "", false
}

// isTake reports whether call swaps zero for something else, again and again:
//
//	for !x.CompareAndSwap(0, 1) {}
func isTake(call *ssa.Call) bool {
	args, ok := atomicArgs(call, "CompareAndSwap")
	return ok && len(args) == 2 && isFlagClear(args[0]) && isFlagSet(args[1]) && callgraph.InLoop(call.Block())
}

func isGiveUp(call *ssa.Call) bool {
	args, ok := atomicArgs(call, "Store")
	return ok && len(args) == 1 && isFlagClear(args[0])
}

// atomicArgs returns the arguments after the address of that operation of sync/atomic.
func atomicArgs(call *ssa.Call, name string) ([]ssa.Value, bool) {
	if ir.Atomic(&call.Call) != name || len(call.Call.Args) == 0 {
		return nil, false
	}
	return call.Call.Args[1:], true
}

// isFlagSet and isFlagClear report whether v is a constant that a flag has if it is set, or not.
func isFlagSet(v ssa.Value) bool   { return isPlainConst(v) && !ir.IsZero(v) }
func isFlagClear(v ssa.Value) bool { return isPlainConst(v) && ir.IsZero(v) }

func isPlainConst(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil
}

// An atomic flag is a lock that is only tried, where every function that sets it also clears it, and nothing else
// changes it:
//
//	if !t.busy.CompareAndSwap(false, true) { return }
//	defer t.busy.Store(false)
//
// Like channels, such flags are among [State.Turns]: no guard is inferred from them.

// flagPrefix begins the classes of flags.
const flagPrefix = "flag "

// flagUse is the use that the package makes of a flag.
type flagUse struct {
	other bool // something else than to set it from zero, to clear it, and to look at it
	users map[*ssa.Function]*claims
}

// claims is how often a function sets a flag that was clear, and clears it.
type claims struct{ sets, clears int }

// findFlags finds the atomic flags that are locks.
func (r *Result) findFlags() {
	all := map[string]*flagUse{}
	for _, fn := range r.prog.Funcs {
		for instr := range ir.Instructions(fn) {
			noteFlags(all, fn, instr)
		}
	}
	for class, f := range all {
		both := len(f.users) > 0 && !f.other
		for _, u := range f.users {
			both = both && u.sets > 0 && u.clears > 0
		}
		r.flags[class] = both
	}
}

// noteFlags notes how instr uses variables that may be flags.
func noteFlags(all map[string]*flagUse, fn *ssa.Function, instr ssa.Instruction) {
	at := func(v ssa.Value) *flagUse {
		class := flagClass(v)
		if all[class] == nil {
			all[class] = &flagUse{users: map[*ssa.Function]*claims{}}
		}
		return all[class]
	}
	var known ssa.Value // the operand of which the use is known
	if call, ok := instr.(ssa.CallInstruction); ok {
		if o, _, ok := flagCall(call.Common()); ok {
			known = call.Common().Args[0]
			f, user := at(known), activation(fn)
			if f.users[user] == nil && o != 0 {
				f.users[user] = &claims{}
			}
			switch o {
			case trylock:
				f.users[user].sets++
			case unlock:
				f.users[user].clears++
			}
		}
	}
	switch instr := instr.(type) {
	case *ssa.DebugRef:
		return
	case *ssa.UnOp:
		if instr.Op == token.MUL {
			known = instr.X
		}
	}
	for _, operand := range instr.Operands(nil) {
		switch (*operand).(type) {
		case *ssa.FieldAddr, *ssa.Global:
			if *operand != known {
				at(*operand).other = true
			}
		}
	}
}

// flagClass names the field or package variable at address v; it is the prefix alone where v has no such name.
func flagClass(v ssa.Value) string {
	if name, ok := accesspath.NameOf(v); ok {
		return flagPrefix + name.String()
	}
	return flagPrefix
}

// flagCall recognises an operation on an atomic that a flag which is a lock allows: trylock, unlock, or 0 for a look at
// it. Whether the lock is acquired, the result says: it is equal to won.
func flagCall(call *ssa.CallCommon) (o kind, won, ok bool) {
	operation := ir.Atomic(call)
	if operation == "" || len(call.Args) == 0 {
		return 0, false, false
	}
	args := call.Args[1:]
	switch {
	case len(args) == 0:
		return 0, false, true
	case len(args) == 2 && isFlagClear(args[0]) && isFlagSet(args[1]): // CompareAndSwap(false, true)
		return trylock, true, true
	case len(args) == 2 && isFlagSet(args[0]) && isFlagClear(args[1]),
		len(args) == 1 && isFlagClear(args[0]) && operation == "Store":
		return unlock, false, true
	case len(args) == 1 && isFlagSet(args[0]) && operation == "Swap" && ir.IsBool(call.Signature().Results().At(0).Type()):
		// Swap(true)
		return trylock, false, true
	}
	return 0, false, false
}

// flagOp returns the operation on a flag that is a lock; won is the result by which one acquires it.
func (r *Result) flagOp(call *ssa.CallCommon) (o op, won, ok bool) {
	k, won, ok := flagCall(call)
	if !ok || k == 0 {
		return op{}, false, false
	}
	o = op{kind: k, path: accesspath.Of(call.Args[0]), class: flagClass(call.Args[0])}
	return o, won, r.flags[o.class]
}

// afterFlag returns the state after a call that may clear a flag.
func (r *Result) afterFlag(s *State, call ssa.CallInstruction) *State {
	if o, _, ok := r.flagOp(call.Common()); ok && o.kind == unlock {
		return s.release(o.path, o.class)
	}
	return s
}
