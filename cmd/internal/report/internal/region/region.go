// Package region finds, by the syntax of one file, which lines around an access lie between a Lock and its Unlock, so
// that a reader sees how far the lock reaches. It proves nothing: a lock that a caller has taken is not found, and
// neither is one that is released under another name.
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
	From, To int    // the lines of both; To is the end of the function where the Unlock is deferred
	Deferred bool
}

// Around returns the regions of a Go file that hold its line, outermost first. Text that is no Go has none.
func Around(source string, line int) []Region {
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, "", source, parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	body := innermost(fset, file, line)
	if body == nil {
		return nil
	}
	f := &function{fset: fset, line: line}
	f.read(body, true)
	return f.regions(fset.Position(body.End()).Line)
}

// innermost returns the body of the innermost function that holds the line.
func innermost(fset *token.FileSet, file *ast.File, line int) (body *ast.BlockStmt) {
	ast.Inspect(file, func(n ast.Node) bool {
		var b *ast.BlockStmt
		switch n := n.(type) {
		case *ast.FuncDecl:
			b = n.Body
		case *ast.FuncLit:
			b = n.Body
		}
		if b != nil && holds(fset, b, line) {
			body = b // an inner one comes later
		}
		return true
	})
	return body
}

// holds reports whether the line is one of n's.
func holds(fset *token.FileSet, n ast.Node, line int) bool {
	return fset.Position(n.Pos()).Line <= line && line <= fset.Position(n.End()).Line
}

// function is what one function does with locks.
type function struct {
	fset *token.FileSet
	line int // of the access
	ops  []operation
}

// operation is a call that locks or unlocks.
type operation struct {
	lock             string
	line             int
	unlock, deferred bool
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
	name := strings.TrimPrefix(method.Sel.Name, "R")
	if name != "Lock" && name != "Unlock" {
		return
	}
	f.ops = append(f.ops, operation{types.ExprString(method.X), f.fset.Position(call.Pos()).Line, name == "Unlock",
		deferred, enclosing})
}

// regions pairs the operations; end is the last line of the function.
func (f *function) regions(end int) (all []Region) {
	open := map[string]*Region{} // by lock: taken before the access, and not released before it
	for _, op := range f.ops {
		switch r := open[op.lock]; {
		case !op.enclosing:
		case op.line <= f.line && !op.unlock && !op.deferred:
			open[op.lock] = &Region{Lock: op.lock, From: op.line}
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
