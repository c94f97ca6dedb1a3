package crosspkg_test

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/crosspkg"
	"github.com/interlock-go/interlock/analyzers/finding"
)

// maxGrowth is how many times as much CPU time an input of twice the size may need. What is
// square needs four times as much.
const maxGrowth = 3

// tooLittle is a cost that says nothing: a collection of garbage costs more.
const tooLittle = 100 * time.Millisecond

// ordersOf returns the orders from(i) -> to(i), each in a package of its own.
func ordersOf(n int, ends func(i int) (from, to int)) []crosspkg.Locks {
	var all []crosspkg.Locks
	for i := range n {
		from, to := ends(i)
		all = append(all, crosspkg.Locks{Orders: []crosspkg.Order{order(fmt.Sprint("l", from), fmt.Sprint("l", to))}})
	}
	return all
}

// variablesOf returns so many variables, each with accesses in so many packages, all but one of
// which hold the lock.
func variablesOf(variables, packages int) [][]crosspkg.Variable {
	all := make([][]crosspkg.Variable, packages)
	for p := range packages {
		for v := range variables {
			change := []func(*crosspkg.Access){locked}
			if p == 0 {
				change = nil
			}
			a := at(fmt.Sprint("m/p", p), finding.Write, change...)
			all[p] = append(all[p], crosspkg.Variable{
				Variable: finding.Variable{Package: "m", Type: "T", Name: fmt.Sprint("n", v), Kind: "field"},
				Accesses: []*crosspkg.Access{a},
			})
		}
	}
	return all
}

// What all packages are joined by is no worse than linear in what they hand over, except the
// search for rings: the shortest way round is sought for each edge of a ring.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	cycles := func(ends func(i int) (from, to int)) func(n int) func() {
		return func(n int) func() {
			all := ordersOf(n, ends)
			return func() { crosspkg.Cycles(all...) }
		}
	}
	judge := func(size func(n int) (variables, packages int)) func(n int) func() {
		return func(n int) func() {
			all := variablesOf(size(n))
			return func() { crosspkg.Judge(nil, all...) }
		}
	}
	for _, shape := range []struct {
		name string
		size int
		make func(n int) func()
	}{
		{"a chain of locks", 20000, cycles(func(i int) (int, int) { return i, i + 1 })},
		{"one lock before many", 20000, cycles(func(i int) (int, int) { return 0, i + 1 })},
		{"many before one lock", 20000, cycles(func(i int) (int, int) { return i + 1, 0 })},
		{"one order in many places", 20000, cycles(func(int) (int, int) { return 0, 1 })},
		{"both orders of many pairs", 10000, cycles(func(i int) (int, int) { return i, i ^ 1 })},
		{"many variables", 10000, judge(func(n int) (int, int) { return n, 4 })},
		{"a variable of many packages", 10000, judge(func(n int) (int, int) { return 1, n })},
	} {
		t.Run(shape.name, func(t *testing.T) {
			var small, large time.Duration
			for range 3 { // other work on the machine adds to a figure, and takes nothing off
				small, large = cost(shape.make(shape.size)), cost(shape.make(2*shape.size))
				t.Log("size", shape.size, small, "and twice", large)
				if large <= tooLittle || large <= maxGrowth*small {
					return
				}
			}
			t.Errorf("from size %d to %d: %v to %v", shape.size, 2*shape.size, small, large)
		})
	}
}

// cost returns the CPU time that f uses.
func cost(f func()) time.Duration {
	runtime.GC()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			panic(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	f()
	return used() - before
}
