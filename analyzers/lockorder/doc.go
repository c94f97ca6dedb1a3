// Package lockorder reports locks that are taken in different orders.
//
// lockorder: locks taken in different orders (IL3001)
//
// WRONG: a goroutine in Move holds from.mu and waits for to.mu; another, that
// moves the other way round, holds to.mu and waits for from.mu. Both wait
// forever.
//
//	func (from *Account) Move(to *Account, n int) {
//		from.mu.Lock()
//		defer from.mu.Unlock()
//		to.mu.Lock()
//		defer to.mu.Unlock()
//		from.n, to.n = from.n-n, to.n+n
//	}
//
// RIGHT: every goroutine takes the locks in one order, here that of the ids.
//
//	func (from *Account) Move(to *Account, n int) {
//		first, second := from, to
//		if second.id < first.id {
//			first, second = second, first
//		}
//		first.mu.Lock()
//		defer first.mu.Unlock()
//		second.mu.Lock()
//		defer second.mu.Unlock()
//		from.n, to.n = from.n-n, to.n+n
//	}
//
// The same goes for locks of two types, in functions far apart: one holds a
// store's lock and calls a method that takes the index's, another holds the
// index's and calls back. Each acquisition is reported, with where the lock
// that is held there was taken. Read locks count where writers may wait in between.
//
// A call through an interface that the module declares waits for the locks of the implementations that flow to
// the field, parameter, map or slice which it is called on, in whichever package they are put there. So does a call of
// a function that a field, map, slice or package variable holds.
//
// Orders under a common lock, by one goroutine only, on objects that nobody
// else can reach yet, and from parents to children of one type are no cycle.
// `go vet` sees the cycles within a package, `interlock check` those of the
// module.
//
// Missed: cycles of more than three locks, calls through interfaces of other modules, and calls through results of
// functions. Reported falsely: locks of two types with objects that never
// meet, orders that phases of the program keep apart.
//
// Cost: that of the search for cycles in the graph of all locks (package crosspkg).
package lockorder
