package mixed

import "testing"

func TestAccount(t *testing.T) {
	a := &Account{}
	a.Deposit(1)
	check(t, a)
}

func check(t *testing.T, a *Account) {
	if a.balance != 1 { // ok: a test, while nobody else uses it
		t.Fatal(a.balance)
	}
}
