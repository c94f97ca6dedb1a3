// Package standalone has nothing but a test, which is a program of its own.
package standalone

import (
	"sync"
	"testing"
)

type account struct {
	mu      sync.Mutex
	balance int
}

func (a *account) deposit(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance += n
}

func (a *account) withdraw(n int) {
	a.mu.Lock()
	a.balance -= n
	a.mu.Unlock()
}

func (a *account) report() {
	println(a.balance) // want `account.balance is read without a.mu`
}

// total is called when all is done.
func (a *account) total() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.balance
}

func TestAccount(t *testing.T) {
	a := &account{}
	go a.deposit(1)
	go a.withdraw(1)
	go a.report()
	t.Log(a.total())
}
