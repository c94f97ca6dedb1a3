package syncfix

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
)

// recheck looks again under the second lock, where a test and the use that it
// decides about lie in two critical sections of one lock:
//
//	c.mu.RLock()
//	if e, ok := c.m[key]; ok {
//		c.mu.RUnlock()
//		return e
//	}
//	c.mu.RUnlock()
//	c.mu.Lock()
//	if e, ok := c.m[key]; ok {	<- new
//		c.mu.Unlock()
//		return e
//	}
//	c.m[key] = n
//
// The read may stand in a statement of its own before the test. It applies
// where the test leaves the function, or leads to the second critical section
// (see againInBranch), and what it tests can be read again by
// the same words; where short functions read or set it, by theirs (see recheckBehind). Obligation: [validate.OneStep].
func recheck(p *Problem) (*strategy.Patch, error) {
	if p.isBehind() {
		return p.recheckBehind()
	}
	return p.correctSections(func(s *sections) error {
		if s.branch != nil {
			return s.againInBranch()
		}
		// What is tested, in the words of the second section.
		test, err := s.leavingTest()
		if err != nil {
			return err
		}
		text, read := s.file.Text(test), s.readBefore(test)
		if err := s.canLeaveAgain(read, test); err != nil {
			return err
		}
		if read != nil {
			if test.Init != nil {
				return fmt.Errorf("%s: the test has an init statement of its own", s.file.At(test))
			}
			text = "if " + s.usedOf(read, test) + "; " + strings.TrimPrefix(text, "if ")
		}
		text, err = s.underSecond(test, text)
		if err != nil {
			return err
		}
		after := s.list[s.second]
		if s.deferred {
			after = s.list[s.second+1]
		}
		text = strings.ReplaceAll(text, "\n"+s.file.Indent(test.Pos()), "\n")
		s.edits.After(s.file, after, func() string {
			return "// Another goroutine may have been here since the lock was released.\n" + text
		})
		return nil
	})
}

// leavingTest returns the if statement between the two Locks that tests what was read and leaves the function.
func (s *sections) leavingTest() (*ast.IfStmt, error) {
	var found *ast.IfStmt
	for _, stmt := range s.list[s.first:s.second] {
		test, ok := stmt.(*ast.IfStmt)
		if !ok || test.Else != nil || !s.file.Ends(test.Body.List) || test.End() < s.entry.Pos() {
			continue
		}
		if _, returns := test.Body.List[len(test.Body.List)-1].(*ast.ReturnStmt); !returns {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s: there are several tests to be made again", s.file.At(test))
		}
		found = test
	}
	if found == nil {
		return nil, fmt.Errorf("%s: no test that leaves the function stands before the second Lock",
			s.file.At(s.list[s.second]))
	}
	return found, nil
}

// canLeaveAgain returns an error where the function must not be left behind the second Lock as the test leaves it
// before: what it has done in between would have to be undone, making the test does something, or its words
// mean other things.
func (s *sections) canLeaveAgain(read *ast.AssignStmt, test *ast.IfStmt) error {
	words := s.file.LocalsIn(test)
	made := []ast.Node{test.Cond}
	if test.Init != nil {
		made = append(made, test.Init)
	}
	if read != nil {
		maps.Copy(words, s.file.LocalsIn(read))
		made = append(made, read)
		for _, lhs := range read.Lhs {
			if id, ok := lhs.(*ast.Ident); ok {
				delete(words, s.file.Package.Info.ObjectOf(id)) // read again
			}
		}
	}
	maps.DeleteFunc(words, func(v types.Object, _ bool) bool { return test.Pos() <= v.Pos() && v.Pos() < test.End() })
	between := s.list[slices.Index(s.list, ast.Stmt(test))+1 : s.second]
	if err := s.isUnchanged(words, between); err != nil {
		return err
	}
	return s.leavesNothing(made, between)
}

// leavesNothing returns an error where a test that is made again, or what stands between it and the second Lock, does
// something that lasts: what follows the use, and is left out now, may be there to undo it.
func (s *sections) leavesNothing(test []ast.Node, between []ast.Stmt) error {
	for _, n := range test {
		if why := s.Facts.Lasting(s.file, n); why != "" {
			return fmt.Errorf("%s: the test cannot be made twice: it %s", s.file.At(n), why)
		}
	}
	for _, stmt := range between {
		if op, ok := lockOpOf(s.file, stmt); ok && !op.Acquire && op.Path.Key == s.lock.Path.Key {
			continue
		}
		if why := s.Facts.Lasting(s.file, stmt); why != "" {
			return fmt.Errorf("%s: what is done before the second Lock may have to be undone: it %s", s.file.At(stmt), why)
		}
	}
	return nil
}

// readBefore returns the statement that reads for a test; nil if the test does so itself.
func (s *sections) readBefore(test *ast.IfStmt) *ast.AssignStmt {
	if test.Pos() <= s.entry.Pos() && s.entry.Pos() < test.End() {
		return nil
	}
	read, _ := s.file.StmtOf(s.entry).(*ast.AssignStmt)
	return read
}

// usedOf writes a read anew, without the names that a test makes no use of.
func (s *sections) usedOf(read *ast.AssignStmt, test *ast.IfStmt) string {
	used := map[string]bool{}
	ast.Inspect(test, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	})
	var names []string
	for _, lhs := range read.Lhs {
		if name := s.file.Text(lhs); used[name] {
			names = append(names, name)
		} else {
			names = append(names, "_")
		}
	}
	var values []string
	for _, rhs := range read.Rhs {
		values = append(values, s.file.Text(rhs))
	}
	return strings.Join(names, ", ") + " := " + strings.Join(values, ", ")
}

