package bank

import (
	"sync"
	"testing"
)

// Money moves in circles between three accounts. None of it may be lost and
// none made: the sum over all accounts is the oracle.
func TestTransfersKeepTheTotal(t *testing.T) {
	accounts := []*Account{Open(100), Open(100), Open(100)}
	var wg sync.WaitGroup
	for clerk := 0; clerk < 4; clerk++ {
		wg.Add(1)
		go func(clerk int) {
			defer wg.Done()
			for i := 0; i < 30; i++ {
				from, to := accounts[(clerk+i)%3], accounts[(clerk+i+1)%3]
				Transfer(from, to, 1)
			}
		}(clerk)
	}
	wg.Wait()
	total := 0
	for _, a := range accounts {
		total += a.Balance()
	}
	if total != 300 {
		t.Errorf("the accounts hold %d in all, want 300", total)
	}
}
