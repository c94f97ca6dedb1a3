package facts

// Split asks the same condition twice: it unlocks on both ways.
func (t *T) Split(yes bool) { // want Split:"takes facts.T.mu, facts.T.rw"
	t.mu.Lock()
	if yes {
		t.mu.Unlock()
	}
	t.rw.RLock()
	t.rw.RUnlock()
	if !yes {
		t.mu.Unlock()
	}
}

// Flagged remembers whether it has locked.
func (t *T) Flagged(yes bool) { // want Flagged:"takes facts.T.mu"
	locked := false
	if yes {
		t.mu.Lock()
		locked = true
	}
	t.n++
	if locked {
		t.mu.Unlock()
	}
}

// Each asks anew in each round.
func (t *T) Each(list []bool) { // want Each:"may change 0.mu; takes facts.T.mu"
	for _, yes := range list {
		if yes {
			t.mu.Lock()
		}
	}
	for _, yes := range list {
		if yes {
			t.mu.Unlock()
		}
	}
}

// Uneven asks two conditions.
func (t *T) Uneven(a, b bool) { // want Uneven:"may change 0.mu; takes facts.T.mu"
	if a {
		t.mu.Lock()
	}
	if b {
		t.mu.Unlock()
	}
	if a && b {
		t.n++
	}
}
