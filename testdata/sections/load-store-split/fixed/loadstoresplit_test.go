package loadstoresplit

import (
	"sync"
	"testing"
)

func TestDeposit(t *testing.T) {
	var a Account
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				a.Deposit(10)
			}
		})
	}
	wg.Wait()
	if got := a.Balance(); got != 2000 {
		t.Errorf("balance %d, want 2000", got)
	}
}
