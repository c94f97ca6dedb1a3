package facts

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// Dependence is what a value decides about in its function: values computed from it, and blocks that only one outcome
// of a test leads to.
type Dependence struct {
	Values map[ssa.Value]bool
	blocks []*ssa.BasicBlock
}

// follow reports whether an instruction that takes a value computes from it what it returns.
type follow func(instr ssa.Instruction, v ssa.Value) bool

// Decided follows a value through operations, locals and tests.
func Decided(of ssa.Value) Dependence { return dependOn(of, computes) }

// computes follows operations on the value itself, and not what it refers to.
func computes(instr ssa.Instruction, _ ssa.Value) bool {
	switch instr := instr.(type) {
	case *ssa.BinOp, *ssa.Phi, *ssa.Convert, *ssa.ChangeType, *ssa.Extract, *ssa.Field, *ssa.MakeInterface,
		*ssa.TypeAssert, *ssa.Slice:
		return true
	case *ssa.UnOp:
		return instr.Op != token.MUL
	case *ssa.Call:
		_, ok := instr.Call.Value.(*ssa.Builtin) // len, append, min and the like
		return ok || isPure(instr)
	}
	return false
}

// isPure reports whether a call is of a library function that is known to write to none of its arguments: it computes.
//
//	t.Sub(c.last)
func isPure(call *ssa.Call) bool {
	callee := call.Call.StaticCallee()
	if callee == nil || len(callee.Blocks) > 0 {
		return false
	}
	fn, ok := callee.Object().(*types.Func)
	if !ok || fn.Pkg() == nil {
		return false
	}
	for i := range call.Call.Args {
		if writes, known := callgraph.LibraryWrites(fn, i); writes || !known {
			return false
		}
	}
	return true
}

// dependOn follows a value until nothing more depends on it: what is computed from it may decide whether a block runs,
// and which block runs decides about the locals that it sets.
func dependOn(of ssa.Value, follows follow) Dependence {
	w := &dependWalk{Dependence: Dependence{Values: map[ssa.Value]bool{}}, follows: follows, tests: map[*ssa.If]bool{}}
	fn := of.Parent()
	if fn == nil { // a constant, or a package variable
		return w.Dependence
	}
	w.must = mustRun(of)
	w.visit(of)
	for n := 0; n != len(w.Values)+len(w.blocks); {
		n = len(w.Values) + len(w.blocks)
		w.spread(fn)
	}
	return w.Dependence
}

// dependWalk is the work of dependOn.
type dependWalk struct {
	Dependence
	follows follow
	tests   map[*ssa.If]bool
	must    map[*ssa.BasicBlock]blockSet
}

// visit adds a value, and what is computed from it.
func (w *dependWalk) visit(v ssa.Value) {
	if w.Values[v] || v.Referrers() == nil {
		return
	}
	w.Values[v] = true
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store: // n := v, e.n = v of a local struct, f(a, v) of a variadic function
			if cell := CellOf(ir.Root(ref.Addr, ir.Field|ir.Element)); cell != nil && ref.Val == v {
				w.visitLoads(cell)
			}
		case *ssa.If:
			w.test(ref)
		default:
			if x, ok := ref.(ssa.Value); ok && w.follows(ref, v) {
				w.visit(x)
			}
		}
	}
}

// visitLoads adds what is read of a local variable, or of fields and elements of it.
func (w *dependWalk) visitLoads(addr ssa.Value) {
	for _, ref := range *addr.Referrers() {
		switch ref := ref.(type) {
		case *ssa.UnOp:
			w.visit(ref)
		case *ssa.Slice:
			w.visit(ref)
		case *ssa.FieldAddr:
			w.visitLoads(ref)
		case *ssa.IndexAddr:
			w.visitLoads(ref)
		}
	}
}

// test adds the blocks that run for certain by one outcome of a test, and need not by the other.
func (w *dependWalk) test(branch *ssa.If) {
	if w.tests[branch] {
		return
	}
	w.tests[branch] = true
	yes, no := branch.Block().Succs[0], branch.Block().Succs[1]
	isBehind := ways(branch.Block())
	for _, b := range branch.Parent().Blocks {
		// What comes before the test in a loop has run already.
		if w.must[yes].has(b) != w.must[no].has(b) && isBehind.has(b) && !b.Dominates(branch.Block()) {
			w.blocks = append(w.blocks, b)
		}
	}
}

// spread adds the locals that are set by what the value decides about.
//
//	n := 0; if v { n = 1 }
func (w *dependWalk) spread(fn *ssa.Function) {
	for _, b := range fn.Blocks {
		isControlled := w.Controls(b)
		for _, instr := range b.Instrs {
			switch instr := instr.(type) {
			case *ssa.Phi:
				if slices.ContainsFunc(b.Preds, w.parts) {
					w.visit(instr)
				}
			case *ssa.Store:
				if cell := CellOf(instr.Addr); cell != nil && isControlled {
					w.visitLoads(cell)
				}
			}
		}
	}
}

// parts reports whether the value decides about the way that leads on from a block.
func (w *dependWalk) parts(b *ssa.BasicBlock) bool {
	branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	return ok && w.tests[branch] || w.Controls(b)
}

// blockSet is a set of the blocks of one function, a bit each.
type blockSet []uint64

func (s blockSet) has(b *ssa.BasicBlock) bool { return s != nil && s[b.Index/64]>>(b.Index%64)&1 == 1 }

func (s blockSet) add(b *ssa.BasicBlock) { s[b.Index/64] |= 1 << (b.Index % 64) }

