package check

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Lock returns the lock of a class as findings name it; path is its name in fn,
// for locks without a class.
func Lock(prog *ir.Program, fn *ssa.Function, class, path string) finding.Variable {
	v := finding.Variable{Package: prog.Pkg.Pkg.Path(), Kind: "lock"}
	if class == "" {
		v.Function, v.Name = prog.FuncName(fn), path
		return v
	}
	rest, own := strings.CutPrefix(class, v.Package+".")
	if !own {
		i := strings.LastIndexByte(class, '/') + 1
		pkg, after, _ := strings.Cut(class[i:], ".")
		v.Package, rest = class[:i]+pkg, after
	}
	if typ, name, ok := strings.Cut(rest, "."); ok {
		v.Type, v.Name = typ, name
	} else {
		v.Name = rest
	}
	return v
}

// ShortName returns Type.field of a variable, or the name alone.
func ShortName(v finding.Variable) string {
	if v.Type != "" {
		return v.Type + "." + v.Name
	}
	return v.Name
}

// Side returns instruction instr of fn as one side of a finding about synchronisation; its Expr is the
// expression in the source, if that is known, else text. The first side of a finding is the operation that is
// wrong, with the locks that are held there (Locks); the second is where the lock was taken, or the operation
// that the first one meets, without locks. [Reporter.ReportAt] may add further places of the function, which
// strategies of patches tell apart by that.
func Side(prog *ir.Program, fn *ssa.Function, instr ssa.Instruction, mode finding.Mode, text string) finding.Access {
	return SideAt(prog, fn, instr.Pos(), mode, text)
}

// SideAt is Side for the code at pos; without a position it is the end of fn.
func SideAt(prog *ir.Program, fn *ssa.Function, pos token.Pos, mode finding.Mode, text string) finding.Access {
	if e, ok := prog.Node(pos).(ast.Expr); ok {
		text = ir.Text(e)
	}
	pos, end := prog.Span(pos)
	if pos == token.NoPos { // the return at the end of a function
		pos = fn.Syntax().End() - 1
		end = pos
	}
	return finding.Access{
		Position: accesses.Position(prog.Fset(), pos, end),
		Package:  prog.Pkg.Pkg.Path(),
		Function: prog.FuncName(fn),
		Expr:     text,
		Mode:     mode,
	}
}

// startOf returns where the expression begins that the operation at pos is.
func startOf(prog *ir.Program, pos token.Pos) token.Pos {
	from, _ := prog.Span(pos)
	return from
}

// LockMode returns the mode of taking a lock.
func LockMode(read bool) finding.Mode {
	if read {
		return finding.ReadLock
	}
	return finding.Lock
}
