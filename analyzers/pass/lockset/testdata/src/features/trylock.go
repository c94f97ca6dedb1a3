package features

func (t *T) Try() {
	if t.mu.TryLock() {
		t.n++ // = t.mu
		t.mu.Unlock()
	}
	t.n++ // = none
}

func (t *T) TryOrLeave() {
	if !t.mu.TryLock() {
		t.n++ // = none
		return
	}
	defer t.mu.Unlock()
	t.n++ // = t.mu
}

func (t *T) TryKept() {
	ok := t.rw.TryRLock()
	if ok {
		defer t.rw.RUnlock()
	}
	if ok {
		println(t.n) // = t.rw (read)
	}
	println(t.n) // = maybe T.rw
}

func (t *T) TryInLoop() {
	for !t.mu.TryLock() {
		println(t.n) // = none
	}
	t.n++ // = t.mu
	t.mu.Unlock()
}
