// Package loadstoresplit has it mended: one critical section.
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
	defer a.mu.Unlock()
	a.balance += n - fee(n)
}

func fee(n int) int { return n / 100 }

// Balance reports what is there.
func (a *Account) Balance() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.balance
}
