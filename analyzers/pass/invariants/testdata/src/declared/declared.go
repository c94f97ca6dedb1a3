// Package declared has sections that comments declare.
package declared

type account struct{ balance int }

// Move takes and gives.
//
//interlock:atomic a transfer is one step
func Move(a *account, n int) bool {
	if a.balance < n {
		return false
	}
	a.balance -= n
	return true
}

func Both(a *account) {
	a.balance = 1
	if a.balance > 0 { //interlock:atomic tested and set as one
		a.balance = 2
	}
	//interlock:atomic the same
	{
		a.balance++
		a.balance--
	}
	//interlock:atomic nothing here
	println()
	//interlock:atomic
	a.balance = 3
}

//interlock:atomic not above code
var _ = 1

type pair struct{ a, b int }

// Sum reads two fields of one object by their getters.
//
//interlock:atomic a and b are one pair
func (p *pair) Sum() int { return p.getA() + p.getB() }

func (p *pair) getA() int { return p.a }
func (p *pair) getB() int { return p.b }

func (p *pair) Swap(q *pair) {
	//interlock:atomic both change at once
	{
		p.a = q.b
		p.b = 1
	}
	//interlock:atomic of two objects, which is nothing
	println(p.a, q.b)
}
