// Package loadstorelist has a list that is copied under one lock and put back under the next. IL2001.
package loadstorelist

import "sync"

// Hooks are called in the order in which they were added.
type Hooks struct {
	mu   sync.RWMutex
	list []func()
}

// Add puts one at the end. Callers of Run keep the list that they have.
func (h *Hooks) Add(f func()) {
	h.mu.RLock()
	old := h.list // want IL2001 entry
	h.mu.RUnlock()
	list := append(old[:len(old):len(old)], f)
	h.mu.Lock()
	h.list = list // want IL2001 end
	h.mu.Unlock()
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
