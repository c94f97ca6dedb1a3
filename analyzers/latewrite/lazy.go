package latewrite

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/accesses"
	"github.com/interlock-go/interlock/analyzers/accesspath"
	"github.com/interlock-go/interlock/analyzers/callers"
	"github.com/interlock-go/interlock/analyzers/lockset"
	"github.com/interlock-go/interlock/analyzers/ssair"
)

// lazyInit finds `if x.f == nil { x.f = … }` without a lock, in code that any
// caller may run, on a type that has means of synchronisation: so several
// goroutines are meant to use it.
func (c *checker) lazyInit(v *accesses.Variable) *race {
	if c.lockedSomewhere(v) {
		return nil // guardedby judges it
	}
	for _, a := range plainWrites(v) {
		if a.Update || isError(a.Obj.Type()) || !c.anyCaller(a) || !c.meantToBeShared(a) {
			continue
		}
		if test := c.zeroTest(v, a); test != nil {
			return &race{a, test, "initialised lazily without a lock",
				fmt.Sprintf("two calls of %s may both find it unset and both set it, and one may see half of what the other made. A sync.Once orders them.",
					c.list.Prog.FuncName(a.Fn))}
		}
	}
	return nil
}

func (c *checker) lockedSomewhere(v *accesses.Variable) bool {
	for _, a := range v.Accesses {
		if len(a.Locks.Held()) > 0 {
			return true
		}
	}
	return false
}

// anyCaller: a stands in what importing packages call, on the receiver, and
// is no part of the object's life cycle, which its user calls once and alone.
func (c *checker) anyCaller(a *accesses.Access) bool {
	roles := c.list.Graph.Roles(a.Fn)
	recv := a.Fn.Signature.Recv()
	return roles.API && !roles.Unknown && recv != nil && len(a.Fn.Params) > 0 &&
		a.Path.Root == a.Fn.Params[0] && c.list.Graph.Open(a.Fn) && !c.list.Prog.Alone(a.Fn) && !lifeCycle.MatchString(ssair.Outermost(a.Fn).Name())
}

// lifeCycle matches the names of methods that set an object up or take it
// down; it is the custom to call them while nobody else uses it.
var lifeCycle = regexp.MustCompile(`^(New|Init|Setup|Set|With|Add|Use|Register|Configure|Open|Load|Start|Run|Serve|Listen|Close|Stop|Shutdown|Reset|Default|Unmarshal|Decode|Parse|Validate|Apply|Build)`)

// meantToBeShared reports whether the method of a, or what it calls on the
// same type, synchronises by a field of that type: a lock, a Once, an atomic.
// Why else would it?
func (c *checker) meantToBeShared(a *accesses.Access) bool {
	recv := a.Fn.Params[0].Type()
	seen := map[*ssa.Function]bool{}
	var uses func(fn *ssa.Function, depth int) bool
	uses = func(fn *ssa.Function, depth int) bool {
		if seen[fn] || depth > 3 || fn.Signature.Recv() == nil || !types.Identical(fn.Signature.Recv().Type(), recv) {
			return false
		}
		seen[fn] = true
		for _, call := range calls(fn) {
			callee, args := callers.Target(call)
			if callee == nil {
				continue
			}
			if len(args) > 0 && synchroniser(args[0], recv) || uses(callee, depth+1) {
				return true
			}
		}
		return false
	}
	return uses(a.Fn, 0)
}

func calls(fn *ssa.Function) []*ssa.CallCommon {
	var all []*ssa.CallCommon
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			if call, ok := instr.(ssa.CallInstruction); ok {
				all = append(all, call.Common())
			}
		}
	}
	return all
}

// synchroniser reports whether v is the address of a field of owner's struct
// by which goroutines synchronise.
func synchroniser(v ssa.Value, owner types.Type) bool {
	fa, ok := v.(*ssa.FieldAddr)
	return ok && types.Identical(fa.X.Type(), owner) && synchronises(accesspath.FieldOf(fa).Type())
}

func synchronises(t types.Type) bool {
	if lockset.IsLock(t) {
		return true
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return false
	}
	switch n.Obj().Pkg().Path() {
	case "sync", "sync/atomic":
		return true
	}
	return false
}

// zeroTest gives the read by which a is made only if the field is unset.
func (c *checker) zeroTest(v *accesses.Variable, a *accesses.Access) *accesses.Access {
	for _, b := range v.Accesses {
		if b.Fn != a.Fn || b.Writes() || b.Path != a.Path || b.Map || b.Value == nil {
			continue
		}
		for _, ref := range *b.Value.Referrers() {
			if way := ifZero(ref); way != nil && len(way.Preds) == 1 && way.Dominates(a.Instr.Block()) && !comesTo(a.Instr, b.Instr) {
				return b
			}
		}
	}
	return nil
}

// isError: to note the first error is no initialisation.
func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// comesTo: a test that is made again after the assignment is the condition of
// a loop.
func comesTo(from, to ssa.Instruction) bool {
	found := false
	accesses.Reached(from, func(instr ssa.Instruction) bool {
		found = found || instr == to
		return !found
	})
	return found
}

// ifZero gives the block that control takes if the comparison finds the zero
// value: nil, "", 0.
func ifZero(instr ssa.Instruction) *ssa.BasicBlock {
	cmp, ok := instr.(*ssa.BinOp)
	if !ok || cmp.Op != token.EQL && cmp.Op != token.NEQ || !isZero(cmp.X) && !isZero(cmp.Y) {
		return nil
	}
	for _, ref := range *cmp.Referrers() {
		if branch, ok := ref.(*ssa.If); ok {
			if cmp.Op == token.EQL {
				return branch.Block().Succs[0]
			}
			return branch.Block().Succs[1]
		}
	}
	return nil
}

func isZero(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	if !ok {
		return false
	}
	if c.Value == nil {
		return true
	}
	switch c.Value.Kind() {
	case constant.String:
		return constant.StringVal(c.Value) == ""
	case constant.Int:
		return constant.Sign(c.Value) == 0
	}
	return false
}
