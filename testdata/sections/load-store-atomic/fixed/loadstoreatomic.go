// Package loadstoreatomic has it mended: compare and swap.
package loadstoreatomic

import "sync/atomic"

// Average is a moving average of samples, in thousandths.
type Average struct {
	value atomic.Int64
	count atomic.Int64
}

// Add takes a sample in.
func (a *Average) Add(sample int64) {
	for {
		old := a.value.Load()
		if a.value.CompareAndSwap(old, old+sample) {
			break
		}
	}
	a.count.Add(1)
}

// Sum and Count tell what was taken in.
func (a *Average) Sum() int64   { return a.value.Load() }
func (a *Average) Count() int64 { return a.count.Load() }
