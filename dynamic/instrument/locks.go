package instrument

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// Calls of the methods of locks go through the monitor, which so knows the locks that each
// goroutine holds and waits for. Method values do as well, so that no release is missed:
//
//	x.mu.Lock()          locks.OfMutex(&x.mu, 7).Lock()
//	defer c.Unlock()     defer locks.OfMutex(&c.Mutex, 8).Unlock()
//	unlock := mu.Unlock  unlock := locks.OfMutex(mu, 9).Unlock
//
// Only the operand changes, which is evaluated where it was; the call around it cannot block.

// watchLocks puts the monitor around the operands of the file's uses of locks.
func (r *rewriter) watchLocks() {
	for _, use := range r.locks {
		pre, post := "%slock.Of%s(&", fmt.Sprintf(", %d)", use.ID)
		if use.Pointer || use.Kind == sites.Locker {
			pre = strings.TrimSuffix(pre, "&")
		}
		if path := r.fieldsLeft(use); path != "" {
			post = "." + path + post
		}
		x := use.Selector.X
		r.Wrap(x.Pos(), x.End(), textedit.RankLock,
			[]textedit.Piece{textedit.Textf(pre, r.Prefix, use.Kind)}, []textedit.Piece{textedit.Text(post)})
	}
}

// fieldsLeft returns the embedded fields between the operand and the lock that no monitored
// access puts into the text already.
func (r *rewriter) fieldsLeft(use sites.LockUse) string {
	for _, a := range r.Accesses {
		if a.Through != "" && a.Unmonitored == "" && a.Node == ast.Unparen(use.Selector.X) {
			return strings.TrimPrefix(strings.TrimPrefix(use.Through, a.Through), ".")
		}
	}
	return use.Through
}
