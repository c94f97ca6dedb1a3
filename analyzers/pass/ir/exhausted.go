package ir

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Exhausted reports whether control is not meant to go from b to its i-th successor: the way past a switch, or past a
// chain of ifs, that has a case for each constant of a type of the package.
//
//	switch t.state {
//	case idle: …
//	case running: …
//	}	// no other state is declared
//
// A value that no constant of the type has may go that way all the same; it is a fault of its own. A way with code of
// its own, such as a default case, is meant to be gone.
func Exhausted(b *ssa.BasicBlock, i int) bool {
	if i != 1 || len(b.Succs[1].Preds) < 2 {
		return false
	}
	x, value := comparedTo(b)
	if x == nil {
		return false
	}
	open := constantsOf(x.Type(), b.Parent())
	if len(open) < 2 {
		return false
	}
	// The cases before it, each reached by the way past the one above.
	for {
		delete(open, value.ExactString())
		if len(open) == 0 {
			return true
		}
		if len(b.Preds) != 1 {
			return false
		}
		above := b.Preds[0]
		y, v := comparedTo(above)
		if y != x || above.Succs[1] != b {
			return false
		}
		b, value = above, v
	}
}

// comparedTo returns the value that b compares to a constant at its end, and the constant; nil for other blocks.
func comparedTo(b *ssa.BasicBlock) (x ssa.Value, value constant.Value) {
	branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok {
		return nil, nil
	}
	test, ok := branch.Cond.(*ssa.BinOp)
	if !ok || test.Op != token.EQL {
		return nil, nil
	}
	c, ok := test.Y.(*ssa.Const)
	if !ok || c.Value == nil {
		return nil, nil
	}
	return test.X, c.Value
}

// constantsOf returns the values of the constants of a named type that the package of fn declares, if the type is of
// that package too: of others only the exported ones are known.
func constantsOf(t types.Type, fn *ssa.Function) map[string]bool {
	named, ok := t.(*types.Named)
	if !ok || fn.Pkg == nil || named.Obj().Pkg() != fn.Pkg.Pkg {
		return nil
	}
	values := map[string]bool{}
	scope := named.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && types.Identical(c.Type(), named) {
			values[c.Val().ExactString()] = true
		}
	}
	return values
}
