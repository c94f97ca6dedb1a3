// Package passtest tests the data of a shared pass: the facts that a pass has of a line of a fixture are
// printed, and compared with the comment at the end of the line.
//
//	t.n++ // = holds t.mu
//
// Passes without diagnostics have no `// want`; a check that reads them shows only whether something is
// reported in the end, not which pass lost a fact.
package passtest

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Line is a marked line of a fixture.
type Line struct {
	Prog *ir.Program
	Fn   *ssa.Function // the outermost function that has instructions there, or the one that is declared there
	// Instrs are those of Fn in the line, in the order of the blocks.
	Instrs []ssa.Instruction

	number int
	file   string
	pass   *analysis.Pass
}

// Has reports whether pos lies on the line.
func (l *Line) Has(pos token.Pos) bool {
	at := l.Prog.Fset().Position(pos)
	return at.Line == l.number && at.Filename == l.file
}

// Result returns the result of pass a in the package of the line; a is the tested pass.
func Result[T any](l *Line, a *analysis.Analyzer) T { return l.pass.ResultOf[a].(T) }

// Run analyses folders of testdata/src with a, and compares each line that ends in a comment "// = text" with
// the result of print for it.
func Run(t *testing.T, a *analysis.Analyzer, print func(*Line) string, folders ...string) {
	t.Helper()
	probe := &analysis.Analyzer{
		Name:     "passtest",
		Doc:      "keep the results of the tested pass",
		Requires: []*analysis.Analyzer{a, ir.Analyzer},
		Run:      func(*analysis.Pass) (any, error) { return nil, nil },
	}
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			marked := 0
			for _, r := range analysistest.Run(t, analysistest.TestData(), probe, folder) {
				for _, f := range r.Pass.Files {
					for line, want := range markedLines(r.Pass.Fset, f) {
						marked++
						line.Prog, line.pass = r.Pass.ResultOf[ir.Analyzer].(*ir.Program), r.Pass
						line.findCode()
						if got := print(line); got != want {
							t.Errorf("%s:%d: %q, want %q", line.file, line.number, got, want)
						}
					}
				}
			}
			if marked == 0 {
				t.Errorf("no line of %s is marked", folder)
			}
		})
	}
}

// markedLines returns the marked lines of f, and the expected text of each.
func markedLines(fset *token.FileSet, f *ast.File) map[*Line]string {
	found := map[*Line]string{}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if text, ok := strings.CutPrefix(c.Text, "// ="); ok {
				at := fset.Position(c.Pos())
				found[&Line{number: at.Line, file: at.Filename}] = strings.TrimSpace(text)
			}
		}
	}
	return found
}

// findCode finds the function and the instructions of the line.
func (l *Line) findCode() {
	for _, fn := range l.Prog.Funcs {
		if l.Has(fn.Pos()) && len(l.Instrs) == 0 {
			l.Fn = fn
		}
		for instr := range ir.Instructions(fn) {
			if _, ok := instr.(*ssa.DebugRef); !ok && l.Has(instr.Pos()) && (len(l.Instrs) == 0 || l.Fn == fn) {
				l.Fn, l.Instrs = fn, append(l.Instrs, instr)
			}
		}
	}
}
