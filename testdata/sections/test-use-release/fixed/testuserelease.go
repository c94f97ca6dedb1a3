// Package testuserelease has it mended: who finds it takes it away.
package testuserelease

import "sync"

// Handle is given back once.
type Handle struct{ returned int }

// Holder has a handle until it is closed.
type Holder struct {
	mu sync.Mutex
	h  *Handle
}

// New holds h.
func New(h *Handle) *Holder { return &Holder{h: h} }

func (h *Handle) giveBack() { h.returned++ }

// Close returns the handle back.
func (o *Holder) Close() {
	o.mu.Lock()
	h := o.h
	o.h = nil
	o.mu.Unlock()
	if h != nil {
		h.giveBack()
	}
}
