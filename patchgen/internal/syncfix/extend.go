package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// extend keeps a lock until what was tested, or reached, under it has been used:
//
//	p.mu.Lock()				p.mu.Lock()
//	if p.n < p.max {			if p.n < p.max {
//		p.mu.Unlock()		->		p.start()
//		p.start() // p.n++			p.mu.Unlock()
//		return					return
//
//	s.mu.RLock()				s.mu.RLock()
//	e := s.entries[i]			e := s.entries[i]
//	s.mu.RUnlock()			->	clone := slices.Clone(e)
//	s.hits.Add(1)				s.mu.RUnlock()
//	return slices.Clone(e), nil		s.hits.Add(1)
//						return clone, nil
//
// What a return uses is computed before the Unlock; else the Unlock moves
// behind the use, if nothing that it moves over may wait, leaves the function
// or uses a lock. Obligation: [validate.Extended].
func extend(p *Problem) (*strategy.Patch, error) {
	edits := edit.New()
	claim := validate.Claim{Kind: validate.Extended}
	moved := map[ast.Stmt]bool{}
	for _, f := range p.Findings {
		for _, pos := range usesOf(f) {
			g, err := p.gapBefore(pos)
			if err != nil {
				return nil, err
			}
			if moved[g.list[g.released]] {
				continue
			}
			moved[g.list[g.released]] = true
			if err := g.close(edits); err != nil {
				return nil, err
			}
			claim.Lock = g.lock.Path.Class
		}
	}
	if len(moved) == 0 {
		return nil, errors.New("the finding names no use")
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: claim}, err
}

// usesOf returns where a finding's values are used behind the lock, in the function that held it.
func usesOf(f *finding.Finding) []finding.Position {
	if f.Section == nil {
		if len(f.Accesses) == 0 {
			return nil
		}
		return []finding.Position{f.Accesses[0].Position}
	}
	var list []finding.Position
	for _, s := range append([]finding.Section{*f.Section}, f.Section.Also...) {
		if s.EndCall != nil {
			list = append(list, *s.EndCall)
		} else {
			list = append(list, s.End)
		}
	}
	return list
}

// gap is a list of statements with a release of a lock, and behind it a use of what was found under the lock.
type gap struct {
	*Problem
	file     *source.File
	list     []ast.Stmt
	released int // the Unlock
	use      int
	at       ast.Node // what is used, within list[use]
	lock     source.LockOp
}

// gapBefore finds the last release of a lock before a use, in the lists of statements around it.
func (p *Problem) gapBefore(pos finding.Position) (*gap, error) {
	at, err := p.at(pos)
	if err != nil {
		return nil, err
	}
	g := &gap{Problem: p, file: at.file, at: at.path[0]}
	f := at.function()
	if f == nil {
		return nil, fmt.Errorf("%s: the use stands in no function", pos)
	}
	for n := ast.Node(at.file.StmtOf(at.path[0])); n != nil && n != ast.Node(f.Body); n = at.file.Parents[n] {
		stmt, ok := n.(ast.Stmt)
		if !ok {
			continue
		}
		g.list = source.ListOf(at.file, stmt)
		g.use = slices.Index(g.list, stmt)
		for i := g.use - 1; i >= 0; i-- {
			op, ok := lockOpOf(at.file, g.list[i])
			if ok && op.Acquire {
				return nil, fmt.Errorf("%s: the use is in a critical section of its own", pos)
			}
			if ok {
				g.released, g.lock = i, op
				return g, nil
			}
		}
	}
	return nil, fmt.Errorf("%s: no lock is released before the use in the lists of statements around it", pos)
}

// close makes the use a part of the critical section.
func (g *gap) close(edits *edit.Edits) error {
	if ret, ok := g.list[g.use].(*ast.ReturnStmt); ok {
		return g.computeBefore(edits, ret)
	}
	return g.moveUnlock(edits)
}

// computeBefore computes the result that uses the value before the Unlock.
func (g *gap) computeBefore(edits *edit.Edits, ret *ast.ReturnStmt) error {
	i := slices.IndexFunc(ret.Results, func(e ast.Expr) bool { return e.Pos() <= g.at.Pos() && g.at.Pos() < e.End() })
	if i < 0 {
		return fmt.Errorf("%s: the use is no result of the return", g.file.At(ret))
	}
	result := ret.Results[i]
	if t, isTuple := g.file.TypeOf(result).(*types.Tuple); isTuple {
		return fmt.Errorf("%s: the return hands on %d results of one call", g.file.At(ret), t.Len())
	}
	if why := g.Facts.Blocks(g.file, result); why != "" {
		return fmt.Errorf("%s: the use %s", g.file.At(ret), why)
	}
	// What stands between must not set what the use reads.
	used := g.file.LocalsIn(result)
	for _, s := range g.list[g.released+1 : g.use] {
		if obj := g.file.Sets(s, used); obj != nil {
			return fmt.Errorf("%s: %s is set between the Unlock and the use", g.file.At(s), obj.Name())
		}
		// c.hits.Add(1), and then return c.hits.Load()
		byPlace := func(a, b types.Object) int { return int(a.Pos() - b.Pos()) }
		for _, obj := range slices.SortedFunc(maps.Keys(g.file.LocalsIn(s)), byPlace) {
			if _, isBasic := obj.Type().Underlying().(*types.Basic); used[obj] && !isBasic {
				return fmt.Errorf("%s: %s may be changed between the Unlock and the use", g.file.At(s), obj.Name())
			}
		}
	}
	name := source.NewNames(g.file.FunctionOf(ret)).For(result)
	text := name + " := " + g.file.Text(result)
	edits.Replace(g.file, result, name)
	edits.Before(g.file, g.list[g.released], func() string { return text })
	return nil
}

// moveUnlock moves the Unlock behind the use.
func (g *gap) moveUnlock(edits *edit.Edits) error {
	unlock := g.list[g.released]
	for _, s := range g.list[g.released+1 : g.use+1] {
		if why := g.Facts.Blocks(g.file, s); why != "" {
			return fmt.Errorf("%s: what would come under the lock %s", g.file.At(s), why)
		}
		if n := leaving(g.file, s); n != nil {
			return fmt.Errorf("%s: the function may be left between the Unlock and the use", g.file.At(n))
		}
	}
	text := edits.Cut(g.file, unlock)
	edits.After(g.file, g.list[g.use], func() string { return text })
	return nil
}

// leaving returns what may lead out of a statement, or defers something in it; nil if nothing does.
func leaving(file *source.File, s ast.Stmt) (found ast.Node) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.DeferStmt:
			found = n
		case *ast.BranchStmt:
			if n.Tok == token.GOTO || file.Leaves(n, s) {
				found = n
			}
		case *ast.ExprStmt:
			if source.IsPanic(file, n) {
				found = n
			}
		}
		return found == nil
	})
	return found
}
