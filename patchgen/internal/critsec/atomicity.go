package critsec

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// A patch must not turn a race into a check-then-act: where a read decides
// about a later access of state under the same lock, both go into one region,
// whether the later access is of the same variable or of another that the
// lock guards. The one split that is left, with a note, is that of a read and
// a later access of the same variable with something between them that cannot
// be held: the author had it between them too, so nobody could rely on the two
// being one step, and holding the lock across it could block for ever. For two
// variables that is no excuse: without the lock a reader of the code saw a
// race, with two regions he would see locking, and values that do not belong
// together; except where the other one is only counted, and comes under the lock
// because it is raced for too.

// Protect runs the cover so that what belongs together lies in one region:
// as small regions if they do, else as one region to the end of the function.
// What stays apart all the same is an error or, for one variable, a note.
func (c *Task) Protect() (notes []string, err error) {
	b := newBuilder(c, c.edits)
	if err := b.moveLock(); err != nil {
		return nil, err
	}
	b.copyFetched()
	trial := newBuilder(c, edit.New())
	if err := trial.run(); err != nil {
		return nil, err
	}
	c.Torn = nil
	if _, err := trial.splitPairs(); err != nil || len(c.Torn) > 0 {
		if b.toTheEnd() {
			c.Torn = nil
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	if err := b.run(); err != nil {
		return nil, err
	}
	c.Torn, c.LateWrites = nil, nil
	notes, err = b.splitPairs()
	c.TwoSteps = b.split()
	return notes, err
}

// splitPairs looks for accesses that belong together in different regions.
func (c *builder) splitPairs() (notes []string, err error) {
	own := c.In(c.Function.Body)
	for _, a := range own {
		for _, b := range own {
			if c.regionOf[a.Expr] == c.regionOf[b.Expr] || !c.Facts.Decides(a, b) {
				continue
			}
			if err := c.mayStayApart(a, b); err != nil {
				return nil, err
			}
			notes = append(notes, c.stayTwo(a, b))
			if b.Mode.Writes() {
				c.LateWrites = append(c.LateWrites, notes[len(notes)-1])
			}
		}
		for _, b := range c.AlreadyHeld {
			if !c.Facts.Decides(a, b) || c.testedAgain(a, b) {
				continue
			}
			if err := c.mayStayApart(a, b); err != nil {
				return nil, err
			}
			notes = append(notes, c.stayTwo(a, b))
			if b.Mode.Writes() {
				c.LateWrites = append(c.LateWrites, notes[len(notes)-1])
			}
		}
	}
	return notes, nil
}

func (c *Task) stayTwo(a, b *source.Access) string {
	what := "access"
	if b.Mode.Writes() {
		what = "write"
	}
	name := c.Variable.String()
	if source.NameOf(a.Expr).Name != c.Variable.Name {
		name = c.File.Text(a.Expr)
	}
	return fmt.Sprintf("%s (%s): the read and the later %s of %s stay two steps as they were, "+
		"since what lies between cannot be done under the lock", c.Function.Name(), c.File.Path, what, name)
}

// mayStayApart returns why a and what it decides about must not stay apart; nil if
// they may. In a draft they may where something between them keeps one region from
// holding both, and Torn has the reason.
func (c *Task) mayStayApart(a, b *source.Access) error {
	why, again := c.between(a, b)
	isKept := why != ""
	switch {
	case why != "" && (sameVar(a, b) || b.Mode == source.Update && c.Beside[b.Expr]):
		return nil
	case why == "" && again != "":
		why = "the lock is taken anew at " + again
	case why == "":
		why = "no one region can hold both"
	}
	err := fmt.Errorf("%s: %s decides about %s (%s), and two regions are not one step: %s",
		c.File.At(a.Expr), source.NameOf(a.Expr).Name, source.NameOf(b.Expr).Name, c.File.At(b.Expr), why)
	if !isKept || !c.Facts.IsBold() {
		return err
	}
	if !slices.ContainsFunc(c.Torn, func(t Decision) bool { return t.test == a && sameVar(t.use, b) }) {
		c.Torn = append(c.Torn, Decision{a, b, err})
	}
	return nil
}

// Decision is a test of one variable that decides about the use of another.
type Decision struct {
	test, use *source.Access
	Err       error // why they are not one step
}

func sameVar(a, b *source.Access) bool {
	_, v := a.File.VariableOf(a.Expr)
	_, w := b.File.VariableOf(b.Expr)
	return v != nil && w != nil && v.Origin() == w.Origin()
}

// between returns what lies between two accesses, or around the second one, that
// must not be done under the lock; and where the lock itself is taken there.
func (c *Task) between(a, b *source.Access) (why, again string) {
	end := b.Expr.Pos()
	if s := c.File.StmtOf(b.Expr); s != nil && c.File.SimpleAround(b.Expr) == ast.Node(s) {
		end = s.End()
	}
	ast.Inspect(c.Function.Body, func(n ast.Node) bool {
		if n == nil || why != "" || n.End() <= a.Expr.Pos() || n.Pos() >= end {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return c.File.RunsAt(c.File.Module.FunctionAt(n)) != nil
		case *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.CallExpr:
			if op, ok := c.File.LockOp(n); ok && op.Path.Key == c.LockKey && n.Pos() > a.Expr.Pos() {
				again = c.File.At(n)
			} else if !ok || op.Path.Key != c.LockKey {
				why = c.callReason(n)
			}
		case *ast.SendStmt, *ast.SelectStmt, *ast.UnaryExpr, *ast.RangeStmt:
			if source.IsWait(n) {
				why = c.blockingHeader(n)
			}
		}
		return why == ""
	})
	return why, again
}

// blockingHeader returns why a statement or expression waits by itself.
func (c *Scope) blockingHeader(n ast.Node) string {
	if loop, ok := n.(*ast.RangeStmt); ok {
		return c.Facts.HeaderBlocks(c.File, loop)
	}
	return c.blocks(n)
}

// testedAgain reports whether a critical section reads a's variable once more
// before b, so that the read without the lock is a hint only.
func (c *Task) testedAgain(a, b *source.Access) bool {
	for _, again := range c.AlreadyHeld {
		if again == b || again.Mode != source.Read || !sameVar(a, again) || again.Expr.Pos() > b.Expr.Pos() ||
			again.Expr.Pos() < a.Expr.Pos() {
			continue
		}
		if c.Facts.Decides(again, b) && !c.unlockedBetween(again, b) {
			return true
		}
	}
	return sameVar(a, b) && b.Mode == source.Read && c.rereads(b)
}

// rereads: a read under the lock of what was read before it is itself the
// second test.
func (c *Task) rereads(b *source.Access) bool {
	_, isIf := c.File.StmtOf(b.Expr).(*ast.IfStmt)
	return isIf
}

func (c *Task) unlockedBetween(a, b *source.Access) (found bool) {
	ast.Inspect(c.Function.Body, func(n ast.Node) bool {
		if _, ok := n.(*ast.DeferStmt); ok {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok && a.Expr.Pos() < call.Pos() && call.Pos() < b.Expr.Pos() {
			op, isOp := c.File.LockOp(call)
			found = found || isOp && !op.Acquire && op.Path.Key == c.LockKey
		}
		return !found
	})
	return found
}

// toTheEnd holds the lock from the first access to the end of the function,
// if nothing speaks against it.
func (c *builder) toTheEnd() bool {
	for i, s := range c.Function.Body.List {
		if c.has(s) {
			return c.holdTail(c.Function.Body.List[i:])
		}
	}
	return false
}
