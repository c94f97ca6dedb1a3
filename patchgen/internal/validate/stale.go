package validate

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// stale doubts a loop that sends to each entry of a copy, where it sent to each entry of the variable: it sends
// to those as well that are removed in the meantime. So does a loop over a copy of a map that calls code which is not
// known, and may remove entries itself.
//
//	for s := range subs { s.C <- e }	// subs is a copy of h.subs; s has left, and receives no more
func (j *judge) stale() {
	v := j.now.claim.Variable
	if j.now.claim.Kind != Guarded || v.Type == "" {
		return
	}
	before, after := j.loops(j.old, plainSend), j.loops(j.now, plainSend)
	for name, send := range before {
		if _, still := after[name]; !still && j.touched[name] && j.removes() {
			j.doubt(place{}, finding.Heavy, "waits", "if it does not receive any more, this waits for ever",
				"%s sends to each entry of a copy of %s (%s), also to one that was removed in the meantime", short(name), v, send)
		}
	}
	before, after = j.loops(j.old, dynamicCall), j.loops(j.now, dynamicCall)
	for name, call := range before {
		if _, still := after[name]; !still && j.touched[name] && j.removes() {
			j.doubt(place{}, finding.Light, "waits", "if that counts on a removed one being left out, it is wrong",
				"%s goes over a copy of %s (%s), and comes to entries that were removed in the meantime", short(name), v, call)
		}
	}
}

// loops lists the functions that do something in a loop over the variable, by the node that does it, with its place.
func (j *judge) loops(s *side, does func(*session.Package, *ast.BlockStmt) ast.Node) map[string]string {
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
						if send := does(p, loop.Body); send != nil {
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
func plainSend(_ *session.Package, body *ast.BlockStmt) (send ast.Node) {
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

// dynamicCall finds a call of a function value or of a method of an interface; nil if there is none.
func dynamicCall(p *session.Package, body *ast.BlockStmt) (found ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && typeutil.StaticCallee(p.Info, call) == nil && !p.Info.Types[call.Fun].IsType() {
			if _, isBuiltin := typeutil.Callee(p.Info, call).(*types.Builtin); !isBuiltin {
				found = call
			}
		}
		return found == nil
	})
	return found
}
