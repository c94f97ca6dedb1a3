package ir

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// Leads agrees with a walk through the blocks, for every pair of instructions.
func TestLeads(t *testing.T) {
	for name, source := range map[string]string{
		"loops": "func f(n int) (s int) { for i := range n { for s < i { s += 2; if s == 7 { continue }; s++ } }; " +
			"return s }",
		"branches": "func f(n int) int { switch { case n > 1: n++; case n > 2: return 2; default: n-- }; if n > 3 { " +
			"panic(n) }; return n }",
		"jumps": "func f(n int) int {\nagain:\n\tn++\n\tif n < 3 { goto again }\n\tfor { if n > 9 { break }; n += n " +
			"}\n\treturn n\n}",
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "p.go", "package p\n\n"+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		pkg, _, err := ssautil.BuildPackage(&types.Config{}, fset, types.NewPackage("p", "p"), []*ast.File{file},
			ssa.BuilderMode(0))
		if err != nil {
			t.Fatal(err)
		}
		fn := pkg.Func("f")
		flow := newFlow(fn)
		for _, from := range instrs(fn) {
			reached := walked(from)
			for _, to := range instrs(fn) {
				if got := flow.Leads(from, to); got != reached[to] {
					t.Errorf("%s: from %v in block %d to %v in block %d: %v", name, from, from.Block().Index, to, to.Block().Index,
						got)
				}
			}
		}
	}
}

func instrs(fn *ssa.Function) (all []ssa.Instruction) {
	for _, b := range fn.Blocks {
		all = append(all, b.Instrs...)
	}
	return all
}

// walked returns what control may come to after from.
func walked(from ssa.Instruction) map[ssa.Instruction]bool {
	reached, seen := map[ssa.Instruction]bool{}, map[*ssa.BasicBlock]bool{}
	after := false
	for _, instr := range from.Block().Instrs {
		if after {
			reached[instr] = true
		}
		after = after || instr == from
	}
	var walk func(b *ssa.BasicBlock)
	walk = func(b *ssa.BasicBlock) {
		for _, s := range b.Succs {
			if !seen[s] {
				seen[s] = true
				for _, instr := range s.Instrs {
					reached[instr] = true
				}
				walk(s)
			}
		}
	}
	walk(from.Block())
	return reached
}
