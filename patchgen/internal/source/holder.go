package source

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// heldIn returns, for each side of findings on memory without a name in the module, the operand of the call by which
// that side came to it: the innermost one that is the same field or package variable for all sides. What races there is
// the object that it holds. It returns nil if there is none.
//
//	func (c *conn) SetDeadline(t time.Time) { c.ws.SetWriteDeadline(t) }
//	func (w wrapper) Next() (io.Writer, error) { return w.Conn.NextWriter(1) }	// c.ws is a wrapper, which embeds Conn
func (m *Module) heldIn(group []*finding.Finding) []named {
	var sides [][]named
	for _, f := range group {
		for _, a := range f.Accesses {
			sides = append(sides, m.operandsOn(a))
		}
	}
	if len(sides) < 2 {
		return nil
	}
	for _, first := range sides[0] {
		key, list := ObjectKey(m, first.object), []named{first}
		for _, side := range sides[1:] {
			if i := slices.IndexFunc(side, func(x named) bool { return ObjectKey(m, x.object) == key }); i >= 0 {
				list = append(list, side[i])
			}
		}
		if len(list) == len(sides) {
			return list
		}
	}
	return nil
}

// operandsOn lists the operands of the call by which an access left the module that are fields or package
// variables, the innermost first.
func (m *Module) operandsOn(a finding.Access) []named {
	if a.Goroutine == nil {
		return nil
	}
	stack := a.Goroutine.Stack
	for i := range stack {
		file := m.Files[stack[i].File]
		if i == 0 || file == nil {
			continue
		}
		callee := strings.ReplaceAll(stack[i-1].Function, "[...]", "")
		callee = callee[strings.LastIndexByte(callee, '.')+1:]
		list := file.operandsOf(callee, stack[i].Line)
		for i := range list {
			list[i].writes = a.Mode == finding.Write
		}
		return list
	}
	return nil
}

// operandsOf returns the operand of the one call of a method on a line, if it is a field or package variable,
// behind the embedded field through which the operand has the method.
func (file *File) operandsOf(method string, line int) (list []named) {
	calls := 0
	ast.Inspect(file.Syntax, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || file.Line(call.Lparen) != line && file.Line(call.Pos()) != line {
			return true
		}
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != method {
			return true
		}
		calls++
		if field := file.embedded(sel); field != nil {
			list = append(list, named{file: file, expr: sel.X, object: field})
		}
		x, obj := file.VariableOf(ast.Unparen(sel.X))
		if obj != nil && (obj.IsField() || IsGlobal(obj)) {
			list = append(list, named{file: file, expr: x, object: obj})
		}
		return true
	})
	if calls != 1 {
		return nil
	}
	return list
}

// ownerOf returns the named type whose field obj is; nil for a field of an unnamed struct.
func (m *Module) ownerOf(obj *types.Var) *types.Named {
	for _, p := range m.Packages {
		for _, name := range p.Types.Scope().Names() {
			tn, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
			if !ok {
				continue
			}
			st, ok := tn.Type().Underlying().(*types.Struct)
			for i := 0; ok && i < st.NumFields(); i++ {
				if ObjectKey(m, st.Field(i)) == ObjectKey(m, obj) {
					return Named(tn.Type())
				}
			}
		}
	}
	return nil
}
