package validate

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// stale doubts a loop that sends to each entry of a copy, where it sent to each entry of the variable: it sends
// to those as well that are removed in the meantime.
//
//	for s := range subs { s.C <- e }	// subs is a copy of h.subs; s has left, and receives no more
func (j *judge) stale() {
	v := j.now.claim.Variable
	if j.now.claim.Kind != Guarded || v.Type == "" {
		return
	}
	before, after := j.sendingLoops(j.old), j.sendingLoops(j.now)
	for name, send := range before {
		if _, still := after[name]; !still && j.touched[name] && j.removes() {
			j.doubt(place{}, finding.Heavy, "waits", "if it does not receive any more, this waits for ever",
				"%s sends to each entry of a copy of %s (%s), also to one that was removed in the meantime", short(name), v, send)
		}
	}
}

// sendingLoops lists the functions that send, outside of a select, in a loop over the variable, with the send's place.
func (j *judge) sendingLoops(s *side) map[string]string {
	found := map[string]string{}
	for _, p := range s.Packages {
		for _, f := range p.Files {
			for _, d := range f.Decls {
				decl, ok := d.(*ast.FuncDecl)
				if !ok || decl.Body == nil {
					continue
				}
				ast.Inspect(decl.Body, func(n ast.Node) bool {
					loop, ok := n.(*ast.RangeStmt)
					if ok && s.isField(p, loop.X) {
						if send := plainSend(loop.Body); send != nil {
							obj := p.Info.Defs[decl.Name].(*types.Func)
							where := p.Fset.Position(send.Pos())
							found[obj.FullName()] = fmt.Sprintf("%s:%d", filepath.Base(where.Filename), where.Line)
						}
					}
					return true
				})
			}
		}
	}
	return found
}

// removes reports whether the module deletes entries from the variable.
func (j *judge) removes() bool {
	found := false
	for _, p := range j.now.Packages {
		for _, f := range p.Files {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) != 2 {
					return true
				}
				id, ok := call.Fun.(*ast.Ident)
				found = found || ok && id.Name == "delete" && j.now.isField(p, call.Args[0])
				return true
			})
		}
	}
	return found
}

// isField reports whether an expression is the claim's field, of whatever object.
func (s *side) isField(p *session.Package, e ast.Expr) bool {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != s.claim.Variable.Name {
		return false
	}
	t := p.Info.TypeOf(sel.X)
	if ptr, isPtr := t.Underlying().(*types.Pointer); isPtr {
		t = ptr.Elem()
	}
	return isNamed(t, s.claim.Variable.Package, s.claim.Variable.Type)
}

// plainSend finds a send that waits for its receiver alone; nil if there is none.
func plainSend(body *ast.BlockStmt) (send *ast.SendStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.SelectStmt:
			return false
		case *ast.SendStmt:
			send = n
		}
		return send == nil
	})
	return send
}
