package strategy

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// useCopies lets reads without the lock use the copy that the function has made under it, and
// returns the accesses that are left:
//
//	l.mu.Lock()
//	burst := l.burst
//	l.mu.Unlock()
//	if n > burst {
//		return fmt.Errorf("… %d", l.burst)	->	burst
//	}
func (p *Problem) useCopies(edits *edit.Edits, open []*source.Access, lock *knownLock) (rest []*source.Access) {
	for _, a := range open {
		if name := p.copyOf(a, lock); name != "" {
			edits.Replace(a.File, a.Expr, name)
		} else {
			rest = append(rest, a)
		}
	}
	return rest
}

// copyOf names the local that holds what was read under the lock by the same words, in a statement that comes
// before the access in one of the lists around it; "" if there is none. A loop may mean to read anew.
func (p *Problem) copyOf(a *source.Access, lock *knownLock) string {
	if a.Mode != source.Read || a.Whole != a.Expr || a.Function == nil {
		return ""
	}
	for s := a.File.StmtOf(a.Expr); s != nil; s = a.File.StmtOf(a.File.Parents[s]) {
		for _, before := range source.ListOf(a.File, s) {
			if before == s {
				break
			}
			if name := p.copiedBy(before, a, lock); name != "" {
				return name
			}
		}
		switch a.File.Parents[a.File.Parents[s]].(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return ""
		}
	}
	return ""
}

// copiedBy names the local that a statement copies the variable into under the lock, and that is not set again.
func (p *Problem) copiedBy(s ast.Stmt, a *source.Access, lock *knownLock) string {
	as, ok := s.(*ast.AssignStmt)
	if !ok || as.Tok != token.DEFINE || len(as.Lhs) != len(as.Rhs) {
		return ""
	}
	for i, rhs := range as.Rhs {
		id, isName := as.Lhs[i].(*ast.Ident)
		if !isName || id.Name == "_" || a.File.Text(rhs) != a.File.Text(a.Expr) {
			continue
		}
		local := map[types.Object]bool{a.File.Package.Info.Defs[id]: true}
		for _, c := range p.Accesses {
			held, known := lock.held(c)
			if c.Expr == rhs && known && held.Surely && !setsAgain(a.File, a.Function, as, local) && !p.mayWriteBetween(as, a) {
				return id.Name
			}
		}
	}
	return ""
}

// setsAgain reports whether any other statement of f than s sets the local.
func setsAgain(file *source.File, f *source.Function, s ast.Stmt, local map[types.Object]bool) (found bool) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt, *ast.IncDecStmt, *ast.UnaryExpr:
			found = found || n != ast.Node(s) && file.Sets(n, local) != nil
		case *ast.RangeStmt:
			header := &ast.RangeStmt{Key: n.Key, Value: n.Value, X: n.X, Body: &ast.BlockStmt{}}
			found = found || file.Sets(header, local) != nil
		}
		return !found && n != ast.Node(s)
	})
	return found
}

// mayWriteBetween reports whether the function itself may set the variable between a statement and an access
// behind it, so that the access would find what the copy has not.
func (p *Problem) mayWriteBetween(s ast.Stmt, a *source.Access) (found bool) {
	var writers []*source.Function
	for _, w := range p.Accesses {
		if w.Function == nil || !w.Mode.Writes() && w.Mode != source.Address {
			continue
		}
		writers = append(writers, w.Function.Declaration())
		found = found || w.File == a.File && s.End() <= w.Expr.Pos() && w.Expr.Pos() < a.Expr.Pos()
	}
	writes := p.Facts.LeadTo(writers)
	a.Function.EachCall(func(call *ast.CallExpr) {
		if call.Pos() < s.End() || call.End() > a.Expr.Pos() {
			return
		}
		if strings.HasSuffix(p.Facts.CallReason(a.File, call, nil), "any code") {
			found = true
		}
		for _, callee := range p.Facts.Runs(a.File, call) {
			found = found || writes[callee]
		}
	})
	return found
}
