package detect

import (
	"sync"
	"testing"
)

// Map header: one goroutine writes a key, another reads a different one.
func TestRaceMap(t *testing.T) {
	m := map[string]int{"a": 1}
	both(
		func() { m["b"] = 2 },
		func() { t.Log(m["a"]) })
}

func TestNoRaceMap(t *testing.T) {
	m := map[string]int{"a": 1}
	var mu sync.RWMutex
	both(
		func() { mu.Lock(); m["b"] = 2; mu.Unlock() },
		func() { mu.RLock(); t.Log(m["a"]); mu.RUnlock() })
}

// Slice element: two goroutines share the element where their halves meet.
func TestRaceSliceElement(t *testing.T) {
	s := make([]int, 9)
	fill := func(from, to int) func() {
		return func() {
			for i := from; i <= to; i++ {
				s[i] = i
			}
		}
	}
	both(fill(0, 4), fill(4, 8))
}

func TestNoRaceSliceElement(t *testing.T) {
	s := make([]int, 9)
	fill := func(from, to int) func() {
		return func() {
			for i := from; i <= to; i++ {
				s[i] = i
			}
		}
	}
	both(fill(0, 4), fill(5, 8))
}

// Slice as a range: a slice is copied while one of its elements is written.
func TestRaceSliceCopy(t *testing.T) {
	s, snapshot := make([]int, 100), make([]int, 100)
	both(
		func() { s[70] = 1 },
		func() { copy(snapshot, s) })
}

func TestNoRaceSliceCopy(t *testing.T) {
	s, snapshot := make([]int, 100), make([]int, 100)
	both(
		func() { s[70] = 1 },
		func() { copy(snapshot, s[:70]) })
}
