// Package testuserelease has a resource that is found, given back, and forgotten only then. IL2002.
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
	h := o.h // want IL2002 entry
	o.mu.Unlock()
	if h == nil {
		return
	}
	h.giveBack()
	o.mu.Lock()
	o.h = nil // want IL2002 end
	o.mu.Unlock()
}
