// Package loadstorelist has it mended: one critical section.
package loadstorelist

import (
	"slices"
	"sync"
)

// Hooks are called in the order in which they were added.
type Hooks struct {
	mu   sync.RWMutex
	list []func()
}

// Add puts one at the end. Callers of Run keep the list that they have.
func (h *Hooks) Add(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = slices.Concat(h.list, []func(){f})
}

// Run calls them all.
func (h *Hooks) Run() {
	h.mu.RLock()
	list := h.list
	h.mu.RUnlock()
	for _, f := range list {
		f()
	}
}
