// Package testusecapacity has it mended: one critical section.
package testusecapacity

import "sync"

// Room has a limited number of guests.
type Room struct {
	mu     sync.Mutex
	guests map[string]bool
	max    int
}

// New makes a room for max guests.
func New(max int) *Room { return &Room{guests: map[string]bool{}, max: max} }

// Enter lets a guest in if there is room.
func (r *Room) Enter(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.guests) >= r.max {
		return false
	}
	r.guests[name] = true
	return true
}

// Len reports how many are in.
func (r *Room) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.guests)
}
