// Package testusehasput has has and put that each lock. IL2002.
package testusehasput

import "sync"

// Seat is taken by who puts a name on it.
type Seat struct{ who string }

// Hall has numbered seats.
type Hall struct {
	mu    sync.Mutex
	seats map[int]*Seat
}

// New makes an empty hall.
func New() *Hall { return &Hall{seats: map[int]*Seat{}} }

func (h *Hall) has(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.seats[n]
	return ok
}

func (h *Hall) put(n int, s *Seat) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seats[n] = s
}

// Take takes a seat, and reports whether it was free.
func (h *Hall) Take(n int, who string) bool {
	if h.has(n) { // want IL2002 entry
		return false
	}
	s := &Seat{}
	s.who = who
	h.put(n, s) // want IL2002 end
	return true
}

// Rename returns the seat to another.
func (h *Hall) Rename(n int, who string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.seats[n]; s != nil {
		s.who = who
	}
}
