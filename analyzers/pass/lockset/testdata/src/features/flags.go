package features

import "sync/atomic"

// Flagged has flags that are locks, and such that are none.
type Flagged struct {
	busy    atomic.Bool
	word    uint32
	swapped atomic.Bool
	started atomic.Bool
	counted atomic.Int32
	n       int
}

func (f *Flagged) Try() {
	f.n++ // = none
	if !f.busy.CompareAndSwap(false, true) {
		f.n++ // = none
		return
	}
	defer f.busy.Store(false)
	f.n++ // = f.busy
}

func (f *Flagged) Spin() {
	for !atomic.CompareAndSwapUint32(&f.word, 0, 1) {
		f.n++ // = none
	}
	f.n++ // = f.word
	atomic.StoreUint32(&f.word, 0)
	f.n++ // = none
}

func (f *Flagged) Swap() {
	if f.swapped.Swap(true) {
		f.n++ // = none
		return
	}
	f.n++ // = f.swapped
	f.swapped.CompareAndSwap(true, false)
	f.n++ // = none
}

// Another function clears it, while this one's work goes on.
func (f *Flagged) Start() {
	if f.started.CompareAndSwap(false, true) {
		f.n++ // = none
	}
}

func (f *Flagged) Stop() { f.started.Store(false) }

// Somebody counts by it too.
func (f *Flagged) Count() {
	if f.counted.CompareAndSwap(0, 1) {
		f.n++ // = none
		f.counted.Store(0)
	}
}

func (f *Flagged) More() { f.counted.Add(1) }
