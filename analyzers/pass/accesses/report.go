package accesses

import (
	"fmt"
	"go/token"
	"path/filepath"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Variable returns the variable of a as findings name it.
func (a *Access) Variable() finding.Variable {
	v := variable(a.Name)
	switch {
	case a.Map:
		v.Kind = "map"
	case a.Elements:
		v.Kind = "element"
	case len(a.Inner) > 0:
		v.Kind = "deref"
	}
	return v
}

// variable returns the variable itself, not the map in it.
func variable(n accesspath.Name) finding.Variable {
	kind := "field"
	if n.Type == "" {
		kind = "global"
	}
	return finding.Variable{Package: n.Package, Type: n.Type, Name: n.Field, Kind: kind}
}

// Side returns a as one side of a finding. File names are as the driver gave
// them; the driver that gathers the findings makes them relative.
func (l *List) Side(a *Access) finding.Access {
	side := finding.Access{
		Position: Position(l.Prog.Fset(), a.Expr.Pos(), a.Expr.End()),
		Package:  l.Prog.Pkg.Pkg.Path(),
		Function: l.Prog.FuncName(a.Fn),
		Expr:     ir.Text(a.Expr),
		Mode:     a.Mode,
		Role:     l.roleOf(a),
	}
	for _, h := range a.Locks.Held() {
		side.Locks = append(side.Locks, h.String())
	}
	return side
}

// Position returns the range in the file that people write ([ir.Position]).
func Position(fset *token.FileSet, from, to token.Pos) finding.Position {
	start, end := ir.Position(fset, from), ir.Position(fset, to)
	return finding.Position{
		File: start.Filename, Line: start.Line, Column: start.Column,
		EndLine: end.Line, EndColumn: end.Column,
	}
}

// roleOf returns the goroutine that runs the access, as far as that is one.
func (l *List) roleOf(a *Access) string {
	r := l.Graph.Roles(a.Fn)
	switch {
	case r.API:
		return "any goroutine may call it"
	case len(r.Goroutines) > 0:
		return "goroutine started at " + l.shortRole(r.Goroutines[0])
	case r.Main:
		return "main goroutine"
	}
	return ""
}

func (l *List) shortRole(g *callgraph.Goroutine) string {
	p := ir.Position(l.Prog.Fset(), g.Pos())
	return fmt.Sprintf("%s:%d", filepath.Base(p.Filename), p.Line)
}

// Where returns "file:line" of a, without the directory.
func (l *List) Where(a *Access) string {
	p := ir.Position(l.Prog.Fset(), a.Expr.Pos())
	return fmt.Sprintf("%s:%d", filepath.Base(p.Filename), p.Line)
}
