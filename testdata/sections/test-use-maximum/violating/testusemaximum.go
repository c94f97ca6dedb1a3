// Package testusemaximum has a maximum that is compared and stored by two operations. IL2002.
package testusemaximum

import "sync/atomic"

// Peak is the greatest number seen.
type Peak struct{ n atomic.Int64 }

// See takes a number in.
func (p *Peak) See(n int64) {
	if n > p.n.Load() { // want IL2002 entry
		p.n.Store(n) // want IL2002 end
	}
}

// Max tells the greatest number so far.
func (p *Peak) Max() int64 { return p.n.Load() }