// underSecond writes the test as it is right under the second lock: what released the first one
// releases that, or nothing does where a deferred call will.
func (s *sections) underSecond(test *ast.IfStmt, text string) (string, error) {
	releases := 0
	var release string
	var err error
	ast.Inspect(test, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
			err = fmt.Errorf("%s: the test starts or defers something", s.file.At(n))
		case *ast.ExprStmt:
			if op, ok := lockOpOf(s.file, n); ok && !op.Acquire && op.Path.Key == s.lock.Path.Key {
				releases, release = releases+1, s.file.Text(n)
			} else if ok {
				err = fmt.Errorf("%s: the test uses the lock in other ways", s.file.At(n))
			}
		}
		return err == nil
	})
	inside := s.list[s.released].Pos() > test.Pos() // the test lies in the first section
	switch {
	case err != nil:
		return "", err
	case inside && releases != 1:
		return "", fmt.Errorf("%s: the lock is not released once before the function is left", s.file.At(test))
	case !inside && releases > 0:
		return "", fmt.Errorf("%s: a lock is released that is not held", s.file.At(test))
	}
	unlock := s.file.Text(s.lock.Expr) + ".Unlock()"
	indent := "\n" + s.file.Indent(test.Body.List[0].Pos())
	switch {
	case inside && s.deferred:
		return strings.Replace(text, indent+release, "", 1), nil
	case inside:
		return strings.Replace(text, release, unlock, 1), nil
	case s.deferred:
		return text, nil
	}
	open := strings.Index(text, "{"+indent)
	if open < 0 || test.Body.Lbrace == token.NoPos {
		return "", fmt.Errorf("%s: the test is written in one line", s.file.At(test))
	}
	return text[:open+1] + indent + unlock + text[open+1:], nil
}

// meansTheSame returns an error where the words of the test may not mean under the second lock what they meant when it
// was first made, or where it or what is done in between does something that lasts.
func (s *sections) meansTheSame(read *ast.AssignStmt) error {
	words := s.file.LocalsIn(s.branch.Cond)
	made := []ast.Node{s.branch.Cond}
	outer := source.ListOf(s.file, s.branch)
	from := slices.Index(outer, ast.Stmt(s.branch))
	if read != nil {
		maps.Copy(words, s.file.LocalsIn(read))
		made = append(made, read)
		if i := slices.Index(outer, ast.Stmt(read)); i >= 0 {
			from = i + 1
		}
	}
	before := outer[from:slices.Index(outer, ast.Stmt(s.branch))]
	if err := s.isUnchanged(words, s.list[:s.second]); err != nil {
		return err
	}
	return s.leavesNothing(made, slices.Concat(before, s.list[:s.second]))
}

// isUnchanged returns an error where statements set one of the variables, or declare another one of the same name.
func (s *sections) isUnchanged(words map[types.Object]bool, between []ast.Stmt) error {
	names := map[string]bool{}
	for v := range words {
		names[v.Name()] = true
	}
	for _, stmt := range between {
		if v := s.file.Sets(stmt, words); v != nil {
			return fmt.Errorf("%s: %s is set before the second critical section", s.file.At(stmt), v.Name())
		}
		if shadow := s.firstIdent(stmt, func(id *ast.Ident) bool {
			return names[id.Name] && s.file.Package.Info.Defs[id] != nil
		}); shadow != nil {
			return fmt.Errorf("%s: %s is another variable here", s.file.At(shadow), shadow.Name)
		}
	}
	return nil
}

// isMissedBehind returns an error where what the section leaves undone is missed: a variable that it sets, or one that
// was made for it and is used later on. Those that the read sets anew are not.
func (s *sections) isMissedBehind(read *ast.AssignStmt, section []ast.Stmt) error {
	info := s.file.Package.Info
	results := map[types.Object]bool{}
	for _, lhs := range resultsOf(read) {
		id, ok := lhs.(*ast.Ident)
		if !ok {
			return fmt.Errorf("%s: what is read goes into more than variables", s.file.At(read))
		}
		results[info.ObjectOf(id)] = id.Name != "_"
	}
	// Of the variables in the section, those from outside of it, and of these those that are younger than the test.
	from, end := section[0].Pos(), section[len(section)-1].End()
	own, made := map[types.Object]bool{}, map[types.Object]bool{}
	for _, stmt := range section {
		for v := range s.file.LocalsIn(stmt) {
			if !results[v] && (v.Pos() < from || v.Pos() > end) {
				own[v], made[v] = true, v.Pos() > s.entry.Pos()
			}
		}
	}
	for _, stmt := range section {
		if v := s.file.Sets(stmt, own); v != nil {
			return fmt.Errorf("%s: %s is set only if the test still holds", s.file.At(stmt), v.Name())
		}
	}
	if id := s.firstIdent(s.function.Body, func(id *ast.Ident) bool {
		return id.Pos() > end && made[info.Uses[id]]
	}); id != nil {
		return fmt.Errorf("%s: %s is of use only if the test still holds", s.file.At(id), id.Name)
	}
	// A goroutine or a deferred call would see what is read the second time.
	if id := s.firstIdent(s.function.Body, func(id *ast.Ident) bool {
		return results[info.Uses[id]] && s.file.FunctionOf(id) != s.function
	}); id != nil {
		return fmt.Errorf("%s: %s is used by a function literal", s.file.At(id), id.Name)
	}
	return nil
}
