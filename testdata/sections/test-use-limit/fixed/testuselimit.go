// Package testuselimit has it mended: compare and swap.
package testuselimit

import "sync/atomic"

// Limit lets at most max in at a time.
type Limit struct {
	in  atomic.Int32
	max int32
}

// New makes a limit.
func New(max int32) *Limit { return &Limit{max: max} }

// Enter reports whether there was room, and how many are in now.
func (l *Limit) Enter() (now int32, ok bool) {
	for {
		n := l.in.Load()
		if n >= l.max {
			return 0, false
		}
		if l.in.CompareAndSwap(n, n+1) {
			return n + 1, true
		}
	}
}

// Leave makes room.
func (l *Limit) Leave() { l.in.Add(-1) }
