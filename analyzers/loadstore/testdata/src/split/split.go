// Package split: a lock released between load and store.
package split

import "sync"

type Account struct {
	mu      sync.Mutex
	balance int
}

func fee(n int) int { return n / 100 }

func (a *Account) Charge() {
	a.mu.Lock()
	b := a.balance
	a.mu.Unlock()
	b -= fee(b)
	a.mu.Lock()
	a.balance = b // want `update of Account.balance is not one step: \(\*Account\).Charge loads and stores it under a lock that is released in between`
	a.mu.Unlock()
}

// ChargeAlone should only be called from a single goroutine at a time.
func (a *Account) ChargeAlone() {
	a.mu.Lock()
	b := a.balance
	a.mu.Unlock()
	b -= fee(b)
	a.mu.Lock()
	a.balance = b // ok: so its comment says
	a.mu.Unlock()
}

// Optimistic reads again before it writes.
func (a *Account) Optimistic() {
	a.mu.Lock()
	b := a.balance
	a.mu.Unlock()
	next := b - fee(b)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.balance == b {
		a.balance = next // ok
	}
}

func (a *Account) Add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.balance
	a.balance = b + n // ok
}

// Fill keeps what is there or sets something new: nothing is computed.
func (a *Account) Fill() {
	a.mu.Lock()
	b := a.balance
	a.mu.Unlock()
	if b == 0 {
		b = 7
	}
	a.mu.Lock()
	a.balance = b // ok: lazily set, another code
	a.mu.Unlock()
}
