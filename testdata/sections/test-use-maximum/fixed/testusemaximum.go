// Package testusemaximum has it mended: compare and swap.
package testusemaximum

import "sync/atomic"

// Peak is the greatest number seen.
type Peak struct{ n atomic.Int64 }

// See takes a number in.
func (p *Peak) See(n int64) {
	for {
		old := p.n.Load()
		if n <= old || p.n.CompareAndSwap(old, n) {
			return
		}
	}
}

// Max tells the greatest number so far.
func (p *Peak) Max() int64 { return p.n.Load() }
