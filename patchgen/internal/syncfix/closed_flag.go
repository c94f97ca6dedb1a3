package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// closedFlag has each send on a channel ask whether it is closed, under the lock under which that is set:
//
//	func (q *queue) Close() {			func (q *queue) Put(v int) {
//		q.mu.Lock()					q.mu.RLock()
//		q.closed = true		<- new			if !q.closed {		<- new
//		close(q.items)						q.items <- v
//		q.mu.Unlock()					}			<- new
//	}							q.mu.RUnlock()
//
// The flag and the lock are those that there are, where the flag is set under the lock beside each close; or the lock
// that is held at each close, where no send may wait; else the struct gets both. A send that may wait does so under the
// lock then, which is a doubt. Obligation: [validate.SentOpen].
func closedFlag(p *Problem) (*strategy.Patch, error) {
	if !p.findsSend() {
		return nil, strategy.NotMeant("the finding names no send")
	}
	// All sends and closes, then the flag and the lock for them.
	v, err := p.closedChannel()
	if err != nil {
		return nil, err
	}
	w := &flagging{Problem: p, edits: edit.New(), locked: map[ast.Stmt]bool{}}
	w.channel = &strategy.Problem{Module: p.Module, Facts: p.Facts, Variable: v, Accesses: p.Module.Accesses(v)}
	if v.Owner == nil {
		return nil, fmt.Errorf("%s is not a field", v)
	}
	if err := w.collect(); err != nil {
		return nil, err
	}
	if err := w.choose(); err != nil {
		return nil, err
	}
	// The flag is set at each close, and asked for at each send.
	for _, a := range w.closes {
		if err := w.setAt(a); err != nil {
			return nil, err
		}
	}
	for _, s := range w.sends {
		if err := w.askAt(s); err != nil {
			return nil, err
		}
	}
	files, err := w.edits.Files()
	return &strategy.Patch{Files: files, Claim: validate.Claim{Kind: validate.SentOpen, Lock: w.class, Flag: w.flag,
		Variable: w.channel.Claimed()}}, err
}

// findsSend reports whether a finding is on a send that may find its channel closed.
func (p *Problem) findsSend() bool {
	return slices.ContainsFunc(p.Findings, func(f *finding.Finding) bool {
		return slices.ContainsFunc(f.Accesses, func(a finding.Access) bool { return a.Mode == finding.Send })
	})
}

// flagging is the work on one channel.
type flagging struct {
	*Problem
	edits   *edit.Edits
	channel *strategy.Problem
	closes  []*source.Access
	sends   []sending
	flag    string // the field
	lock    string // the field
	class   string // of the lock
	hasRead bool   // the lock has a read side
	isSet   bool   // each close sets the flag already
	locked  map[ast.Stmt]bool
}

// sending is a send on the channel.
type sending struct {
	*source.Access
	stmt  ast.Stmt // the send, or the select of which it is a case
	polls bool     // the select has a default
}

// collect finds the sends on the channel and its closes.
func (w *flagging) collect() error {
	for _, a := range w.channel.Accesses {
		if a.File.Test {
			continue
		}
		switch n := a.File.Parents[a.Expr].(type) {
		case *ast.SendStmt:
			if n.Chan == a.Expr {
				w.sends = append(w.sends, sendingOf(a, n))
			}
		case *ast.CallExpr:
			if !source.IsBuiltin(a.File, n, "close") {
				continue
			}
			if _, ok := a.File.Parents[n].(*ast.ExprStmt); !ok {
				return fmt.Errorf("%s: the close is no statement", a.File.At(n))
			}
			w.closes = append(w.closes, a)
		}
		if a.Mode == source.Address {
			return fmt.Errorf("%s: the address of %s is taken", a.File.At(a.Expr), w.channel.Variable)
		}
	}
	if len(w.closes) == 0 || len(w.sends) == 0 {
		return fmt.Errorf("%s is closed, or sent on, under another name", w.channel.Variable)
	}
	return nil
}

// sendingOf finds the statement of a send.
func sendingOf(a *source.Access, send *ast.SendStmt) sending {
	s := sending{a, send, false}
	if clause, ok := a.File.Parents[send].(*ast.CommClause); ok && clause.Comm == ast.Stmt(send) {
		sel := a.File.Parents[a.File.Parents[clause]].(*ast.SelectStmt)
		s.stmt = sel
		for _, c := range sel.Body.List {
			s.polls = s.polls || c.(*ast.CommClause).Comm == nil
		}
	}
	return s
}

// choose decides on the flag and the lock, and declares what is new.
func (w *flagging) choose() error {
	if w.flagThere() {
		return nil
	}
	w.flag = "closed"
	owner, _ := source.StructOf(w.channel.Variable.Owner)
	for i := range owner.NumFields() {
		if owner.Field(i).Name() == w.flag {
			w.flag = source.LowerFirst(w.channel.Variable.Name) + "Closed"
		}
	}
	mayWait := slices.ContainsFunc(w.sends, func(s sending) bool { return !s.polls && !w.isHeld(s.Access) })
	lock := ""
	if field := w.onlyLock(); field == nil || mayWait {
		lock = source.LowerFirst(w.channel.Variable.Name) + "Mu"
		w.lock, w.hasRead = lock, true
	}
	class, err := w.channel.DeclareFlag(w.edits, w.flag, lock)
	if lock != "" {
		w.class = class
	}
	return err
}

