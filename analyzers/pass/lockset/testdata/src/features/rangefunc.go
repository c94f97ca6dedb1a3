package features

import "iter"

// Missed: All runs the body of the loop under t.mu.
func (t *T) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		t.mu.Lock()
		defer t.mu.Unlock()
		yield(t.n) // = t.mu, perhaps more
	}
}

func (t *T) RangeFunc() {
	t.rw.Lock()
	for k := range t.All() {
		t.n += k // = t.rw
	}
	t.n++ // = t.rw
	t.rw.Unlock()
}

func (t *T) RangeFuncLeaves(seq iter.Seq[int]) int {
	t.mu.Lock()
	for k := range seq {
		if k > 3 {
			t.mu.Unlock()
			return k // = t.mu
		}
	}
	t.n++ // = t.mu
	t.mu.Unlock()
	return 0
}
