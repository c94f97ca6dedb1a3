package source

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Resolve finds the variable of a group: by its accesses' positions, since
// those also tell locals apart.
func (m *Module) Resolve(group []*finding.Finding) (*Variable, error) {
	if len(group) == 0 {
		return nil, errors.New("no finding given")
	}
	found, others, err := m.places(group)
	if err == nil && len(found) == 0 {
		err = errors.New("the findings name no access")
	}
	isHeld := false
	if err != nil {
		held := m.heldIn(group)
		if held == nil {
			return nil, err
		}
		found, others, isHeld = held, nil, true
	}
	liftFields(found)
	var t *Variable
	deep := false
	for _, x := range found {
		if t == nil {
			t = m.NewVariable(x.object, x.file, x.expr)
		} else if ObjectKey(m, x.object) != t.Key && x.object.Name() != t.Name {
			return nil, fmt.Errorf("the findings are on several variables: %s and %s", t.Name, x.object.Name())
		}
		deep = deep || x.elements
	}
	// What a patch protects may be the field that holds the map.
	t = m.fieldOfMap(t)
	slices.Sort(others)
	t.Named, t.Written, t.Others = map[ast.Expr]bool{}, map[ast.Expr]bool{}, slices.Compact(others)
	for _, x := range found {
		t.Named[x.expr] = true
		t.Written[x.expr] = t.Written[x.expr] || x.writes
	}
	t.Deep = deep || IsMap(t.Object.Type()) || m.MutatedInPlace(t)
	t.Within = isHeld || !t.Deep && m.isRacedWithin(t, group, found)
	return t, nil
}

// places finds the accesses that findings name, and further variables that they name beside it. Each access has to
// stand in the source: of one variable, or by its own words of another one.
func (m *Module) places(group []*finding.Finding) (found []named, others []string, err error) {
	for _, f := range group {
		name, elements := strings.CutSuffix(lastName(f.Variable.Name), "[]")
		for _, a := range f.Accesses {
			file, err := m.File(a.File)
			if err != nil {
				return nil, nil, err
			}
			x := named{file: file, elements: elements, writes: a.Mode == finding.Write}
			if x.expr, x.object = file.accessAt(a.Position, name, f.Variable.Type != ""); x.expr == nil {
				x.expr, x.object = file.structWith(a.Position, name)
				x.whole = true
			}
			if x.expr == nil && file.isOfAnother(a, name) {
				others = append(others, a.Expr)
				continue
			}
			if x.expr == nil {
				return nil, nil, fmt.Errorf("no access of %s at %s: %s", f.Variable.Name, a.Position,
					file.insteadAt(a.Position, name))
			}
			found = append(found, x)
		}
	}
	return found, others, nil
}

// isOfAnother reports whether an access is, by its own words, one of another variable than that called name, which
// stands there.
func (file *File) isOfAnother(a finding.Access, name string) bool {
	expr := a.Expr
	if i := strings.LastIndexByte(expr, '['); i > 0 && strings.HasSuffix(expr, "]") {
		expr = expr[:i] // x.m[k]
	}
	own := lastName(expr)
	if own == name {
		return false
	}
	e, _ := file.accessAt(a.Position, own, false)
	return e != nil
}

// named is an access that a finding names.
type named struct {
	file     *File
	expr     ast.Expr
	object   *types.Var
	whole    bool // the struct that holds the variable is copied or set as a whole
	elements bool // the finding is about the elements of the variable
	writes   bool
}

// liftFields makes all accesses those of the struct field where one of them copies or sets it as
// a whole: x.stats.n is an access of x.stats then.
func liftFields(found []named) {
	i := slices.IndexFunc(found, func(x named) bool { return x.whole })
	if i < 0 {
		return
	}
	for j, x := range found {
		for outer := x.file.OuterField(x.expr); !x.whole && outer != nil; outer = x.file.OuterField(outer) {
			obj, ok := x.file.Package.Info.Uses[outer.Sel].(*types.Var)
			if ok && ObjectKey(x.file.Module, obj) == ObjectKey(x.file.Module, found[i].object) {
				found[j].expr, found[j].object = outer, obj
				break
			}
		}
	}
}

// structWith finds the struct at a position that has a field called name and is no pointer: return x.stats.
func (file *File) structWith(p finding.Position, name string) (ast.Expr, *types.Var) {
	pos, err := file.pos(p.Line, p.Column)
	if err != nil {
		return nil, nil
	}
	path, _ := astutil.PathEnclosingInterval(file.Syntax, pos, pos)
	for _, n := range path {
		e, ok := n.(ast.Expr)
		if !ok {
			continue
		}
		if x, obj := file.VariableOf(e); obj != nil && obj.IsField() && x.Pos() == pos {
			if st, ok := structAt(obj.Type()); ok && hasField(st, name) {
				return x, obj
			}
		}
	}
	return nil, nil
}
