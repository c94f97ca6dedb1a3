// Package loadstoreatomic has two atomic operations that are not one. IL2001.
package loadstoreatomic

import "sync/atomic"

// Average is a moving average of samples, in thousandths.
type Average struct {
	value atomic.Int64
	count atomic.Int64
}

// Add takes a sample in.
func (a *Average) Add(sample int64) {
	old := a.value.Load()       // want IL2001 entry
	a.value.Store(old + sample) // want IL2001 end
	a.count.Add(1)
}

// Sum and Count tell what was taken in.
func (a *Average) Sum() int64   { return a.value.Load() }
func (a *Average) Count() int64 { return a.count.Load() }
