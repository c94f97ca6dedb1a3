// Package region finds, by the syntax of one file, which lines around an access lie between a Lock and its Unlock, so
// that a reader sees how far the lock reaches, and which function literal a line stands in. It proves nothing: a lock
// that a caller has taken is not found, and neither is one that is released under another name.
package region

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Region is the lines from a Lock to its Unlock.
type Region struct {
	Lock     string // as the source names it, such as s.mu
	Read     bool   // its read side
	From, To int    // the lines of both; To is the end of the function where the Unlock is deferred
	Deferred bool
}

// File is a Go file, of which all that could be parsed counts. Text that is no Go has no functions.
type File struct {
	fset *token.FileSet
	file *ast.File
}

// Parse parses the text of a file.
func Parse(source string) *File {
	f := &File{fset: token.NewFileSet()}
	f.file, _ = parser.ParseFile(f.fset, "", source, parser.SkipObjectResolution)
	return f
}

// Around returns the regions that hold a line, outermost first.
func (f *File) Around(line int) []Region {
	body, _ := f.innermost(line)
	if body == nil {
		return nil
	}
	in := &function{fset: f.fset, line: line}
	in.read(body, true)
	return in.regions(f.fset.Position(body.End()).Line)
}

// Literal returns where the function literal that a line stands in begins, or 0 where its innermost function is a
// declared one.
func (f *File) Literal(line int) token.Pos {
	if body, isLiteral := f.innermost(line); isLiteral {
		return body.Pos()
	}
	return token.NoPos
}

// Starter is Literal for the line of a go statement, which does not stand in the literal that it starts.
func (f *File) Starter(line int) token.Pos {
	if body, isLiteral := f.innermostOf(line, func(literal *ast.BlockStmt) bool {
		return f.fset.Position(literal.Pos()).Line < line
	}); isLiteral {
		return body.Pos()
	}
	return token.NoPos
}

// innermost returns the body of the innermost function that holds the line, and whether that is a literal. The line on
// which a literal of several lines begins is one of the function around it, which calls it or hands it on:
//
//	t.once.Do(func() {
//		t.now++
//	})
func (f *File) innermost(line int) (body *ast.BlockStmt, isLiteral bool) {
	return f.innermostOf(line, func(literal *ast.BlockStmt) bool {
		first, last := f.fset.Position(literal.Pos()).Line, f.fset.Position(literal.End()).Line
		return first < line || first == last
	})
}

// innermostOf is innermost among declared functions and the literals chosen.
func (f *File) innermostOf(line int, chosen func(*ast.BlockStmt) bool) (body *ast.BlockStmt, isLiteral bool) {
	if f.file == nil {
		return nil, false
	}
	ast.Inspect(f.file, func(n ast.Node) bool {
		var b *ast.BlockStmt
		literal := false
		switch n := n.(type) {
		case *ast.FuncDecl:
			b = n.Body
		case *ast.FuncLit:
			b, literal = n.Body, true
		}
		if b != nil && holds(f.fset, b, line) && (!literal || chosen(b)) {
			body, isLiteral = b, literal // an inner one comes later
		}
		return true
	})
	return body, isLiteral
}

// holds reports whether the line is one of n's.
func holds(fset *token.FileSet, n ast.Node, line int) bool {
	return fset.Position(n.Pos()).Line <= line && line <= fset.Position(n.End()).Line
}

// function has the lock operations of one function.
type function struct {
	fset *token.FileSet
	line int // of the access
	ops  []operation
}

// operation is a call that locks or unlocks.
type operation struct {
	lock                   string
	line                   int
	unlock, read, deferred bool
	// enclosing: it stands in a block that holds the access too, and not in a branch that may be left before.
	enclosing bool
}

// read collects the operations of a block, without those of functions inside it.
func (f *function) read(n ast.Node, enclosing bool) {
	ast.Inspect(n, func(inner ast.Node) bool {
		switch inner := inner.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			if inner != n {
				f.read(inner, enclosing && holds(f.fset, inner, f.line))
				return false
			}
		case *ast.DeferStmt:
			f.add(inner.Call, enclosing, true)
			return false
		case *ast.ExprStmt:
			if call, ok := inner.X.(*ast.CallExpr); ok {
				f.add(call, enclosing, false)
			}
		}
		return true
	})
}

// add adds a call of a method that locks or unlocks.
//
//	s.mu.Lock()    defer s.mu.RUnlock()
func (f *function) add(call *ast.CallExpr, enclosing, deferred bool) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) > 0 {
		return
	}
	name, read := strings.CutPrefix(method.Sel.Name, "R")
	if name != "Lock" && name != "Unlock" {
		return
	}
	f.ops = append(f.ops, operation{types.ExprString(method.X), f.fset.Position(call.Pos()).Line, name == "Unlock",
		read, deferred, enclosing})
}

// regions pairs the operations; end is the last line of the function.
func (f *function) regions(end int) (all []Region) {
	open := map[string]*Region{} // by lock: taken before the access, and not released before it
	for _, op := range f.ops {
		switch r := open[op.lock]; {
		case !op.enclosing:
		case op.line <= f.line && !op.unlock && !op.deferred:
			open[op.lock] = &Region{Lock: op.lock, Read: op.read, From: op.line}
		case r == nil || !op.unlock:
		case op.deferred:
			r.To, r.Deferred = end, true
		case op.line < f.line:
			delete(open, op.lock)
		case r.To == 0:
			r.To = op.line
		}
	}
	for _, r := range open {
		if r.To > 0 {
			all = append(all, *r)
		}
	}
	slices.SortFunc(all, func(a, b Region) int { return a.From - b.From })
	return all
}