// flagThere finds a flag that each close sets under a lock of the object.
//
//	s.closed = true
//	close(s.ch)
func (w *flagging) flagThere() bool {
	for _, a := range w.closes {
		name, class := w.flagBeside(a)
		if name == "" || w.flag != "" && name != w.flag || !w.useLock(class) {
			w.flag = ""
			return false
		}
		w.flag, w.isSet = name, true
	}
	return true
}

// flagBeside returns the flag that a function sets beside a close, and the class of the lock that it holds at both.
func (w *flagging) flagBeside(a *source.Access) (name, class string) {
	held := w.Facts.Classes(a)
	ast.Inspect(a.Function.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || set.Tok != token.ASSIGN || len(set.Lhs) != 1 || a.File.Text(set.Rhs[0]) != "true" {
			return true
		}
		sel, ok := set.Lhs[0].(*ast.SelectorExpr)
		if !ok || a.File.Text(sel.X) != a.File.Text(a.Base) {
			return true
		}
		e, obj := a.File.VariableOf(sel)
		if obj == nil || !obj.IsField() || obj.Type() != types.Typ[types.Bool] {
			return true
		}
		for _, other := range w.Module.Accesses(w.Module.NewVariable(obj, a.File, e)) {
			if other.Expr != ast.Expr(sel) {
				continue
			}
			for _, c := range w.Facts.Classes(other) {
				if slices.Contains(held, c) && w.lockField(c) != nil {
					name, class = obj.Name(), c
				}
			}
		}
		return true
	})
	return name, class
}

// lockField returns the field of the struct that a class of locks is.
func (w *flagging) lockField(class string) *types.Var {
	owner, _ := source.StructOf(w.channel.Variable.Owner)
	for i := range owner.NumFields() {
		f := owner.Field(i)
		if source.IsMutex(f.Type()) && source.OwnerName(w.channel.Variable.Owner)+"."+f.Name() == class {
			return f
		}
	}
	return nil
}

// useLock has the flag under the lock of a class, and reports whether that is a field of the struct.
func (w *flagging) useLock(class string) bool {
	f := w.lockField(class)
	if f == nil {
		return false
	}
	w.lock, w.class, w.hasRead = f.Name(), class, source.HasRLock(f.Type())
	return true
}

// onlyLock takes the lock that is held at the closes, or at the sends, or the only one of the struct; nil if there is
// none.
func (w *flagging) onlyLock() *types.Var {
	var classes []string
	for _, a := range w.closes {
		classes = append(classes, w.Facts.Classes(a)...)
	}
	for _, s := range w.sends {
		classes = append(classes, w.Facts.Classes(s.Access)...)
	}
	owner, _ := source.StructOf(w.channel.Variable.Owner)
	for i := range owner.NumFields() {
		if f := owner.Field(i); source.IsMutex(f.Type()) {
			classes = append(classes, source.OwnerName(w.channel.Variable.Owner)+"."+f.Name())
		}
	}
	slices.Sort(classes)
	classes = slices.Compact(classes)
	classes = slices.DeleteFunc(classes, func(c string) bool { return w.lockField(c) == nil })
	if len(classes) != 1 || !w.useLock(classes[0]) {
		return nil
	}
	return w.lockField(classes[0])
}

// isHeld reports whether a lock of the struct is held at an access.
func (w *flagging) isHeld(a *source.Access) bool {
	return slices.ContainsFunc(w.Facts.Classes(a), func(c string) bool { return w.lockField(c) != nil })
}

// isLocked reports whether the lock of the flag is held at an access.
func (w *flagging) isLocked(a *source.Access) bool {
	return slices.Contains(w.Facts.Classes(a), w.class)
}

// setAt sets the flag where the channel is closed.
func (w *flagging) setAt(a *source.Access) error {
	if w.isSet {
		return nil
	}
	if a.Base == nil {
		return errors.New("the channel is closed under another name")
	}
	object := a.File.Text(a.Base)
	stmt := a.File.Parents[a.File.Parents[a.Expr]].(*ast.ExprStmt)
	if test := closedTest(a.File, stmt); test != nil && !w.isLocked(a) {
		return fmt.Errorf("%s: a test whether it is closed already stands around the close", a.File.At(test))
	}
	before, after := object+"."+w.flag+" = true", ""
	// close, close: the second one is left out
	if w.closesTwice() {
		before, after = "if !"+object+"."+w.flag+" {\n"+before, "}"
	}
	if !w.isLocked(a) {
		before = object + "." + w.lock + ".Lock()\n" + before
		after += "\n" + object + "." + w.lock + ".Unlock()"
	}
	w.edits.Before(a.File, stmt, func() string { return before })
	if after != "" {
		w.edits.After(a.File, stmt, func() string { return trimmed(after) })
	}
	return nil
}

// closesTwice reports whether a finding is on two closes.
func (w *flagging) closesTwice() bool {
	return slices.ContainsFunc(w.Findings, func(f *finding.Finding) bool {
		return !slices.ContainsFunc(f.Accesses, func(a finding.Access) bool { return a.Mode != finding.CloseChan })
	})
}
