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

// unlock releases a lock before each return, continue, break and goto that leaves it held.
//
//	p.mu.Lock()
//	if p.closed {
//		p.mu.Unlock()	<- new
//		return ErrClosed
//	}
//
// It applies where the results of each return, if there is one, can be computed without the lock:
// they are names, literals, and calls that get no state. Obligation:
// [validate.Released].
func unlock(p *Problem) (*strategy.Patch, error) {
	edits := edit.New()
	claim := validate.Claim{Kind: validate.Released}
	for _, f := range p.Findings {
		returns := 0
		for _, a := range f.Accesses {
			if a.Mode != finding.Leave {
				continue
			}
			returns++
			op, err := p.lockHeldAt(f, a)
			if err != nil {
				return nil, err
			}
			at, err := p.at(a.Position)
			if err != nil {
				return nil, err
			}
			if err := releaseAt(edits, at, op); err != nil {
				return nil, err
			}
			claim.Lock = op.Path.Class
		}
		if returns == 0 {
			return nil, errors.New("the finding names no way out")
		}
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: claim}, err
}

// releaseAt puts the Unlock before the return at a place, or before the end of the function.
func releaseAt(edits *edit.Edits, at place, op source.LockOp) error {
	text := at.file.Text(op.Expr) + ".Unlock()"
	if op.Read {
		text = at.file.Text(op.Expr) + ".RUnlock()"
	}
	// a continue, break or goto
	if branch, isBranch := innermost[*ast.BranchStmt](at); isBranch {
		edits.Before(at.file, branch, func() string { return text })
		return nil
	}
	ret, isReturn := innermost[*ast.ReturnStmt](at)
	if !isReturn {
		// the end of the function: its closing brace
		f := at.function()
		if f == nil || at.path[0] != ast.Node(f.Body) || at.file.Ends(f.Body.List) {
			return fmt.Errorf("%s: neither a return nor the end of the function stands there", at.file.At(at.path[0]))
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
		if read := sharedIn(at.file, result); read != nil {
			return fmt.Errorf("%s: the result %s is read under the lock", at.file.At(ret), at.file.Text(read))
		}
	}
	edits.Before(at.file, ret, func() string { return text })
	return nil
}
