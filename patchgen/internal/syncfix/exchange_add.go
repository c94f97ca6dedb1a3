package syncfix

import (
	"fmt"
	"go/ast"
	"go/constant"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// reserve makes one step of a test of a counter that leaves the function, and the addition behind it. Unlike an
// addition that is taken back, this shows nobody a number above the limit:
//
//	if p.running.Load() >= p.max {		for {
//		return errFull				n := p.running.Load()
//	}				->		if n >= p.max {
//	p.running.Add(1)					return errFull
//							}
//							if p.running.CompareAndSwap(n, n+1) {
//								break
//							}
//						}
func reserve(edits *edit.Edits, load, add *atomicCall) error {
	file := load.file
	if load.via != nil || add.via != nil {
		return fmt.Errorf("%s: the test or the addition is made by a callee", file.At(load.at))
	}
	if err := isOneTarget(load, add); err != nil {
		return err
	}
	test, _ := file.StmtOf(load.at).(*ast.IfStmt)
	stmt, _ := file.Parents[add.at].(*ast.ExprStmt)
	list := source.ListOf(file, stmt)
	at := slices.Index(list, ast.Stmt(stmt))
	switch {
	case test == nil || stmt == nil || at < 1 || list[at-1] != ast.Stmt(test):
		return fmt.Errorf("%s: the addition does not follow a test that leaves the function", file.At(add.at))
	case test.Init != nil || test.Else != nil || !returnsOnly(test.Body):
		return fmt.Errorf("%s: the test does more than leaving the function", file.At(test))
	case load.at.Pos() < test.Cond.Pos() || test.Cond.End() < load.at.End():
		return fmt.Errorf("%s: the test does not ask for the counter", file.At(test))
	}
	next, err := add.sum()
	if err != nil {
		return err
	}
	return load.loop(edits, test, stmt, next)
}

// returnsOnly reports whether a block ends with a return and nothing in it leads elsewhere.
func returnsOnly(block *ast.BlockStmt) bool {
	if len(block.List) == 0 {
		return false
	}
	_, ok := block.List[len(block.List)-1].(*ast.ReturnStmt)
	ast.Inspect(block, func(n ast.Node) bool {
		if _, isBranch := n.(*ast.BranchStmt); isBranch {
			ok = false
		}
		return ok
	})
	return ok
}

// sum writes the counter after the addition of a constant, with a NUL for its value before.
func (a *atomicCall) sum() (string, error) {
	delta, text, err := a.operand()
	if err != nil {
		return "", err
	}
	if delta == nil || delta.Kind() != constant.Int || strings.ContainsAny(text, "^ ") {
		return "", fmt.Errorf("%s: what is added is no constant", a.file.At(a.at))
	}
	if rest, isNegative := strings.CutPrefix(text, "-"); isNegative {
		return "\x00-" + rest, nil
	}
	return "\x00+" + text, nil
}

// loop writes the test and the addition as a loop that tries until nobody came in between.
func (a *atomicCall) loop(edits *edit.Edits, test *ast.IfStmt, addition ast.Stmt, next string) error {
	file := a.file
	name := source.NewNames(file.FunctionOf(test)).Fresh("n")
	next = strings.Replace(next, "\x00", name, 1)
	swap, err := a.as("CompareAndSwap", name, next)
	if err != nil {
		return err
	}
	indent := file.Indent(test.Pos())
	from := file.Offset(a.at.Pos()) - file.Offset(test.Pos())
	text := file.Text(test)
	text = text[:from] + name + text[from+len(file.Text(a.at)):]
	text = strings.ReplaceAll(text, "\n"+indent, "\n")
	text = "for {\n" + name + " := " + file.Text(a.at) + "\n" + text + "\nif " + swap + " {\nbreak\n}\n}"
	edits.Replace(file, test, strings.TrimSuffix(edit.Lines(text, indent), "\n"+indent))
	edits.DeleteLine(file, addition)
	return nil
}
