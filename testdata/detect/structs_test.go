package detect

import (
	"sync/atomic"
	"testing"
)

type settings struct {
	name  string
	limit int
	tags  []string
}

var current *settings

// Publication: a pointer to a new object is stored for others to find.
func TestRacePublication(t *testing.T) {
	current = nil
	both(
		func() { current = &settings{name: "a", limit: 3} },
		func() {
			if s := current; s != nil {
				t.Log(s.limit)
			}
		})
}

func TestNoRacePublication(t *testing.T) {
	var current atomic.Pointer[settings]
	both(
		func() { current.Store(&settings{name: "a", limit: 3}) },
		func() {
			if s := current.Load(); s != nil {
				t.Log(s.limit)
			}
		})
}

// Struct copy: a whole struct is copied while a field in its middle is written.
func TestRaceStructCopy(t *testing.T) {
	s := &settings{name: "a"}
	both(
		func() { s.limit = 7 },
		func() { c := *s; t.Log(c.name) })
}

func TestNoRaceStructCopy(t *testing.T) {
	s := &settings{name: "a"}
	done := make(chan bool)
	both(
		func() { s.limit = 7; done <- true },
		func() { <-done; c := *s; t.Log(c.name) })
}

// Partial overlap: a string is read whole while another part of the same struct, which holds it, is replaced as one.
func TestRacePartialOverlap(t *testing.T) {
	s := &struct{ from, to settings }{}
	both(
		func() { s.to = settings{name: "b"} },
		func() { t.Log(s.to.name) })
}

func TestNoRacePartialOverlap(t *testing.T) {
	s := &struct{ from, to settings }{}
	both(
		func() { s.to = settings{name: "b"} },
		func() { t.Log(s.from.name) })
}
