// Package source holds a file that is being rewritten: its syntax and types, the accesses
// to monitor, and the edits so far. It knows where statements stand, and nothing of the
// meaning of the monitor's calls.
package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// Access is a monitored access of a file.
type Access struct {
	sites.Access
	ID          uint32
	Unmonitored plan.Reason // why it is not monitored after all, or ""
	// Placed: its statement has put the monitor's call where it belongs, so
	// that none goes around the expression.
	Placed bool
	Partly bool // a bulk access that does not come to all elements
	Used   bool // the monitor has been put there
	Kept   bool // a section begins or ends there
}

// IsBehind reports whether the access is not to Node itself but to the map, element or variable that it refers to.
func (a *Access) IsBehind() bool { return a.Map() || a.Site.Behind || a.Pointer }

// IsClose reports whether the access closes a channel.
func (a *Access) IsClose() bool { return a.Site.Variable.Kind == plan.KindChannel && a.Writes() }

// Writes reports whether the access writes.
func (a *Access) Writes() bool {
	return a.Site.Mode == plan.Write || a.Site.Mode == plan.AtomicWrite
}

// Why an access is not monitored.
const (
	// Conditional: it and a call after it stand where temporaries would be
	// evaluated although the original is not.
	Conditional plan.Reason = "call after the access in a part that is evaluated conditionally or repeatedly"
	// NoName: a temporary would need a type that has no name at that place.
	NoName plan.Reason = "temporary of a type that cannot be written here"
	// Repeated: the same location is read immediately before, and nothing calls,
	// receives or assigns in between, so that one window serves both.
	Repeated plan.Reason = "same location read immediately before"
	// Order: several targets of one assignment depend on each other.
	Order plan.Reason = "order of evaluation cannot be kept"
	// Later: the access is made by a deferred or started builtin.
	Later plan.Reason = "access made later by a deferred builtin"
	// RangeClause: the range clause assigns it.
	RangeClause plan.Reason = "assigned by a range clause"
	// Comparable: below Go 1.20 the key type is no argument for comparable.
	Comparable plan.Reason = "map key type is not strictly comparable below Go 1.20"
)

// File is a file that is being rewritten.
type File struct {
	Pkg      *sites.Package
	Info     *types.Info
	Syntax   *ast.File
	Name     string
	Src      []byte
	Accesses []*Access
	Prefix   string // of names that the file does not use
	Edits    textedit.Buffer

	tokens *token.File
	around map[ast.Node]ast.Node // the node around each; made when it is asked for
	temps  int
}

// New returns the file f of p. It is an error if its contents are missing.
func New(p *sites.Package, f *ast.File, accesses []*Access) (*File, error) {
	r := &File{Pkg: p, Info: p.Info, Syntax: f, Accesses: accesses, tokens: p.Fset.File(f.FileStart), Prefix: "_il"}
	r.Name = r.tokens.Name()
	src, ok := p.Src[r.Name]
	if !ok || len(src) != r.tokens.Size() {
		return nil, fmt.Errorf("rewriting %s: its contents, as parsed, are missing", r.Name)
	}
	r.Src = src
	for strings.Contains(string(src), r.Prefix) {
		r.Prefix += "x"
	}
	r.Edits = textedit.Buffer{Src: src, Position: r.position}
	return r, nil
}

// position of an offset, for line directives.
func (r *File) position(offset int) textedit.Place {
	pos := r.tokens.Pos(offset)
	stated := r.Pkg.Fset.PositionFor(pos, true)
	return textedit.Place{Line: r.tokens.Line(pos), StatedLine: stated.Line, StatedColumn: max(stated.Column, 1)}
}

// Offset returns that of a position in the text.
func (r *File) Offset(pos token.Pos) int { return r.tokens.Offset(pos) }

// Line returns that of a position in the text, whatever line directives say.
func (r *File) Line(pos token.Pos) int { return r.tokens.Line(pos) }

// Wrap puts pre and post around [lo, hi).
func (r *File) Wrap(lo, hi token.Pos, rank int, pre, post []textedit.Piece) {
	r.Edits.Wrap(r.Offset(lo), r.Offset(hi), rank, pre, post)
}

// Cut takes n out of the text and puts with in its place.
func (r *File) Cut(n ast.Node, with ...textedit.Piece) *textedit.Edit {
	return r.Edits.Replace(r.Offset(n.Pos()), r.Offset(n.End()), textedit.RankCut, with...)
}

