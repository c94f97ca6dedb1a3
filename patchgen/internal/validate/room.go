package validate

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// definedBy returns where the local is declared that is set to the call with its
// parenthesis at pos: of ch in ch := make(chan T) and var ch = make(chan T).
func definedBy(p *session.Package, pos token.Pos) (at token.Pos) {
	for _, f := range p.Files {
		if pos < f.FileStart || f.FileEnd <= pos {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			var names []token.Pos
			var values []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				values = n.Rhs
				for _, lhs := range n.Lhs {
					names = append(names, lhs.Pos())
				}
			case *ast.ValueSpec:
				values = n.Values
				for _, id := range n.Names {
					names = append(names, id.Pos())
				}
			}
			for i, v := range values {
				if call, ok := ast.Unparen(v).(*ast.CallExpr); ok && call.Lparen == pos {
					at = names[i]
				}
			}
			return !at.IsValid()
		})
	}
	return at
}

// hasRoom reports whether the channel of op has room for all that is ever sent on it.
func hasRoom(p *session.Package, op *syncops.Op) bool {
	n := senders(p, op)
	starts := p.Ops.Started(op.Fn)
	if len(starts) == 1 && callgraph.InLoop(starts[0].Instr.Block()) && !madeInLoop(op, starts[0]) {
		return n == 1 && startedForEach(starts[0].Instr, capacity(op.Path.Root))
	}
	return room(op.Path.Root) >= n
}

// madeInLoop reports whether each round of the loop around a start makes a channel of its own.
func madeInLoop(op *syncops.Op, start callgraph.Site) bool {
	v, ok := op.Path.Root.(ssa.Instruction)
	return ok && v.Parent() == start.Instr.Parent() && callgraph.InLoop(v.Block())
}

// startedForEach reports whether the loop around a start goes as often as size says: both are len(xs), or one number,
// of which max(n, 0) is the room, as making a channel panics where it is negative.
func startedForEach(start ssa.Instruction, size ssa.Value) bool {
	room := lengthOf(size)
	if room != nil && grows(room) {
		return false
	}
	size, ok := notNegative(size)
	if !ok && room == nil {
		return false
	}
	for b := start.Block(); b != nil; b = b.Idom() {
		for _, instr := range b.Instrs {
			switch instr := instr.(type) {
			case *ssa.BinOp: // i < len(xs), i < n
				if instr.Op != token.LSS {
					continue
				}
				if room != nil && lengthOf(instr.Y) == room || isSameSize(instr.Y, size) && countsUp(instr.X) {
					return true
				}
			case *ssa.Next: // for range xs, a map
				if r, ok := instr.Iter.(*ssa.Range); ok && room != nil && r.X == room {
					return true
				}
			}
		}
	}
	return false
}

// notNegative returns n of max(n, 0), and else v itself. It reports whether v cannot be negative.
func notNegative(v ssa.Value) (n ssa.Value, ok bool) {
	if c, isConst := v.(*ssa.Const); isConst {
		return v, c.Value != nil && constant.Sign(c.Value) >= 0
	}
	if call := callOf("max", v); call != nil && len(call.Call.Args) == 2 {
		c, isConst := call.Call.Args[1].(*ssa.Const)
		return call.Call.Args[0], isConst && c.Value != nil && constant.Sign(c.Value) >= 0
	}
	t, isBasic := v.Type().Underlying().(*types.Basic)
	return v, isBasic && t.Info()&types.IsUnsigned != 0
}

// grows reports whether a map may have more elements later on than where its length was asked for: something is
// stored in it in its function, or it is handed on.
func grows(m ssa.Value) bool {
	if !isMap(m.Type()) || m.Referrers() == nil {
		return false
	}
	for _, ref := range *m.Referrers() {
		switch ref := ref.(type) {
		case *ssa.MapUpdate, *ssa.MakeClosure, *ssa.Store, *ssa.MakeInterface, *ssa.Go, *ssa.Defer:
			return true
		case *ssa.Call:
			if _, isBuiltin := ref.Call.Value.(*ssa.Builtin); !isBuiltin {
				return true
			}
		}
	}
	return false
}

// isSameSize reports whether two values are surely the same number: one constant, one value, or two loads of a captured
// local that is set once.
func isSameSize(a, b ssa.Value) bool {
	if a == b {
		return true
	}
	x, isConst := a.(*ssa.Const)
	y, areConst := b.(*ssa.Const)
	if isConst && areConst {
		return x.Value != nil && y.Value != nil && constant.Compare(x.Value, token.EQL, y.Value)
	}
	load, isLoad := a.(*ssa.UnOp)
	again, areLoads := b.(*ssa.UnOp)
	if !isLoad || !areLoads || load.X != again.X {
		return false
	}
	stored, known := storedIn(load.X)
	return known && len(stored) == 1
}

