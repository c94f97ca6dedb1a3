package features

func (t *T) Deferred() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n // = t.mu
}

// A deferred call runs at the end, not where it stands.
func (t *T) DeferredBefore() {
	defer t.mu.Unlock()
	t.n++ // = none
	t.mu.Lock()
	t.n++ // = t.mu
}

func (t *T) DeferredClosure() {
	t.mu.Lock()
	defer func() {
		t.n++ // = t.mu
		t.mu.Unlock()
		t.n++ // = none
	}()
	t.n++ // = t.mu
}

// Behind the loop, the locks of all others are still held.
func (t *T) DeferredInLoop(others []*T) {
	for _, o := range others {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.n++ // = others[…].mu
	}
	t.n++ // = others[*].mu
}

// The deferred calls have released them all.
func (t *T) CallsDeferredInLoop(others []*T) {
	t.DeferredInLoop(others)
	t.n++ // = none
}

// lock returns what unlocks.
func (t *T) lock() func() {
	t.mu.Lock()
	return t.mu.Unlock
}

func (t *T) DeferredResult() {
	defer t.lock()()
	t.n++ // = t.mu
}

func (t *T) Recovers() {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() {
		if recover() != nil {
			t.n = 0 // = t.mu
		}
	}()
	if t.n > 9 {
		panic(t.n)
	}
	t.n++ // = t.mu
}

// handedOver is called by nobody who holds the lock: it has been taken by who sends the message.
func (t *T) handedOver(done chan int) {
	<-done
	t.n++ // = t.mu
	t.mu.Unlock()
	t.n++ // = none
}

// Not where it may be another one of the class that the function has taken.
func (t *T) released(other *T) {
	other.mu.Lock()
	t.n++ // = other.mu, perhaps more
	t.mu.Unlock()
}
