// Package features has a file for each language feature that bears on which
// locks are held. The comments say what is held before a line runs.
package features

import "sync"

type T struct {
	mu sync.Mutex
	rw sync.RWMutex
	n  int
}

func (t *T) Plain() {
	t.n++ // = none
	t.mu.Lock()
	t.n++ // = t.mu
	t.mu.Unlock()
	t.n++ // = none
}

func (t *T) Both() {
	t.mu.Lock()
	t.rw.Lock()
	t.n++ // = t.mu, t.rw
	t.mu.Unlock()
	t.n++ // = t.rw
	t.rw.Unlock()
}

func (t *T) Branches(yes bool) {
	if yes {
		t.mu.Lock()
	}
	t.n++ // = maybe T.mu
	if yes {
		t.n++ // = t.mu
		t.mu.Unlock()
	}
}

func (t *T) OneWay(k int) {
	if k > 3 {
		t.mu.Lock()
		defer t.mu.Unlock()
	} else {
		t.rw.Lock()
		defer t.rw.Unlock()
	}
	t.n++ // = maybe T.mu, maybe T.rw
}

func (t *T) Loop(list []int) {
	for _, k := range list {
		t.mu.Lock()
		if k == 0 {
			t.mu.Unlock()
			continue
		}
		t.n += k // = t.mu
		t.mu.Unlock()
	}
	t.n++ // = none
}

var inner = map[*T]*T{}

func (t *T) Inner() *T { return inner[t] }

func (t *T) Getter() {
	t.Inner().mu.Lock()
	t.n++ // = Inner().mu
	t.Inner().mu.Unlock()
	t.n++ // = none
}

func (t *T) GetterOfAnother(other *T) {
	t.Inner().mu.Lock()
	other.Inner().mu.Unlock()
	t.n++ // = Inner().mu
}