// setsCaptured reports whether a literal does anything but read a captured local.
func setsCaptured(closure *ssa.MakeClosure, cell ssa.Value) bool {
	fn := closure.Fn.(*ssa.Function)
	for i, v := range closure.Bindings {
		if v != cell {
			continue
		}
		for _, ref := range *fn.FreeVars[i].Referrers() {
			if load, ok := ref.(*ssa.UnOp); !ok || load.Op != token.MUL {
				return true
			}
		}
	}
	return false
}

// countsUp reports whether v counts the rounds of a loop from 0: i, or i+1 where i starts at -1 as range has it.
func countsUp(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Phi:
		return startsAndSteps(v.Edges, v, 0)
	case *ssa.BinOp:
		phi, ok := v.X.(*ssa.Phi)
		return ok && v.Op == token.ADD && isOne(v.Y) && startsAndSteps(phi.Edges, phi, -1)
	// a captured variable, one for each round
	case *ssa.UnOp:
		stored, ok := storedIn(v.X)
		return ok && startsAndSteps(stored, v.X, 0)
	}
	return false
}

// startsAndSteps reports whether the values are the first one, the counter itself, and one more than the counter, which
// is a value or what is loaded from the cells of one.
func startsAndSteps(values []ssa.Value, counter ssa.Value, first int64) bool {
	cells := cellsOf(counter)
	isCounter := func(v ssa.Value) bool {
		load, ok := v.(*ssa.UnOp)
		return v == counter || ok && (load.X == counter || slices.Contains(cells, load.X))
	}
	for _, v := range values {
		c, isConst := v.(*ssa.Const)
		step, isStep := v.(*ssa.BinOp)
		switch {
		case isConst && c.Value != nil && c.Int64() == first:
		case isCounter(v):
		case isStep && step.Op == token.ADD && isCounter(step.X) && isOne(step.Y):
		default:
			return false
		}
	}
	return true
}

// cellsOf returns the cells that an address may be that of: one, or one for each round of a loop.
func cellsOf(addr ssa.Value) []ssa.Value {
	if phi, ok := addr.(*ssa.Phi); ok {
		return phi.Edges
	}
	return []ssa.Value{addr}
}

// storedIn returns all that is stored in the cells of a local; false where one is not known to be only that.
func storedIn(addr ssa.Value) (stored []ssa.Value, ok bool) {
	cells := cellsOf(addr)
	if !slices.Contains(cells, addr) {
		cells = append(slices.Clone(cells), addr)
	}
	for _, v := range cells {
		_, isCell := v.(*ssa.Alloc)
		if _, isPhi := v.(*ssa.Phi); !isCell && !isPhi {
			return nil, false
		}
		for _, ref := range *v.Referrers() {
			switch ref := ref.(type) {
			case *ssa.Store:
				stored = append(stored, ref.Val)
			case *ssa.UnOp, *ssa.Phi:
			case *ssa.MakeClosure: // which may set it
				if setsCaptured(ref, v) {
					return nil, false
				}
			default:
				return nil, false
			}
		}
	}
	return stored, true
}

func isOne(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && c.Int64() == 1
}

// lengthOf returns xs for len(xs); nil for other values.
func lengthOf(v ssa.Value) ssa.Value {
	if call := callOf("len", v); call != nil {
		return call.Call.Args[0]
	}
	return nil
}

// callOf returns v where it is the result of a builtin function; nil where it is not.
func callOf(builtin string, v ssa.Value) *ssa.Call {
	call, ok := v.(*ssa.Call)
	if !ok {
		return nil
	}
	if b, ok := call.Call.Value.(*ssa.Builtin); !ok || b.Name() != builtin {
		return nil
	}
	return call
}

// capacity returns the size with which the channel in v is made; nil where it is not known.
func capacity(v ssa.Value) (size ssa.Value) {
	switch v := v.(type) {
	case *ssa.MakeChan:
		return v.Size
	case *ssa.ChangeType:
		return capacity(v.X)
	case *ssa.Alloc:
		// a captured local: the one value that is stored in it
		for _, ref := range *v.Referrers() {
			if st, ok := ref.(*ssa.Store); ok && st.Addr == v {
				size = capacity(st.Val)
			}
		}
	}
	return size
}

// senders counts the functions that send on the channel of op. One that may
// send twice counts as more than any channel has room for.
func senders(p *session.Package, op *syncops.Op) int64 {
	by := map[*ssa.Function]bool{}
	for _, other := range p.Ops.ByKey[op.Key] {
		if other.Mode != finding.Send {
			continue
		}
		by[other.Fn] = true
		for _, again := range p.Ops.ByKey[op.Key] {
			if again.Mode == finding.Send && again.Fn == other.Fn && p.IR.Flow(other.Fn).Leads(other.Instr, again.Instr) {
				return math.MaxInt64
			}
		}
	}
	return int64(len(by))
}

// room returns the capacity of the channel that v holds; 0 where it is not known.
func room(v ssa.Value) int64 {
	c, ok := capacity(v).(*ssa.Const)
	if !ok || c.Value == nil {
		return 0
	}
	n, _ := constant.Int64Val(c.Value)
	return n
}
