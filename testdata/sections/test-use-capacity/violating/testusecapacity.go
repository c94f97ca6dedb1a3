// Package testusecapacity has a length that is tested before another critical section adds. IL2002.
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
	full := len(r.guests) >= r.max // want IL2002 entry
	r.mu.Unlock()
	if full {
		return false
	}
	r.mu.Lock()
	r.guests[name] = true // want IL2002 end
	r.mu.Unlock()
	return true
}

// Len reports how many are in.
func (r *Room) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.guests)
}
