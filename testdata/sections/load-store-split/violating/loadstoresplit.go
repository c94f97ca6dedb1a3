// Package loadstoresplit has an update whose lock is released between load and store. IL2001.
package loadstoresplit

import "sync"

// Account keeps a balance and takes a fee of one percent.
type Account struct {
	mu      sync.Mutex
	balance int
}

// Deposit adds n, less the fee.
func (a *Account) Deposit(n int) {
	a.mu.Lock()
	b := a.balance // want IL2001 entry
	a.mu.Unlock()
	b += n - fee(n)
	a.mu.Lock()
	a.balance = b // want IL2001 end
	a.mu.Unlock()
}

func fee(n int) int { return n / 100 }

// Balance reports what is there.
func (a *Account) Balance() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.balance
}
