package callgraph

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// parameterOf names a parameter of a function of some package's program.
type parameterOf struct {
	fn    string
	index int
}

// symbolOf names a function the same in each program: a declared one by its full name, a literal as ssa writes it.
func symbolOf(fn *ssa.Function) string { return cmp.Or(FullName(fn), fn.String()) }

// passedFor returns the functions that v, the value of a call that is not static, may be because they are passed for
// a parameter, from function to function.
//
//	func (p *pool) start(f func()) { go func() { defer p.wg.Done(); f() }() }	// f: what calls of start pass
func (c *Conservative) passedFor(v ssa.Value) (list []*ssa.Function) {
	seen := map[ssa.Value]bool{}
	var visit func(v ssa.Value)
	visit = func(v ssa.Value) {
		if v == nil || seen[v] {
			return
		}
		seen[v] = true
		switch v := v.(type) {
		case *ssa.Function, *ssa.MakeClosure:
			// A function that is made where it is called is no parameter, and found by others.
			if len(seen) > 1 {
				list = append(list, c.valueOf(v))
			}
		case *ssa.Parameter:
			i := slices.Index(v.Parent().Params, v)
			for _, arg := range c.allPassed()[parameterOf{symbolOf(v.Parent()), i}] {
				visit(arg)
			}
		case *ssa.FreeVar:
			visit(accesspath.Binding(v))
		case *ssa.Alloc:
			for _, stored := range accesspath.Stored(v) {
				visit(stored)
			}
		case *ssa.UnOp:
			if cell := ir.Root(v.X, ^ir.Loaded); v.Op == token.MUL && cell == v.X {
				visit(v.X)
			}
		case *ssa.ChangeType:
			visit(v.X)
		case *ssa.Phi:
			for _, edge := range v.Edges {
				visit(edge)
			}
		}
	}
	visit(v)
	return slices.DeleteFunc(list, func(fn *ssa.Function) bool { return fn == nil })
}

// valueOf returns the function of the packages that a function value runs: for a method value, the method.
func (c *Conservative) valueOf(v ssa.Value) *ssa.Function {
	fn, ok := v.(*ssa.Function)
	if made, isClosure := v.(*ssa.MakeClosure); isClosure {
		if method, _ := boundMethod(made); method != nil {
			return c.Body(method)
		}
		fn, ok = made.Fn.(*ssa.Function)
	}
	if !ok {
		return nil
	}
	return c.Body(fn)
}

// allPassed returns the values that calls of the packages, tests left out, pass for each parameter of a function type.
func (c *Conservative) allPassed() map[parameterOf][]ssa.Value {
	if c.passed != nil {
		return c.passed
	}
	c.passed = map[parameterOf][]ssa.Value{}
	for _, g := range c.graphs {
		for _, f := range g.prog.Funcs {
			if g.prog.InTest(f) {
				continue
			}
			for instr := range ir.Instructions(f) {
				call, ok := instr.(ssa.CallInstruction)
				if !ok {
					continue
				}
				fn, args := Target(call.Common())
				if fn == nil || c.Body(fn) == nil {
					continue
				}
				for i, arg := range args {
					if _, isFunc := arg.Type().Underlying().(*types.Signature); isFunc {
						key := parameterOf{symbolOf(fn), i}
						c.passed[key] = append(c.passed[key], arg)
					}
				}
			}
		}
	}
	return c.passed
}
