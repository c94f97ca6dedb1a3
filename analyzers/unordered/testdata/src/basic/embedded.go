package basic

import "sync"

type base struct {
	sync.Mutex
	n int
}

type middle struct {
	*base
	log []string
}

type Top struct{ middle }

// Add calls a method by way of a pointer that is embedded, and so reads that pointer alone, not the struct around it.
func (t *Top) Add(s string) {
	t.middle.Lock()
	t.log = append(t.log, s) // ok: under the lock
	t.middle.Unlock()
}

// All adds in goroutines.
func All() {
	t := &Top{middle{base: new(base)}}
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			t.Add("a")
		}()
	}
	wg.Wait()
}

// Replace writes the pointer itself.
func Replace(t *Top) {
	go func() {
		t.base = new(base) // want `middle.base is accessed by two goroutines`
	}()
	t.middle.Lock()
}

// Whole copies the struct, log and all.
func Whole(t *Top) int {
	go func() {
		t.log = nil // want `middle.log is accessed by two goroutines`
	}()
	m := t.middle
	return len(m.log)
}

// Both adds here and in a goroutine.
func Both(t *Top) {
	go t.Add("a")
	t.Add("b")
}

// Inline does so itself.
func Inline(t *Top) {
	go func() {
		t.middle.Lock()
		t.log = append(t.log, "c") // ok: under the lock
		t.middle.Unlock()
	}()
	t.middle.Lock()
	defer t.middle.Unlock()
	t.log = append(t.log, "d")
}
