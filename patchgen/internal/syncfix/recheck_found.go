package syncfix

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// look is a look-up in a map whose result is tested for being there, and replaced by a new one where it is not.
type look struct {
	*sections
	read   *ast.AssignStmt
	result *ast.Ident // what was looked up
	isIn   *ast.Ident // whether it is there; nil where the result is compared with nil
}

// lookOf returns the look-up that a statement and the test of the branch are; nil for other tests.
//
//	e, ok := c.m[key]	e := c.m[key]
//	if !ok {		if e == nil {
func (s *sections) lookOf(read *ast.AssignStmt) *look {
	if read == nil || len(read.Rhs) != 1 || len(read.Lhs) > 2 {
		return nil
	}
	result, hasResult := read.Lhs[0].(*ast.Ident)
	if len(read.Lhs) == 1 {
		if !hasResult || !s.isNilTest(result) {
			return nil
		}
		return &look{s, read, result, nil}
	}
	isIn, hasIsIn := read.Lhs[1].(*ast.Ident)
	not, isNot := ast.Unparen(s.branch.Cond).(*ast.UnaryExpr)
	if !hasResult || !hasIsIn || !isNot || not.Op != token.NOT || result.Name == "_" {
		return nil
	}
	if tested, ok := ast.Unparen(not.X).(*ast.Ident); !ok || s.object(tested) != s.object(isIn) {
		return nil
	}
	return &look{s, read, result, isIn}
}

// isNilTest reports whether the branch is for a result that is nil.
func (s *sections) isNilTest(result *ast.Ident) bool {
	c, ok := ast.Unparen(s.branch.Cond).(*ast.BinaryExpr)
	if !ok || c.Op != token.EQL || !s.file.Package.Info.Types[c.Y].IsNil() {
		return false
	}
	tested, ok := ast.Unparen(c.X).(*ast.Ident)
	return ok && s.object(tested) == s.object(result)
}

// object returns what an identifier stands for.
func (s *sections) object(id *ast.Ident) types.Object { return s.file.Package.Info.ObjectOf(id) }

// isReplaced reports whether the result is set before the second Lock.
func (l *look) isReplaced() bool {
	results := map[types.Object]bool{l.object(l.result): true}
	return slices.ContainsFunc(l.list[:l.second], func(s ast.Stmt) bool { return l.file.Sets(s, results) != nil })
}

// takeFound looks again under the second lock, and takes what another goroutine has put there by now in place of the
// new one:
//
//	e, ok := c.m[key]
//	c.mu.RUnlock()
//	if !ok {
//		e = &entry{}
//		c.mu.Lock()
//		if found, ok := c.m[key]; ok {	<- new
//			e = found		<- new
//		} else {			<- new
//			c.m[key] = e
//		}				<- new
//		c.mu.Unlock()
//	}
//
// Nothing else may have come to the new one by then.
func (l *look) takeFound(section []ast.Stmt) error {
	between := l.list[:l.second]
	if err := l.isUsedBySection(between); err != nil {
		return err
	}
	// The words of the look-up mean the same, and making it twice, or a new one for nothing, leaves nothing behind.
	if err := l.isUnchanged(l.file.LocalsIn(l.read.Rhs[0]), between); err != nil {
		return err
	}
	if err := l.leavesNothing([]ast.Node{l.read.Rhs[0]}, between); err != nil {
		return err
	}
	if err := l.isMissedBehind(l.read, section); err != nil {
		return err
	}
	found := source.NewNames(l.function).Fresh("found")
	header := "if " + found + " := " + l.file.Text(l.read.Rhs[0]) + "; " + found + " != nil {"
	if l.isIn != nil {
		header = "if " + found + ", " + l.isIn.Name + " := " + l.file.Text(l.read.Rhs[0]) + "; " + l.isIn.Name + " {"
	}
	l.edits.After(l.file, l.list[slices.Index(l.list, section[0])-1], func() string {
		return "// Another goroutine may have been here since the lock was released.\n" + header + "\n" +
			"\t" + l.result.Name + " = " + found + "\n} else {"
	})
	l.edits.After(l.file, section[len(section)-1], func() string { return "}" })
	return nil
}

// isUsedBySection returns an error where the new result is used before the second Lock: what was made of it would stay.
func (l *look) isUsedBySection(between []ast.Stmt) error {
	result := l.object(l.result)
	for _, stmt := range between {
		assign, ok := stmt.(*ast.AssignStmt)
		isSet := ok && len(assign.Lhs) > 0 && assign.Tok == token.ASSIGN
		uses := l.firstIdent(stmt, func(id *ast.Ident) bool {
			isTarget := isSet && slices.Contains(assign.Lhs, ast.Expr(id))
			return l.object(id) == result && !isTarget
		})
		if uses != nil {
			return fmt.Errorf("%s: the new %s is used before the second critical section", l.file.At(uses), uses.Name)
		}
	}
	return nil
}
