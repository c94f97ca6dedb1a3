package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
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
// the same words. Obligation: [validate.OneStep].
func recheck(p *Problem) (*strategy.Patch, error) {
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

// sections are two critical sections of one lock in one list of statements,
// of which the first tests and the second uses.
type sections struct {
	*Problem
	file     *source.File
	function *source.Function
	edits    *edit.Edits
	list     []ast.Stmt
	first    int // of the first Lock
	released int // of the Unlock that ends the first section
	second   int // of the second Lock
	deferred bool
	lock     source.LockOp // the second one
	entry    ast.Node      // the test's read
	// branch is the test that leads to the second section, where that is in its body: list is the body, and first and
	// released are not set. nil where both sections are in one list.
	branch *ast.IfStmt
}

// correctSections corrects each section of the findings, and claims that they are one step now.
func (p *Problem) correctSections(correct func(*sections) error) (*strategy.Patch, error) {
	edits := edit.New()
	claim := validate.Claim{Kind: validate.OneStep}
	done := map[ast.Stmt]bool{}
	for _, f := range p.Findings {
		if f.Section == nil {
			return nil, errors.New("the finding names no section")
		}
		for _, section := range append([]finding.Section{*f.Section}, f.Section.Also...) {
			s, err := p.sectionsOf(section)
			if err != nil {
				return nil, err
			}
			s.edits = edits
			if done[s.list[s.second]] {
				continue
			}
			done[s.list[s.second]] = true
			if err := correct(s); err != nil {
				return nil, err
			}
			claim.Lock = s.lock.Path.Class
		}
		claim.Variable = validate.Variable{Package: f.Variable.Package, Type: f.Variable.Type, Name: f.Variable.Name}
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: claim}, err
}

// loadAndStore is the kind of a section that loads, and stores what depends on it.
const loadAndStore = "load-and-store"

// sectionsOf finds the critical sections around a test and its use.
func (p *Problem) sectionsOf(of finding.Section) (*sections, error) {
	entryIs, endIs := "the test", "the use"
	if of.Kind == loadAndStore {
		entryIs, endIs = "the load", "the store"
	}
	if of.EntryCall != nil || of.EndCall != nil {
		return nil, fmt.Errorf("%s: %s or %s is made by a callee", of.End, entryIs, endIs)
	}
	entry, err := p.at(of.Entry)
	if err != nil {
		return nil, err
	}
	end, err := p.at(of.End)
	if err != nil {
		return nil, err
	}
	s := &sections{Problem: p, file: end.file, function: end.function(), entry: entry.path[0]}
	if entry.file != end.file || entry.function() != s.function || s.function == nil {
		return nil, fmt.Errorf("%s: %s and %s are in two functions", of.End, entryIs, endIs)
	}
	// From the use outwards, the list with the second Lock before it, a release, and the first Lock.
	for n := ast.Node(end.file.StmtOf(end.path[0])); n != nil && n != ast.Node(s.function.Body); n = s.file.Parents[n] {
		stmt, ok := n.(ast.Stmt)
		if !ok {
			continue
		}
		s.list = source.ListOf(s.file, stmt)
		if use := slices.Index(s.list, stmt); s.bounds(use) || s.boundsInBranch(use) {
			return s, nil
		}
	}
	reason := fmt.Errorf("%s: %s and %s are not in two critical sections of one list of statements, and no test leads to "+
		"the second one", of.End, entryIs, endIs)
	if !s.usesLock() {
		return nil, strategy.NotMeant("%w", reason)
	}
	return nil, reason
}

// usesLock reports whether there is an operation on a lock in the function.
func (s *sections) usesLock() (found bool) {
	s.function.EachCall(func(call *ast.CallExpr) {
		_, ok := s.file.LockOp(call)
		found = found || ok
	})
	return found
}

// bounds finds the Locks and the release before list[use], and reports whether all are there.
func (s *sections) bounds(use int) bool {
	s.second = -1
	for i := use - 1; i >= 0; i-- {
		op, ok := lockOpOf(s.file, s.list[i])
		switch {
		case !ok:
		case s.second < 0 && op.Acquire && !op.Read:
			s.second, s.lock, s.released = i, op, -1
		case s.second < 0 || op.Path.Key != s.lock.Path.Key:
			return false
		case s.released < 0 && !op.Acquire:
			s.released = i
		case s.released >= 0 && op.Acquire:
			s.first = i
			s.deferred = releasesDeferred(s.file, s.list[s.second+1], s.lock)
			tested := s.list[i].Pos() < s.entry.Pos() && s.entry.Pos() < s.list[s.released].Pos()
			return tested
		default:
			return false
		}
	}
	return false
}

// eachOp visits the operations on the lock in the function.
func (s *sections) eachOp(visit func(source.LockOp) error) (err error) {
	s.function.EachCall(func(call *ast.CallExpr) {
		if op, ok := s.file.LockOp(call); ok && op.Path.Key == s.lock.Path.Key && err == nil {
			err = visit(op)
		}
	})
	return err
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

// boundsInBranch finds the second Lock before list[use] in the branch of a test, the release in front of it there or
// before the test, and the first Lock before the test. It reports whether all are there.
//
//	c.mu.RLock()
//	_, ok := c.m[key]
//	c.mu.RUnlock()
//	if !ok {
//		c.mu.Lock()
//		c.m[key] = n
//		c.mu.Unlock()
//	}
func (s *sections) boundsInBranch(use int) bool {
	if use < 0 {
		return false
	}
	body := s.file.Parents[s.list[use]]
	test, ok := s.file.Parents[body].(*ast.IfStmt)
	if !ok || ast.Node(test.Body) != body {
		return false
	}
	outer := source.ListOf(s.file, test)
	at := slices.Index(outer, ast.Stmt(test))
	if at < 0 {
		return false
	}
	// From the use backwards: the second Lock, the release, the first Lock.
	s.second, s.branch = -1, nil
	var released ast.Stmt
	for _, stmt := range slices.Backward(slices.Concat(outer[:at], s.list[:use])) {
		op, ok := lockOpOf(s.file, stmt)
		switch {
		case !ok:
		case s.second < 0 && op.Acquire && !op.Read && stmt.Pos() > test.Pos():
			s.second, s.lock = slices.Index(s.list, stmt), op
		case s.second < 0 || op.Path.Key != s.lock.Path.Key:
			return false
		case released == nil && !op.Acquire:
			released = stmt
		case released != nil && op.Acquire && stmt.Pos() < test.Pos():
			s.branch = test
			s.deferred = releasesDeferred(s.file, s.list[s.second+1], s.lock)
			return stmt.Pos() < s.entry.Pos() && s.entry.Pos() < released.Pos()
		default:
			return false
		}
	}
	return false
}

// againInBranch makes the test again under the second lock, where it leads there. What it reads goes into the same
// variables, so that what follows sees what is there by now:
//
//	e, ok := c.m[key]
//	c.mu.RUnlock()
//	if !ok {
//		c.mu.Lock()
//		if e, ok = c.m[key]; !ok {	<- new
//			e = new(entry)
//			c.m[key] = e
//		}				<- new
//		c.mu.Unlock()
//	}
//
// The section is left out if the test does not hold any more. So it is the last in the branch, which has no other side
// to take then, and nothing that it sets or uses by itself counts for what follows.
func (s *sections) againInBranch() error {
	section, err := s.lastInBranch()
	if err != nil {
		return err
	}
	// if r, ok := c.m[key]; !ok {, or the assignment before the test
	read, ok := s.branch.Init.(*ast.AssignStmt)
	if s.branch.Init == nil && s.entry.Pos() < s.branch.Pos() {
		read, ok = s.file.StmtOf(s.entry).(*ast.AssignStmt)
	}
	if !ok && s.entry.Pos() < s.branch.Cond.Pos() {
		return fmt.Errorf("%s: what is tested is not read by an assignment", s.file.At(s.entry))
	}
	if read != nil && (s.entry.Pos() < read.Pos() || read.End() < s.entry.Pos()) {
		return fmt.Errorf("%s: the test has an init statement of its own", s.file.At(s.branch))
	}
	header := "if " + s.file.Text(s.branch.Cond) + " {"
	if read != nil {
		header = "if " + strings.Replace(s.file.Text(read), " := ", " = ", 1) +
			"; " + s.file.Text(s.branch.Cond) + " {"
	}
	if read != nil && s.file.Sets(read, s.file.LocalsIn(s.branch.Cond)) == nil {
		return fmt.Errorf("%s: the test does not depend on what was read", s.file.At(s.branch))
	}
	if err := s.meansTheSame(read); err != nil {
		return err
	}
	if err := s.isMissedBehind(read, section); err != nil {
		return err
	}
	s.edits.After(s.file, s.list[slices.Index(s.list, section[0])-1], func() string {
		return "// Another goroutine may have been here since the lock was released.\n" + header
	})
	s.edits.After(s.file, section[len(section)-1], func() string { return "}" })
	return nil
}

// lastInBranch returns the statements of the second section, which must be the last of the branch and may not leave it.
func (s *sections) lastInBranch() ([]ast.Stmt, error) {
	// It goes on to the end of the branch, a release apart.
	section := s.list[s.second+1:]
	if s.deferred {
		section = section[1:]
	} else {
		last := len(section) - 1
		op, ok := lockOpOf(s.file, section[last])
		if !ok || op.Acquire || op.Path.Key != s.lock.Path.Key {
			return nil, fmt.Errorf("%s: what follows the second critical section is right only if the test still holds",
				s.file.At(section[last]))
		}
		section = section[:last]
	}
	if s.branch.Else != nil && !s.onlyReleases(s.branch.Else) {
		return nil, fmt.Errorf("%s: the other branch is right if the test does not hold any more", s.file.At(s.branch.Else))
	}
	for _, stmt := range section {
		var leaves ast.Node
		ast.Inspect(stmt, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ReturnStmt, *ast.BranchStmt, *ast.LabeledStmt, *ast.DeferStmt, *ast.GoStmt, *ast.FuncLit:
				leaves = n
			case *ast.ExprStmt:
				if _, ok := lockOpOf(s.file, n); ok {
					leaves = n
				}
			}
			return leaves == nil
		})
		if leaves != nil {
			return nil, fmt.Errorf("%s: the second critical section does more than what the test decides about",
				s.file.At(leaves))
		}
	}
	return section, nil
}

// onlyReleases reports whether a block does nothing but release the lock, now or by a deferred call.
func (s *sections) onlyReleases(block ast.Stmt) bool {
	b, ok := block.(*ast.BlockStmt)
	return ok && !slices.ContainsFunc(b.List, func(stmt ast.Stmt) bool {
		op, ok := lockOpOf(s.file, stmt)
		if d, isDefer := stmt.(*ast.DeferStmt); isDefer {
			op, ok = s.file.LockOp(d.Call)
		}
		return !ok || op.Acquire || op.Path.Key != s.lock.Path.Key
	})
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

// resultsOf lists what a read goes into; none for nil.
func resultsOf(read *ast.AssignStmt) []ast.Expr {
	if read == nil {
		return nil
	}
	return read.Lhs
}

// firstIdent returns the first identifier below n that matches; nil if none does.
func (s *sections) firstIdent(n ast.Node, matches func(*ast.Ident) bool) (found *ast.Ident) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && found == nil && matches(id) {
			found = id
		}
		return found == nil
	})
	return found
}
