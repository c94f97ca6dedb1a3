// Package bank looks at the balance and pays out in one critical section.
package bank

import (
	"errors"
	"sync"
)

// ErrFunds says that there is not enough money.
var ErrFunds = errors.New("not enough money")

// Account is safe for concurrent use.
type Account struct {
	mu      sync.Mutex
	balance int
}

// Deposit pays in.
func (a *Account) Deposit(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance += n
}

// Balance reports what is there.
func (a *Account) Balance() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.balance
}

// Withdraw pays out, if there is enough.
func (a *Account) Withdraw(n int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.balance < n {
		return ErrFunds
	}
	a.balance -= n
	return nil
}
