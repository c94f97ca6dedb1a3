package bank

import (
	"sync"
	"testing"
)

func TestWithdraw(t *testing.T) {
	for range 100 {
		a := new(Account)
		a.Deposit(10)
		var wg sync.WaitGroup
		for range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				a.Withdraw(10)
			}()
		}
		wg.Wait()
		if n := a.Balance(); n != 0 {
			t.Fatalf("balance is %d", n)
		}
	}
}
