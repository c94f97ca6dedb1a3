// Package testusehasput has it mended: one method does both.
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

func (h *Hall) putNew(n int, s *Seat) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.seats[n]; ok {
		return false
	}
	h.seats[n] = s
	return true
}

// Take takes a seat, and reports whether it was free.
func (h *Hall) Take(n int, who string) bool {
	return h.putNew(n, &Seat{who: who})
}

// Rename returns the seat to another.
func (h *Hall) Rename(n int, who string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.seats[n]; s != nil {
		s.who = who
	}
}
