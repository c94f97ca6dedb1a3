package source

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/syncapi"
)

// File is one file.
type File struct {
	Module      *Module
	Package     *Package
	Path        string // slash path relative to the module's root
	Source      []byte
	Syntax      *ast.File
	Test        bool
	Parents     map[ast.Node]ast.Node
	singleValue map[types.Object]ast.Expr // locals assigned exactly once, with the value
}

// atomicFunc names the function of sync/atomic that call calls; "" if none.
func (file *File) atomicFunc(call *ast.CallExpr) string {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		f, _ := file.Package.Info.Uses[sel.Sel].(*types.Func)
		if syncapi.Atomic(f) != "" && f.Signature().Recv() == nil {
			return f.Name()
		}
	}
	return ""
}

// Indent is the white space that the line of p starts with.
func (file *File) Indent(p token.Pos) string {
	off := file.Offset(p)
	start := bytes.LastIndexByte(file.Source[:off], '\n') + 1
	end := start
	for end < off && (file.Source[end] == ' ' || file.Source[end] == '\t') {
		end++
	}
	return string(file.Source[start:end])
}

// EndOfLine returns the end of p's line where only a line comment follows p,
// and p itself otherwise.
func (file *File) EndOfLine(p token.Pos) int {
	off := file.Offset(p)
	end := off + bytes.IndexByte(append(file.Source[off:len(file.Source):len(file.Source)], '\n'), '\n')
	rest := strings.TrimSpace(string(file.Source[off:end]))
	if strings.HasPrefix(rest, "//") {
		return off + len(strings.TrimRight(string(file.Source[off:end]), " \t\r"))
	}
	return off
}

// OwnLine reports whether nothing but white space stands before n.
func (file *File) OwnLine(n ast.Node) bool {
	off := file.Offset(n.Pos())
	start := bytes.LastIndexByte(file.Source[:off], '\n') + 1
	return strings.TrimSpace(string(file.Source[start:off])) == ""
}

func (file *File) newFunction(n ast.Node) *Function {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Body == nil {
			return nil
		}
		f := &Function{File: file, Node: n, Recv: n.Recv, Type: n.Type, Body: n.Body}
		if obj, ok := file.Package.Info.Defs[n.Name].(*types.Func); ok {
			f.Object = obj
			file.Module.Declared[obj.FullName()] = f
		}
		return f
	case *ast.FuncLit:
		return &Function{File: file, Node: n, Type: n.Type, Body: n.Body}
	}
	return nil
}

// Offset of a position in its file.
func (file *File) Offset(p token.Pos) int { return file.Module.Fset.PositionFor(p, false).Offset }

// Line returns the line of p in its file, from 1.
func (file *File) Line(p token.Pos) int { return file.Module.Fset.PositionFor(p, false).Line }

// Text is the source of n.
func (file *File) Text(n ast.Node) string {
	return string(file.Source[file.Offset(n.Pos()):file.Offset(n.End())])
}

// At returns where n is, as reasons name it: "path:line".
func (file *File) At(n ast.Node) string { return fmt.Sprintf("%s:%d", file.Path, file.Line(n.Pos())) }

// pos turns a 1-based line and byte column into a position of the file.
func (file *File) pos(line, column int) (token.Pos, error) {
	f := file.Module.Fset.File(file.Syntax.FileStart)
	if line < 1 || line > f.LineCount() {
		return 0, errors.New("line out of the file")
	}
	p := f.LineStart(line) + token.Pos(max(column, 1)-1)
	if p > file.Syntax.FileEnd {
		return 0, errors.New("column out of the file")
	}
	return p, nil
}

// NodesAt returns the nodes around a position of the file, innermost first; none if there is no such place.
func (file *File) NodesAt(p finding.Position) []ast.Node {
	pos, err := file.pos(p.Line, p.Column)
	if err != nil {
		return nil
	}
	path, _ := astutil.PathEnclosingInterval(file.Syntax, pos, pos)
	return path
}

// FunctionOf returns the innermost function around n, or nil at package level.
func (file *File) FunctionOf(n ast.Node) *Function {
	for n = file.Parents[n]; n != nil; n = file.Parents[n] {
		if f := file.Module.functions[n]; f != nil {
			return f
		}
	}
	return nil
}

