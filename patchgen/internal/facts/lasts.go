package facts

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// Lasting returns what n does that lasts: beyond the locals of its function and what is made there, so that code which
// runs later may have to undo it, and a second time does more than the first. "" if there is nothing.
//
//	v := build(key)		nothing, if build only makes what it returns
//	s.pending++		changes s.pending
//	s.tokens <- true	sends on a channel
//	conn := dial(addr)	calls net.Dial, of which it is not known
func (f *Facts) Lasting(file *source.File, n ast.Node) string {
	if n == nil {
		return ""
	}
	fn := f.functionAround(file, n)
	if fn == nil {
		return notAnalysed
	}
	for instr := range evaluates(fn, n.Pos(), n.End()) {
		if _, isDefer := instr.(*ssa.Defer); isDefer {
			return "defers a call"
		}
		if why := f.lasts.Does(instr); why != "" {
			return why
		}
	}
	return ""
}

// Lasts is Lasting for one instruction.
func (f *Facts) Lasts(instr ssa.Instruction) string { return f.lasts.Does(instr) }

func (f *Facts) lookLasts(instr ssa.Instruction) (why string, calls []*ssa.Function) {
	if why := Waiting(instr); why != "" {
		return why, nil
	}
	switch instr := instr.(type) {
	case *ssa.Select: // which does not wait
		return "selects on channels", nil
	case *ssa.Go:
		return "starts a goroutine", nil
	case *ssa.Store:
		if !isOwn(instr.Addr) {
			return "changes " + f.textAt(instr, instr.Pos()), nil
		}
	case *ssa.MapUpdate:
		if !isOwn(instr.Map) {
			return "changes " + f.textAt(instr, instr.Pos()), nil
		}
	case ssa.CallInstruction:
		return f.lastingCall(instr)
	}
	return "", nil
}

// textAt returns the expression of an instruction at a position, as the source has it.
func (f *Facts) textAt(instr ssa.Instruction, pos token.Pos) string {
	if e, ok := f.Of(instr.Parent()).IR.Node(pos).(ast.Expr); ok {
		return ir.Text(e)
	}
	return "what others may have"
}

// isOwn reports whether an address, map or slice leads to a local variable, or to what the function around it has made.
// What that refers to may be anybody's.
func isOwn(v ssa.Value) bool {
	switch v := ir.Root(v, ir.Field|ir.Element|ir.Piece).(type) {
	case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice:
		return true
	case *ssa.FreeVar:
		return isOwn(accesspath.Binding(v))
	case *ssa.UnOp: // a local that a literal captures, or of which the address is taken
		if cell, ok := accesspath.Cell(v.X); ok && v.Op == token.MUL {
			return isOwn(cell)
		}
	}
	return false
}

// lastingCall judges a call, its operands apart.
func (f *Facts) lastingCall(call ssa.CallInstruction) (why string, calls []*ssa.Function) {
	common := call.Common()
	if builtin, ok := common.Value.(*ssa.Builtin); ok {
		switch name := builtin.Name(); name {
		case "close", "delete", "clear", "copy", "recover", "print", "println":
			return "calls " + name, nil
		}
		return "", nil
	}
	fn, args := callgraph.Target(common)
	switch {
	case fn == nil:
		return f.dynamic(call)
	case f.Calls.Body(fn) != nil:
		return "", []*ssa.Function{f.Calls.Body(fn)}
	}
	if obj, ok := fn.Object().(*types.Func); !ok || !leavesNothing(obj) {
		return fmt.Sprintf("calls %s, which may do anything", f.CallText(call)), nil
	}
	return f.library(call, fn, args)
}

// leavesNothing judges a function outside of the module: it must be known to do no I/O, to change no state, and to
// leave its arguments as they are.
func leavesNothing(fn *types.Func) bool {
	if fn.Pkg() == nil || callgraph.Lasts(fn) || !callgraph.NeverWaits(fn) {
		return false
	}
	args := fn.Signature().Params().Len()
	if fn.Signature().Recv() != nil {
		args++
	}
	for i := range args {
		if writes, known := callgraph.LibraryWrites(fn, i); writes || !known {
			return false
		}
	}
	return true
}
