// Package testuselimit has a limit that is tested by one atomic operation and used up by the next. IL2002.
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
	if l.in.Load() >= l.max { // want IL2002 entry
		return 0, false
	}
	return l.in.Add(1), true // want IL2002 end
}

// Leave makes room.
func (l *Limit) Leave() { l.in.Add(-1) }
