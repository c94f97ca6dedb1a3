package features

import "slices"

// A literal that is called in place, or handed to a function that calls it,
// runs under the locks of its caller.
func (t *T) Called() {
	t.mu.Lock()
	func() {
		t.n++ // = t.mu
	}()
	t.mu.Unlock()
}

func with(t *T, f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
}

func (t *T) HandedOver() {
	with(t, func() {
		t.n++ // = t.mu
	})
}

func (t *T) HandedToLibrary(list []int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(list, func(k int) bool {
		return k == t.n // = t.mu
	})
}

func (t *T) Started() {
	t.mu.Lock()
	defer t.mu.Unlock()
	go func() {
		t.n++ // = none
	}()
}

func (t *T) Kept() func() {
	t.mu.Lock()
	defer t.mu.Unlock()
	return func() {
		t.n++ // = perhaps more
	}
}

// A literal that locks for its caller.
func (t *T) LocksForCaller() {
	lock := func() { t.mu.Lock() }
	lock()
	t.n++ // = t.mu
	t.mu.Unlock()
}

func (t *T) MethodValue() {
	unlock := t.mu.Unlock
	t.mu.Lock()
	t.n++ // = t.mu
	unlock()
	t.n++ // = none
}

func (t *T) MethodExpression() {
	(*T).Enter(t)
	t.n++ // = t.mu
	(*T).Leave(t)
	t.n++ // = none
}

func (t *T) Enter() { t.mu.Lock() }

func (t *T) Leave() { t.mu.Unlock() }

func (t *T) HandedToGoroutine() {
	t.mu.Lock()
	t.n++ // = t.mu
	go func() {
		defer t.mu.Unlock()
		t.n++ // = t.mu
	}()
	t.n++ // = maybe T.mu
}

func (t *T) HandedToMethod() {
	t.mu.Lock()
	go t.release(nil)
}

func (t *T) release(_ chan int) {
	t.n++ // = t.mu
	t.mu.Unlock()
	t.n++ // = none
}

func (t *T) PerhapsHandedOver(later bool) {
	t.mu.Lock()
	go func() {
		if later {
			t.mu.Unlock()
		}
		t.n++ // = none
	}()
}