func newBlockSet(fn *ssa.Function) blockSet { return make(blockSet, len(fn.Blocks)/64+1) }

// ways returns the blocks that control may come to from b, and b.
func ways(b *ssa.BasicBlock) blockSet {
	seen := newBlockSet(b.Parent())
	var visit func(*ssa.BasicBlock)
	visit = func(b *ssa.BasicBlock) {
		if !seen.has(b) {
			seen.add(b)
			for _, next := range b.Succs {
				visit(next)
			}
		}
	}
	visit(b)
	return seen
}

// mustRun returns for each block those that control comes to from there, itself included, whichever way it takes until
// the function ends or comes back to the block that computes v anew.
func mustRun(v ssa.Value) map[*ssa.BasicBlock]blockSet {
	var anew *ssa.BasicBlock
	if instr, ok := v.(ssa.Instruction); ok {
		anew = instr.Block()
	}
	fn := v.Parent()
	must := map[*ssa.BasicBlock]blockSet{}
	for _, b := range fn.Blocks {
		must[b] = newBlockSet(fn)
		if b == anew {
			continue
		}
		for _, all := range fn.Blocks {
			if len(b.Succs) > 0 || all == b {
				must[b].add(all)
			}
		}
	}
	// The sets only shrink.
	for changed := true; changed; {
		changed = false
		for i := len(fn.Blocks) - 1; i >= 0; i-- {
			b := fn.Blocks[i]
			if b == anew || len(b.Succs) == 0 {
				continue
			}
			own := slices.Clone(must[b.Succs[0]])
			for _, next := range b.Succs[1:] {
				for j := range own {
					own[j] &= must[next][j]
				}
			}
			if own.add(b); !slices.Equal(own, must[b]) {
				must[b], changed = own, true
			}
		}
	}
	return must
}

// CellOf returns the local variable at addr, seen from a closure too; nil if it is none.
func CellOf(addr ssa.Value) *ssa.Alloc {
	for {
		captured, ok := addr.(*ssa.FreeVar)
		if !ok {
			break
		}
		addr = accesspath.Binding(captured)
	}
	cell, _ := addr.(*ssa.Alloc)
	return cell
}

// Controls reports whether a test of the value decides whether b runs.
func (d Dependence) Controls(b *ssa.BasicBlock) bool {
	return slices.ContainsFunc(d.blocks, func(c *ssa.BasicBlock) bool { return c.Dominates(b) })
}

// Feeds reports whether instr takes a value that was computed from the first.
func (d Dependence) Feeds(instr ssa.Instruction) bool {
	return slices.ContainsFunc(instr.Operands(nil), func(op *ssa.Value) bool { return *op != nil && d.Values[*op] })
}

// Decides reports whether the value that the access a reads decides about b, further down: whether b happens at all,
// where, or what it stores. What it decides about the next round of a loop, and values that travel through fields or
// through what a blocking call or a receive yields, are not followed.
func (f *Facts) Decides(a, b *source.Access) bool {
	asks := a.Mode == source.Read || a.Mode == source.Update && a.Call != nil // if q.Len() > 0: a method that may write
	if !asks || b.Expr.Pos() <= a.Expr.Pos() {
		return false
	}
	read, ok := f.accessed(a)
	value, isValue := read.instr.(ssa.Value)
	if !ok || !isValue {
		return true // nothing is known of it
	}
	d, known := f.decisions[value]
	if !known {
		d = dependOn(value, f.yields)
		f.decisions[value] = d
	}
	// The whole statement decides about what is stored.
	var n ast.Node = b.Whole
	if b.Mode.Writes() {
		n = b.File.SimpleAround(b.Expr)
	}
	if at, ok := f.accessed(b); ok {
		if here := in(read.instr.Parent(), at.instr); here != nil && d.Controls(here.Block()) {
			return true
		}
	}
	fn := f.functionAround(b.File, b.Expr)
	if n == nil || fn == nil {
		return false
	}
	for instr := range evaluates(fn, n.Pos(), n.End()) {
		if d.Feeds(instr) {
			return true
		}
	}
	return false
}

// yields follows all that is computed from a value, but what waits: a receive, or a call of a method that blocks, which
// yields the work of the object behind.
func (f *Facts) yields(instr ssa.Instruction, v ssa.Value) bool {
	switch instr := instr.(type) {
	case *ssa.UnOp:
		return instr.Op != token.ARROW
	case *ssa.Select, *ssa.MakeClosure:
		return false
	case *ssa.Call:
		return receiverOf(instr) != v || f.anew.Does(instr) == ""
	}
	return true
}

// receiverOf returns the object on which a method is called; nil for functions.
func receiverOf(call *ssa.Call) ssa.Value {
	if call.Call.IsInvoke() {
		return call.Call.Value
	}
	if fn, args := callgraph.Target(&call.Call); fn != nil && fn.Signature.Recv() != nil && len(args) > 0 {
		return args[0]
	}
	return nil
}

// in returns the instruction of a function at which control is where instr runs, in a literal of that function; nil if
// it is none of these.
func in(fn *ssa.Function, instr ssa.Instruction) ssa.Instruction {
	for instr != nil && instr.Parent() != fn {
		var made ssa.Instruction
		if outer := instr.Parent().Parent(); outer != nil {
			for x := range ir.Instructions(outer) {
				if slices.ContainsFunc(x.Operands(nil), func(op *ssa.Value) bool { return *op == instr.Parent() }) {
					made = x
				}
			}
		}
		instr = made
	}
	return instr
}
