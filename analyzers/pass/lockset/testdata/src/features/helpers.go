package features

// All callers of helper have taken t.mu.
func (t *T) helper() {
	t.n++ // = t.mu
}

func (t *T) Outer() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.helper()
}

func (t *T) Another() {
	t.mu.Lock()
	t.helper()
	t.mu.Unlock()
}

// One caller of sometimes has not: that is a way without the lock.
func (t *T) sometimes() {
	t.n++ // = none
}

func (t *T) With() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sometimes()
}

func (t *T) Without() { t.sometimes() }

// sizeLocked expects the lock by its name.
func (t *T) SizeLocked() int {
	return t.n // = perhaps more
}

// Size must be called with t.mu held.
func (t *T) Size() int {
	return t.n // = perhaps more
}

// +checklocks:t.mu
func (t *T) Annotated() int {
	return t.n // = t.mu
}

func swap(a, b *T) {
	a.mu.Lock()
	b.mu.Lock()
	a.n, b.n = b.n, a.n // = a.mu, b.mu, perhaps more
	b.mu.Unlock()
	a.mu.Unlock()
}

func recurse(t *T, depth int) {
	if depth == 0 {
		t.n++ // = perhaps more
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	recurse(&T{}, depth-1)
	t.n++ // = t.mu, perhaps more
}
