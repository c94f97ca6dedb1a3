package deadlock

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/astutil"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/operation"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Use is a use of a lock in the source. As JSON it serves programs that read evidence without the source.
type Use struct {
	finding.Position         // where it begins
	Package, Function string // around it
	First, Last       int    // lines of that function; 0 where they are not known
	Method            string // that is called, such as "RLock"
	Expr              string // the lock as the source names it, with the embedded fields that lead to it
	// Variable is the lock in all instances. Its text is the class of the lock, as static checks name it.
	Variable finding.Variable
}

// UsesIn returns the uses of locks in packages with their syntax, by their ids.
func UsesIn(pkgs []*sites.Package) map[uint64]Use {
	uses := map[uint64]Use{}
	for p, all := range sites.LockUses(pkgs) {
		for _, u := range all {
			first, last := linesAround(p, u)
			uses[u.ID] = Use{
				Position: finding.Position{File: u.Place.Filename, Line: u.Place.Line, Column: u.Place.Column},
				Package:  p.Path, Function: u.Function, First: first, Last: last, Method: u.Selector.Sel.Name,
				Expr: exprOf(u), Variable: variableOf(p, u),
			}
		}
	}
	return uses
}

// linesAround returns the first and the last line of the innermost function around a use; 0 where there is none.
func linesAround(in *sites.Package, u sites.LockUse) (first, last int) {
	path, _ := astutil.PathEnclosingInterval(u.File, u.Selector.Pos(), u.Selector.End())
	for _, n := range path {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return in.Fset.PositionFor(n.Pos(), false).Line, in.Fset.PositionFor(n.End(), false).Line
		}
	}
	return 0, 0
}

// has reports whether a frame of a stack is of the function around the use. The runtime writes [...] for type
// arguments, and names a function literal after the function that it was inlined into, so lines decide as well.
func (u Use) has(f finding.Frame) bool {
	return strings.HasSuffix(strings.ReplaceAll(f.Function, "[...]", ""), "."+u.Function) ||
		f.File == u.File && u.First <= f.Line && f.Line <= u.Last
}

// order is a key by which uses sort as the text has them.
func (u Use) order() string { return fmt.Sprintf("%s:%09d:%09d", u.File, u.Line, u.Column) }

func exprOf(u sites.LockUse) string {
	if u.Through == "" {
		return types.ExprString(u.Selector.X)
	}
	return types.ExprString(u.Selector.X) + "." + u.Through
}

func variableOf(in *sites.Package, u sites.LockUse) finding.Variable {
	if u.Through != "" {
		of := in.Info.TypeOf(u.Selector.X)
		if ptr, ok := types.Unalias(of).Underlying().(*types.Pointer); ok {
			of = ptr.Elem()
		}
		if n, ok := types.Unalias(of).(*types.Named); ok && n.Obj().Pkg() != nil {
			return finding.Variable{
				Package: n.Obj().Pkg().Path(), Type: finding.TypeName(n.Obj()), Name: u.Through, Kind: plan.KindField,
			}
		}
	}
	op := operation.Operation{In: in, Operand: u.Selector.X}
	v := op.Variable(u.Function)
	if u.Through != "" {
		v.Name += "." + u.Through
	}
	return v
}

// class names the lock in all instances.
func (u Use) class() string { return u.Variable.String() }

// Nested is a lock that a goroutine acquires while it holds another, by the lines of the two calls.
type Nested struct {
	GID          int64
	Holds, Wants finding.Position
	Stack        string // at the second, as runtime.Stack prints it
}

// Order returns the record of a circle of acquisitions that nothing orders; ok is false where the source does not
// have them all.
func (s *Seen) Order(run Run, circle []Nested) (r *evidence.Record, ok bool) {
	r = &evidence.Record{Kind: evidence.Order, Run: run.N, Seed: run.Seed, Met: true}
	for _, n := range circle {
		holds, ok1 := s.acquiredAt(n.Holds)
		wants, ok2 := s.acquiredAt(n.Wants)
		if !ok1 || !ok2 {
			return nil, false
		}
		r.Locks = append(r.Locks, evidence.LockStep{GID: n.GID, Holds: holds, Wants: wants, Stack: n.Stack})
	}
	return r, true
}

// acquiredAt returns the one acquisition in a line.
func (s *Seen) acquiredAt(at finding.Position) (site evidence.LockSite, ok bool) {
	for id, u := range s.all() {
		if u.File != at.File || u.Line != at.Line || u.Method != "Lock" && u.Method != "RLock" {
			continue
		}
		if ok {
			return site, false
		}
		site, ok = evidence.LockSite{Site: id, Reads: u.Method == "RLock"}, true
	}
	return site, ok
}
