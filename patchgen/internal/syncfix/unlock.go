package syncfix

import (
	"errors"
	"fmt"
	"go/ast"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// unlock releases a lock before each return that leaves it held.
//
//	p.mu.Lock()
//	if p.closed {
//		p.mu.Unlock()	<- new
//		return ErrClosed
//	}
//
// It applies where the results of the return can be computed without the lock:
// they are names, literals, and calls that get no state. Obligation:
// [validate.Released].
func unlock(p *Problem) (*strategy.Patch, error) {
	edits := edit.New()
	claim := validate.Claim{Kind: validate.Released}
	for _, f := range p.Findings {
		op, err := p.lockOf(f)
		if err != nil {
			return nil, err
		}
		at, err := p.at(f.Accesses[0].Position)
		if err != nil {
			return nil, err
		}
		if f.Accesses[0].Mode != finding.Leave {
			return nil, errors.New("the finding names no return")
		}
		if err := releaseAt(edits, at, op); err != nil {
			return nil, err
		}
		claim.Lock = op.Path.Class
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: claim}, err
}

// lockOf returns the operation that took the lock which a finding is about: its second access.
func (p *Problem) lockOf(f *finding.Finding) (source.LockOp, error) {
	if len(f.Accesses) < 2 {
		return source.LockOp{}, errors.New("the finding does not name where the lock is taken")
	}
	at, err := p.at(f.Accesses[1].Position)
	if err != nil {
		return source.LockOp{}, err
	}
	for _, n := range at.path {
		if s, ok := n.(ast.Stmt); ok {
			// x.mu.Lock(), if x.mu.TryLock() { … }
			if es, ok := s.(*ast.ExprStmt); ok {
				if call, ok := es.X.(*ast.CallExpr); ok {
					if op, ok := at.file.LockOp(call); ok && op.Acquire && !op.Try {
						return op, nil
					}
				}
			}
			break
		}
	}
	return source.LockOp{}, fmt.Errorf("%s: no statement that takes the lock stands there", f.Accesses[1].Position)
}

// releaseAt puts the Unlock before the return, or before the end of the function.
func releaseAt(edits *edit.Edits, at place, op source.LockOp) error {
	text := at.file.Text(op.Expr) + ".Unlock()"
	if op.Read {
		text = at.file.Text(op.Expr) + ".RUnlock()"
	}
	ret, isReturn := innermost[*ast.ReturnStmt](at)
	if !isReturn {
		// the end of the function: its closing brace
		f := at.function()
		if f == nil || at.file.Ends(f.Body.List) {
			return fmt.Errorf("%s: no return stands there: the file may have changed since the analysis", at.file.At(at.path[0]))
		}
		end := at.file.Offset(f.Body.Rbrace)
		edits.Add(at.file, end, end, func() string { return "\t" + text + "\n" })
		return nil
	}
	// return f(x): the call may need the lock, and run without it then
	for _, result := range ret.Results {
		if call := callIn(at.file, result); call != nil {
			return fmt.Errorf("%s: the result is computed by %s, which may need the lock", at.file.At(ret),
				at.file.Text(call.Fun))
		}
		if load := stateIn(at.file, result); load != nil {
			return fmt.Errorf("%s: the result %s is read under the lock", at.file.At(ret), at.file.Text(load))
		}
	}
	edits.Before(at.file, ret, func() string { return text })
	return nil
}

// callIn returns a call within e that runs code of the module; nil if there is none.
func callIn(file *source.File, e ast.Expr) (found *ast.CallExpr) {
	ast.Inspect(e, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && found == nil && file.Callee(call) != nil && usesState(file, call) {
			found = call
		}
		return true
	})
	return found
}

// usesState reports whether a call is a method's, or gets an argument by reference.
func usesState(file *source.File, call *ast.CallExpr) bool {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && file.Package.Info.Selections[sel] != nil {
		return true
	}
	for _, arg := range call.Args {
		if source.IsPointer(file.TypeOf(arg)) || source.IsMap(file.TypeOf(arg)) {
			return true
		}
	}
	return false
}

// stateIn returns a field of a struct that e reads through a pointer; nil if there is none.
func stateIn(file *source.File, e ast.Expr) (found *ast.SelectorExpr) {
	ast.Inspect(e, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && found == nil {
			if _, obj := file.VariableOf(sel); obj != nil && obj.IsField() && source.IsPointer(file.TypeOf(sel.X)) {
				found = sel
			}
		}
		return true
	})
	return found
}
