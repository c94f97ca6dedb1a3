package syncfix

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
)

// join makes one critical section of two, where nothing stands between them, or only what computes with locals:
//
//	s.mu.RLock()			s.mu.Lock()
//	i, ok := s.m[key]		i, ok := s.m[key]
//	s.mu.RUnlock()		->
//	s.mu.Lock()
//	delete(s.m, key)		delete(s.m, key)
//	s.mu.Unlock()			s.mu.Unlock()
//
// Obligation: [validate.OneStep].
func join(p *Problem) (*strategy.Patch, error) {
	return p.correctSections(func(s *sections) error {
		if s.branch != nil {
			return fmt.Errorf("%s: only one way leads to the second critical section", s.file.At(s.branch))
		}
		for _, stmt := range s.list[s.released+1 : s.second] {
			if !s.onlyComputes(stmt) {
				return fmt.Errorf("%s: what stands between the two critical sections may be left out of the lock on purpose",
					s.file.At(stmt))
			}
		}
		if s.deferred {
			return fmt.Errorf("%s: the Unlock is deferred", s.file.At(s.list[s.second]))
		}
		s.edits.DeleteLine(s.file, s.list[s.released])
		s.edits.DeleteLine(s.file, s.list[s.second])
		// The first Lock, and the releases on the ways that leave before.
		from, to := s.list[s.first].Pos(), s.list[s.released].Pos()
		return s.eachOp(func(op source.LockOp) error {
			name := op.Call.Fun.(*ast.SelectorExpr).Sel
			if op.Read && from <= op.Call.Pos() && op.Call.Pos() < to {
				s.edits.Replace(s.file, name, strings.TrimPrefix(name.Name, "R"))
			}
			return nil
		})
	})
}

// onlyComputes reports whether a statement computes with locals and constants and no more, which takes no time that is
// worth a gap in the lock: it calls nothing, waits for nothing, does not repeat itself and does not leave.
func (s *sections) onlyComputes(stmt ast.Stmt) bool {
	computes := true
	ast.Inspect(stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			isConversion := s.file.Package.Info.Types[n.Fun].IsType()
			computes = computes && (isConversion || source.IsBuiltin(s.file, n, "len", "cap", "min", "max"))
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SelectStmt, *ast.SendStmt,
			*ast.ReturnStmt, *ast.BranchStmt, *ast.LabeledStmt:
			computes = false
		case *ast.UnaryExpr:
			computes = computes && n.Op != token.ARROW
		}
		return computes
	})
	return computes && s.Facts.Lasting(s.file, stmt) == ""
}
