package syncfix

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

func trimmed(s string) string { return strings.TrimPrefix(s, "\n") }

// askAt has a send ask for the flag before.
func (w *flagging) askAt(s sending) error {
	if s.Base == nil || w.locked[s.stmt] {
		return nil
	}
	w.locked[s.stmt] = true
	if _, labeled := s.File.Parents[s.stmt].(*ast.LabeledStmt); labeled {
		return fmt.Errorf("%s: the statement has a label", s.File.At(s.stmt))
	}
	list := source.ListOf(s.File, s.stmt)
	at := slices.Index(list, s.stmt)
	if at < 0 {
		return fmt.Errorf("%s: the send stands in no list of statements", s.File.At(s.stmt))
	}
	// A read lock is enough to ask.
	object := s.File.Text(s.Base)
	lock, unlock := object+"."+w.lock+".Lock()", object+"."+w.lock+".Unlock()"
	if w.hasRead {
		lock, unlock = object+"."+w.lock+".RLock()", object+"."+w.lock+".RUnlock()"
	}
	flag := object + "." + w.flag
	exit := leaving(s.File, s.stmt)
	// The fewer lines are new, the earlier the case.
	switch {
	case w.isLocked(s.Access) && w.askedBefore(s, list[:at]):
		return nil
	case w.isLocked(s.Access) && exit == nil:
		w.edits.Before(s.File, s.stmt, func() string { return "if !" + flag + " {" })
		w.edits.After(s.File, s.stmt, func() string { return "}" })
		return nil
	case exit == nil && at > 0 && w.askedBefore(s, list[:at-1]) && w.isRelease(s, list[at-1]):
		text := w.edits.Cut(s.File, list[at-1])
		w.edits.After(s.File, s.stmt, func() string { return text })
		return nil
	case w.isTail(s, list, at):
		leave, err := w.leaveClosed(s, list[at+1:])
		if err != nil {
			return err
		}
		text := "if " + flag + " {\n\t" + leave + "\n}"
		if !w.isLocked(s.Access) {
			text = lock + "\ndefer " + unlock + "\n" + text
		}
		w.edits.Before(s.File, s.stmt, func() string { return text })
		return nil
	case exit != nil:
		return fmt.Errorf("%s: the function may be left between the test and the Unlock", s.File.At(exit))
	}
	w.edits.Before(s.File, s.stmt, func() string { return lock + "\nif !" + flag + " {" })
	w.edits.After(s.File, s.stmt, func() string { return "}\n" + unlock })
	return nil
}

// askedBefore reports whether one of the statements leaves the function where the flag is set:
//
//	if q.closed {
//		q.mu.Unlock()
//		return ErrClosed
//	}
func (w *flagging) askedBefore(s sending, list []ast.Stmt) bool {
	return slices.ContainsFunc(list, func(stmt ast.Stmt) bool {
		test, ok := stmt.(*ast.IfStmt)
		return ok && s.File.Text(test.Cond) == s.File.Text(s.Base)+"."+w.flag && s.File.Ends(test.Body.List)
	})
}

// isRelease reports whether a statement releases the lock of the flag.
func (w *flagging) isRelease(s sending, stmt ast.Stmt) bool {
	op, ok := lockOpOf(s.File, stmt)
	return ok && !op.Acquire && op.Path.Class == w.class && s.File.Text(op.Expr) == s.File.Text(s.Base)+"."+w.lock &&
		w.Facts.IsHeld(s.File, op)
}

// isTail reports whether nothing but a return follows a send in a function with results, or in one that the send's
// select leaves.
func (w *flagging) isTail(s sending, list []ast.Stmt, at int) bool {
	f := s.Function
	if f == nil || !slices.Contains(f.Body.List, s.stmt) || len(list) > at+2 {
		return false
	}
	hasResults := f.Type.Results != nil && len(f.Type.Results.List) > 0
	if !hasResults && leaving(s.File, s.stmt) == nil {
		return false
	}
	for _, behind := range list[at+1:] {
		if _, isReturn := behind.(*ast.ReturnStmt); !isReturn || w.Facts.Blocks(s.File, behind) != "" {
			return false
		}
	}
	return true
}

// leaveClosed writes the return for a send that finds the channel closed.
func (w *flagging) leaveClosed(s sending, behind []ast.Stmt) (string, error) {
	// select { case ch <- v: return true; default: return false }
	if sel, ok := s.stmt.(*ast.SelectStmt); ok {
		for _, c := range sel.Body.List {
			if c := c.(*ast.CommClause); c.Comm == nil {
				if text, ok := constantReturn(s.File, c.Body); ok {
					return text, nil
				}
			}
		}
	}
	if s.Function.Type.Results == nil {
		return "return", nil
	}
	var values []string
	for _, r := range s.Function.Type.Results.List {
		value, err := w.closedResult(s, r.Type)
		if err != nil {
			return "", err
		}
		for range max(len(r.Names), 1) {
			values = append(values, value)
		}
	}
	return "return " + strings.Join(values, ", "), nil
}

// constantReturn returns the text of a list that is one return of names and constants.
func constantReturn(file *source.File, list []ast.Stmt) (string, bool) {
	if len(list) != 1 {
		return "", false
	}
	ret, ok := list[0].(*ast.ReturnStmt)
	if !ok {
		return "", false
	}
	for _, e := range ret.Results {
		id, isName := e.(*ast.Ident)
		isKnown := isName && file.Package.Info.Uses[id] != nil && (file.Package.Info.Uses[id].Parent() == types.Universe ||
			source.IsGlobal(file.Package.Info.Uses[id]))
		if !isKnown && file.Package.Info.Types[e].Value == nil {
			return "", false
		}
	}
	return file.Text(ret), true
}

// saysClosed matches the names of errors for what is closed: ErrClosed, errStopped.
var saysClosed = regexp.MustCompile(`(?i)^err.*(closed|stopped|shutdown)$`)

// closedResult writes a result of a function that finds its channel closed: an error that says so, else a zero value.
func (w *flagging) closedResult(s sending, e ast.Expr) (string, error) {
	t := s.File.TypeOf(e)
	if types.Identical(t, types.Universe.Lookup("error").Type()) {
		scope := w.channel.Variable.Object.Pkg().Scope()
		for _, name := range scope.Names() {
			v, isVar := scope.Lookup(name).(*types.Var)
			if isVar && types.Identical(v.Type(), t) && saysClosed.MatchString(name) && s.File.Package.Path == v.Pkg().Path() {
				return name, nil
			}
		}
		pkg := w.edits.AddImport(s.File, "errors")
		return fmt.Sprintf("%s.New(%q)", pkg, source.LowerFirst(w.channel.Variable.Owner.Obj().Name())+" is closed"), nil
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		switch info := t.Info(); {
		case info&types.IsBoolean != 0:
			return "false", nil
		case info&types.IsString != 0:
			return `""`, nil
		case info&types.IsNumeric != 0:
			return "0", nil
		}
	case *types.Pointer, *types.Interface, *types.Map, *types.Slice, *types.Chan, *types.Signature:
		return "nil", nil
	}
	return "", fmt.Errorf("%s: there is no simple result for a send that finds the channel closed", s.File.At(s.stmt))
}
