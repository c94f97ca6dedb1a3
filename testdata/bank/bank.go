// Package bank is a toy bank with one line that lacks its lock, after the
// example on which AtomRace was first tried.
package bank

import "sync"

// Account is one account. Its methods may be called by several goroutines.
type Account struct {
	mu      sync.Mutex
	balance int
}

// Open opens an account with a first deposit of n.
func Open(n int) *Account {
	return &Account{balance: n}
}

// Balance returns what is in the account.
func (a *Account) Balance() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.balance
}

// Deposit puts n into the account.
func (a *Account) Deposit(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance += n
}

// Withdraw takes n out of the account.
func (a *Account) Withdraw(n int) {
	a.balance -= n
}

// Close empties the account and returns what was in it.
func (a *Account) Close() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.balance
	a.balance = 0
	return n
}

// Transfer moves n from one account to another.
func Transfer(from, to *Account, n int) {
	from.Withdraw(n)
	to.Deposit(n)
}
