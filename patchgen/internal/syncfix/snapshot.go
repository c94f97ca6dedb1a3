package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// snapshot copies a list under its lock, and goes through the copy without, where what is called for an element has
// come back for the lock:
//
//	s.mu.Lock()				s.mu.Lock()
//	for _, m := range s.metrics {		metrics := slices.Clone(s.metrics)
//		m.write(w)		->	s.mu.Unlock()
//	}					for _, m := range metrics {
//	s.mu.Unlock()					m.write(w)
//						}
//
// It applies where the loop is the last thing that needs the lock, and needs it for the list alone. It makes drafts: an
// element may be called that has been removed meanwhile. Obligation: [validate.ReleasedFirst].
func snapshot(p *Problem) (*strategy.Patch, error) {
	edits, done := edit.New(), map[ast.Stmt]bool{}
	claim := validate.Claim{Kind: validate.ReleasedFirst}
	for _, f := range p.Findings {
		if p.isReachedByOther(f) {
			continue // the call that leads there is another finding
		}
		w, loop, err := p.heldLoop(f)
		if err != nil {
			return nil, err
		}
		claim.Lock = w.lock.Path.Class
		if done[loop] {
			continue
		}
		done[loop] = true
		if err := p.copyRange(edits, w, loop); err != nil {
			return nil, err
		}
		if err := w.releaseFirst(edits); err != nil {
			return nil, err
		}
	}
	if len(done) == 0 {
		return nil, errors.New("no loop under the lock is known")
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: claim}, err
}

// heldLoop finds the loop under the lock by the stack of a goroutine that waits for the lock that it holds.
func (p *Problem) heldLoop(f *finding.Finding) (*heldWait, *ast.RangeStmt, error) {
	if len(f.Accesses) == 0 {
		return nil, nil, strategy.NotMeant("the finding names no access")
	}
	frames, since := p.callsUnderLock(f, f.Accesses[0])
	if len(frames) < 2 {
		return nil, nil, strategy.NotMeant("the function that has taken the lock is not on the stack")
	}
	from, err := p.at(since.Position)
	if err != nil {
		return nil, nil, err
	}
	held, ok := lockTakenAt(from)
	locked, isStmt := innermost[ast.Stmt](from)
	if !ok || !isStmt {
		return nil, nil, fmt.Errorf("%s: no statement that takes the lock stands there", since.Position)
	}
	w := &heldWait{file: from.file, function: p.functionOn(frames[len(frames)-1]), lock: held}
	w.list = source.ListOf(w.file, locked)
	w.locked = slices.Index(w.list, locked)
	w.deferred = w.locked+1 < len(w.list) && releasesDeferred(w.file, w.list[w.locked+1], held)
	// The loop around the call stands beside the Lock.
	line := frames[len(frames)-1].Line
	for _, s := range w.list[w.locked+1:] {
		if loop, ok := s.(*ast.RangeStmt); ok && w.file.Line(loop.Pos()) < line && line <= w.file.Line(loop.End()) {
			w.stmt = loop
			return w, loop, w.isLast()
		}
	}
	return nil, nil, strategy.NotMeant("%s: the call under the lock is in no loop beside the Lock", since.Position)
}

// copyRange has a loop go through a copy that is made before it. A list that is a local needs none.
func (p *Problem) copyRange(edits *edit.Edits, w *heldWait, loop *ast.RangeStmt) error {
	if field := w.fieldOfLocked(loop.Body); field != nil {
		return fmt.Errorf("%s: the loop needs %s under the lock", w.file.At(field), w.file.Text(field))
	}
	if sharedIn(w.file, loop.X) == nil {
		return nil
	}
	names, text := source.NewNames(w.function), w.file.Text(loop.X)
	name, isNew := names.For(loop.X), w.file.Package.Since("go1.21")
	switch t := w.file.TypeOf(loop.X); t.Underlying().(type) {
	case *types.Slice:
		if text = fmt.Sprintf("append(%s(nil), %s...)", names.TypeText(t), text); isNew {
			text = fmt.Sprintf("%s.Clone(%s)", edits.AddImport(w.file, "slices"), w.file.Text(loop.X))
		}
	case *types.Map:
		if !isNew {
			return fmt.Errorf("%s: the module's Go version has no package maps", w.file.At(loop))
		}
		text = fmt.Sprintf("%s.Clone(%s)", edits.AddImport(w.file, "maps"), text)
	default:
		return fmt.Errorf("%s: %s is no slice and no map", w.file.At(loop), text)
	}
	edits.Before(w.file, loop, func() string { return name + " := " + text })
	edits.Replace(w.file, loop.X, name)
	return nil
}

// fieldOfLocked returns a field of the object of the lock that a block names; nil if there is none.
func (w *heldWait) fieldOfLocked(block *ast.BlockStmt) (found *ast.SelectorExpr) {
	owner := w.file.Package.Info.ObjectOf(leftmost(w.lock.Expr))
	ast.Inspect(block, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || found != nil {
			return found == nil
		}
		if _, v := w.file.VariableOf(sel); v != nil && v.IsField() && w.file.Package.Info.ObjectOf(leftmost(sel)) == owner {
			found = sel
		}
		return true
	})
	return found
}

// leftmost returns the name that an expression begins with; nil where it begins with something else.
func leftmost(e ast.Expr) *ast.Ident {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}
