// Package ways keeps locks on some ways through loops, and on some of those that end at one return.
package ways

import "sync"

type T struct {
	mu   sync.Mutex
	n    int
	next *T
	open bool
}

func continued(all []*T) (n int) {
	for _, t := range all {
		t.mu.Lock()
		if !t.open {
			continue // want `a round of the loop leaves T.mu locked`
		}
		n += t.n
		t.mu.Unlock()
	}
	return n
}

func repeated(t *T, try func() error) {
again:
	t.mu.Lock()
	if try() != nil {
		goto again // want `a round of the loop leaves T.mu locked`
	}
	t.mu.Unlock()
}

func broken(t *T, tries int) {
	for range tries {
		t.mu.Lock()
		t.n++
		if t.n > 3 {
			break // want `a way out leaves T.mu locked`
		}
		t.mu.Unlock()
	}
}

func openedLast(all []*T) {
	for _, t := range all {
		t.mu.Lock()
		if t.n > 3 { // want `a round of the loop leaves T.mu locked`
			t.n--
			t.mu.Unlock()
		}
	}
}

func merged(t *T, k int) {
	t.mu.Lock()
	switch k {
	case 1:
		t.n++
		t.mu.Unlock()
	case 2: // want `a way out leaves T.mu locked`
		t.n--
	}
}

// Two ways out keep the lock, and the first of them is named.
func inACase(t *T, done chan bool) {
	t.mu.Lock()
	switch t.n {
	case 0:
		return // want `a way out leaves T.mu locked`
	case 1:
		t.n = 2
		fallthrough
	case 2:
		t.mu.Unlock()
		<-done
	}
}

// The way past the switch keeps the lock, not the return in its last case.
func pastTheCases(t *T) {
	t.mu.Lock()
	switch t.n {
	case 0:
		t.mu.Unlock()
	case 1: // want `a way out leaves T.mu locked`
		t.mu.Unlock()
		return
	}
}

// The break is behind the Unlock: the other way keeps the lock.
func pastTheBreak(t *T) {
	for {
		t.mu.Lock()
		if !t.open { // want `a round of the loop leaves T.mu locked`
			t.mu.Unlock()
			break
		}
	}
}

// Good cases.

// A flag says whether it is locked.
func flagged(t *T, work []int) {
	locked := false
	for _, w := range work {
		if !locked {
			t.mu.Lock()
			locked = true
		}
		t.n += w
		if w > 3 {
			t.mu.Unlock()
			locked = false
		}
	}
	if locked {
		t.mu.Unlock()
	}
}

// One condition decides about both.
func conditional(t *T, rounds int) {
	for range rounds {
		if t.open {
			t.mu.Lock()
		}
		t.n++
		if t.open {
			t.mu.Unlock()
		}
	}
}

func compared(t *T, rounds int) {
	for i := range rounds {
		if i > 3 {
			t.mu.Lock()
		}
		t.n++
		if i <= 3 {
			continue
		}
		t.mu.Unlock()
	}
}

// All of them are locked, then released.
func all(list []*T) {
	for _, t := range list {
		t.mu.Lock()
	}
	for _, t := range list {
		t.mu.Unlock()
	}
}

// Those that are open stay locked for a while.
func some(list []*T) {
	var locked []*T
	for _, t := range list {
		t.mu.Lock()
		if !t.open {
			t.mu.Unlock()
			continue
		}
		locked = append(locked, t)
	}
	for _, t := range locked {
		t.mu.Unlock()
	}
}

// Hand over hand.
func walk(t *T, n int) {
	t.mu.Lock()
	for t.next != nil && t.n != n {
		next := t.next
		next.mu.Lock()
		t.mu.Unlock()
		t = next
	}
	t.mu.Unlock()
}

func deferred(t *T, work []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range work {
		if w > 3 {
			continue
		}
		t.n += w
	}
}

func released(t *T, work []int) {
	t.mu.Lock()
	for _, w := range work {
		if w > 3 {
			t.mu.Unlock()
			println(w)
			t.mu.Lock()
			continue
		}
		t.n += w
	}
	t.mu.Unlock()
}

func returned(t *T) bool {
	for {
		t.mu.Lock()
		if t.n > 3 {
			t.mu.Unlock()
			return true
		}
		if t.n < 1 {
			t.mu.Unlock()
			return false
		}
		t.mu.Unlock()
	}
}

func panicking(t *T, all []int) {
	for _, n := range all {
		t.mu.Lock()
		if n < 0 {
			panic("negative")
		}
		t.n += n
		t.mu.Unlock()
	}
}

func tried(t *T) {
	for !t.mu.TryLock() {
		println("busy")
	}
	t.mu.Unlock()
}

// The goroutine that waits for the Cond releases the lock, also where the time is over.
func withTimeout(t *T, c *sync.Cond, over <-chan bool) {
	t.mu.Lock()
	for !t.open {
		if waitFor(c, over) {
			return // ok: released by Wait
		}
	}
	t.mu.Unlock()
}

func waitFor(c *sync.Cond, over <-chan bool) bool {
	done := make(chan bool)
	go func() {
		c.Wait()
		close(done)
	}()
	select {
	case <-done:
		return false
	case <-over:
		return true
	}
}