// Callee returns the declared function of the module that call certainly calls.
func (file *File) Callee(call *ast.CallExpr) *Function {
	if f := typeutil.StaticCallee(file.Package.Info, call); f != nil {
		return file.Module.Declared[f.Origin().FullName()]
	}
	return nil
}

func (file *File) index() {
	file.Parents = map[ast.Node]ast.Node{}
	var stack []ast.Node
	var within []*Function
	ast.Inspect(file.Syntax, func(n ast.Node) bool {
		if n == nil {
			if _, ok := file.Module.functions[stack[len(stack)-1]]; ok {
				within = within[:len(within)-1]
			}
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			file.Parents[n] = stack[len(stack)-1]
		}
		stack = append(stack, n)
		if f := file.newFunction(n); f != nil {
			if len(within) > 0 {
				f.Outer = within[len(within)-1]
			}
			within = append(within, f)
			file.Module.functions[n] = f
		}
		return true
	})
	file.singleValue = singleAssigned(file)
}

// StmtOf is the statement in a list that e belongs to.
func (file *File) StmtOf(e ast.Node) ast.Stmt {
	for n := e; n != nil; n = file.Parents[n] {
		s, ok := n.(ast.Stmt)
		if !ok {
			continue
		}
		switch file.Parents[n].(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.LabeledStmt:
			return s
		}
	}
	return nil
}

// SimpleAround returns the statement that e belongs to, of those without statements in them; nil if there is none.
func (file *File) SimpleAround(e ast.Node) ast.Node {
	for n := file.Parents[e]; n != nil; n = file.Parents[n] {
		switch n.(type) {
		case *ast.AssignStmt, *ast.IncDecStmt, *ast.ExprStmt, *ast.ReturnStmt, *ast.SendStmt, *ast.DeclStmt, *ast.GoStmt,
			*ast.DeferStmt:
			return n
		case ast.Stmt:
			return nil
		}
	}
	return nil
}

// ListOf is the statement list that holds s.
func ListOf(file *File, s ast.Stmt) []ast.Stmt {
	switch p := file.Parents[s].(type) {
	case *ast.BlockStmt:
		return p.List
	case *ast.CaseClause:
		return p.Body
	case *ast.CommClause:
		return p.Body
	}
	return nil
}

// VariableOf returns the variable that e denotes, and the whole expression: the
// selector where e is its last identifier.
func (file *File) VariableOf(e ast.Expr) (ast.Expr, *types.Var) {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		if obj, ok := file.Package.Info.Uses[e.Sel].(*types.Var); ok {
			return e, obj
		}
	case *ast.Ident:
		if sel, ok := file.Parents[e].(*ast.SelectorExpr); ok && sel.Sel == e {
			return file.VariableOf(sel)
		}
		if obj, ok := file.Package.Info.ObjectOf(e).(*types.Var); ok {
			return e, obj
		}
	}
	return nil, nil
}

// NameOf returns the identifier that names what e denotes: that of a selector, and of the list or function
// whose element or result it is.
func NameOf(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return NameOf(e.X)
	case *ast.CallExpr:
		return NameOf(e.Fun)
	case *ast.ParenExpr:
		return NameOf(e.X)
	case *ast.StarExpr:
		return NameOf(e.X)
	case *ast.TypeAssertExpr:
		return NameOf(e.X)
	}
	return &ast.Ident{NamePos: e.Pos(), Name: "_"}
}

// Leftmost lists e's operands that start where e does.
func Leftmost(e ast.Expr) []ast.Expr {
	var out []ast.Expr
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.CallExpr:
			e = x.Fun
		case *ast.SliceExpr:
			e = x.X
		default:
			return out
		}
		out = append(out, e)
	}
}

// TypeOf returns the type of an expression; nil if it has none.
func (file *File) TypeOf(e ast.Expr) types.Type { return file.Package.Info.TypeOf(e) }

// IsWithin reports whether a node of its function around n is one for which is holds.
func (f *File) IsWithin(n ast.Node, is func(ast.Node) bool) bool {
	for n = f.Parents[n]; n != nil; n = f.Parents[n] {
		switch n.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return false
		}
		if is(n) {
			return true
		}
	}
	return false
}

// IsLoop reports whether a node is a loop.
func IsLoop(n ast.Node) bool {
	switch n.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}
