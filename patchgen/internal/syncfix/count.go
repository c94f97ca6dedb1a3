package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// count has a goroutine counted by the one that starts it, before it is started:
// the Add moves from its function to the go statements.
//
//	s.wg.Add(1)	<- from the first statements of loop
//	go s.loop()
//
// Where a goroutine waits that is started before a loop counts, it is started
// behind the loop:
//
//	for _, f := range work { wg.Add(1); go f() }
//	go func() { wg.Wait(); close(results) }()	<- from above the loop
//
// It applies where nothing that waits or returns stands before the Add, every
// call of the function is a go statement, and the loop does not wait.
// Obligation: [validate.Counted].
func count(p *Problem) (*strategy.Patch, error) {
	edits := edit.New()
	moved := map[ast.Stmt]bool{}
	for _, f := range p.Findings {
		// A finding may name several Adds of a function, and several Waits that may miss them.
		pairs := 0
		for _, add := range f.Accesses {
			for _, wait := range f.Accesses {
				if add.Mode != finding.Add || wait.Mode != finding.Wait {
					continue
				}
				pairs++
				if err := p.countInTime(edits, add, wait, moved); err != nil {
					return nil, err
				}
			}
		}
		if pairs == 0 {
			return nil, errors.New("the finding does not name Add and Wait")
		}
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: validate.Claim{Kind: validate.Counted}}, err
}

// countInTime has an Add come before a Wait. What is moved is moved once.
func (p *Problem) countInTime(edits *edit.Edits, addAccess, waitAccess finding.Access, moved map[ast.Stmt]bool) error {
	add, err := p.at(addAccess.Position)
	if err != nil {
		return err
	}
	wait, err := p.at(waitAccess.Position)
	if err != nil {
		return err
	}
	s, ok := add.file.StmtOf(add.path[0]).(*ast.ExprStmt)
	if !ok {
		return fmt.Errorf("%s: no Add stands there", addAccess.Position)
	}
	// go func() { wg.Wait() }() above the loop
	if start := startOf(wait); start != nil && wait.function().Outer == add.function() {
		if moved[start] {
			return nil
		}
		moved[start] = true
		return p.startBehind(edits, add, start)
	}
	// func (s *Server) loop() { s.wg.Add(1); … }
	if moved[s] {
		return nil
	}
	moved[s] = true
	return p.countBefore(edits, add, s)
}

// startOf returns the go statement that runs the literal around a place.
func startOf(at place) *ast.GoStmt {
	f := at.function()
	if f == nil {
		return nil
	}
	call, ok := at.file.Parents[f.Node].(*ast.CallExpr)
	if !ok || call.Fun != f.Node {
		return nil
	}
	start, _ := at.file.Parents[call].(*ast.GoStmt)
	return start
}

// countBefore moves s from the function of a goroutine before the go statements.
func (p *Problem) countBefore(edits *edit.Edits, at place, s *ast.ExprStmt) error {
	f, file := at.function(), at.file
	if f == nil {
		return fmt.Errorf("%s: the Add is in no function", file.At(s))
	}
	i := slices.Index(f.Body.List, ast.Stmt(s))
	if i < 0 {
		return fmt.Errorf("%s: whether the Add is reached depends on what stands before it", file.At(s))
	}
	for _, before := range f.Body.List[:i] {
		if why := p.mayLeave(file, before); why != "" {
			return fmt.Errorf("%s: the function %s before the Add", file.At(before), why)
		}
	}
	// Every go statement of the function gets it.
	starts, err := p.Module.Starts(f)
	if errors.Is(err, source.ErrNoGo) {
		return fmt.Errorf("%s: no go statement starts the function", file.At(s))
	}
	if err != nil {
		return err
	}
	edits.Cut(file, s)
	for _, site := range starts {
		text, err := f.InStarter(site, s)
		if err != nil {
			return err
		}
		edits.Before(site.In.File, site.In.File.StmtOf(site.Expr), func() string { return text })
	}
	return nil
}

// mayLeave returns why the statements behind s may not be reached; "" if they are.
func (p *Problem) mayLeave(file *source.File, s ast.Stmt) string {
	switch s.(type) {
	case *ast.ExprStmt, *ast.AssignStmt, *ast.DeclStmt, *ast.DeferStmt, *ast.IncDecStmt:
	default:
		return "may leave or loop"
	}
	return p.Facts.Blocks(file, s)
}

// startBehind moves a go statement behind the loop that counts.
func (p *Problem) startBehind(edits *edit.Edits, add place, start *ast.GoStmt) error {
	file := add.file
	list := source.ListOf(file, start)
	from := slices.Index(list, ast.Stmt(start))
	// The last statement of the list that counts.
	to := -1
	for i, s := range list {
		if i > from && s.Pos() <= add.path[0].Pos() && add.path[0].Pos() < s.End() {
			to = i
		}
	}
	if from < 0 || to < 0 {
		return fmt.Errorf("%s: the Add does not follow in the same block", file.At(start))
	}
	for _, s := range list[from+1 : to+1] {
		if why := p.Facts.Blocks(file, s); why != "" {
			return fmt.Errorf("%s %s, and may need the goroutine that is started before it", file.At(s), why)
		}
	}
	text := edits.Cut(file, start)
	edits.After(file, list[to], func() string { return text })
	return nil
}