// CutWhole takes n, in which other edits may cut the whole of n, out of the text.
func (r *File) CutWhole(n ast.Node) *textedit.Edit {
	return r.Edits.Replace(r.Offset(n.Pos()), r.Offset(n.End()), textedit.RankStmt)
}

// Original returns [lo, hi) as it was.
func (r *File) Original(lo, hi token.Pos) textedit.Piece {
	return textedit.Piece{Lo: r.Offset(lo), Hi: r.Offset(hi)}
}

// TextOf returns e as it was.
func (r *File) TextOf(e ast.Expr) textedit.Piece { return r.Original(e.Pos(), e.End()) }

// NewTemp returns a name that the file does not use.
func (r *File) NewTemp() string {
	r.temps++
	return fmt.Sprint(r.Prefix, r.temps)
}

// Around returns the node directly around n, or nil.
func (r *File) Around(n ast.Node) ast.Node {
	if r.around == nil {
		r.around = map[ast.Node]ast.Node{}
		ast.PreorderStack(r.Syntax, nil, func(n ast.Node, stack []ast.Node) bool {
			if len(stack) > 0 {
				r.around[n] = stack[len(stack)-1]
			}
			return true
		})
	}
	return r.around[n]
}

// Up returns the node around e that is no parenthesis.
func (r *File) Up(e ast.Node) ast.Node {
	n := r.Around(e)
	for {
		p, ok := n.(*ast.ParenExpr)
		if !ok {
			return n
		}
		n = r.Around(p)
	}
}

// Function is a declared function or a literal.
type Function struct {
	Body    *ast.BlockStmt
	Results *ast.FieldList // nil if there are none
}

// Enclosing returns the function around n; its body is nil if there is none.
func (r *File) Enclosing(n ast.Node) Function {
	for ; n != nil; n = r.Around(n) {
		switch n := n.(type) {
		case *ast.FuncLit:
			return Function{n.Body, n.Type.Results}
		case *ast.FuncDecl:
			return Function{n.Body, n.Type.Results}
		}
	}
	return Function{}
}

// Statement returns the statement of a list that n is in, or nil.
func (r *File) Statement(n ast.Node) ast.Stmt {
	for ; n != nil; n = r.Around(n) {
		if s, ok := n.(ast.Stmt); ok && r.ListOf(s) != nil {
			return s
		}
	}
	return nil
}

// ListOf returns the list of statements that s is one of, or nil.
func (r *File) ListOf(s ast.Stmt) []ast.Stmt {
	switch s.(type) {
	case *ast.CaseClause, *ast.CommClause:
		return nil
	}
	switch up := r.Around(s).(type) {
	case *ast.BlockStmt:
		return up.List
	case *ast.CaseClause:
		return up.Body
	case *ast.CommClause:
		if up.Comm != s {
			return up.Body
		}
	}
	return nil
}

// CallAt returns the call expression at the place, or nil.
func (r *File) CallAt(at *plan.Place) (found *ast.CallExpr) {
	ast.Inspect(r.Syntax, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if ok && found == nil {
			from, to := r.Pkg.Fset.PositionFor(c.Pos(), false), r.Pkg.Fset.PositionFor(c.End(), false)
			if (plan.Place{Line: from.Line, Column: from.Column, EndLine: to.Line, EndCol: to.Column}) == *at {
				found = c
			}
		}
		return found == nil
	})
	return found
}

// IsPure reports whether e may be evaluated twice: it is made of names, constants,
// fields and simple operations.
func (r *File) IsPure(e ast.Expr) bool {
	if r.Info.Types[e].Value != nil {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		sel := r.Info.Selections[e]
		return sel == nil || sel.Kind() == types.FieldVal && r.IsPure(e.X)
	case *ast.StarExpr:
		return r.IsPure(e.X)
	case *ast.BinaryExpr:
		simple := slices.Contains([]token.Token{token.ADD, token.SUB, token.MUL}, e.Op)
		return simple && r.IsPure(e.X) && r.IsPure(e.Y)
	case *ast.CallExpr:
		switch sites.Builtin(r.Info, e.Fun) {
		case "len", "cap":
			return r.IsPure(e.Args[0])
		}
		return r.Info.Types[e.Fun].IsType() && r.IsPure(e.Args[0])
	}
	return false
}
