// Package underlock reports waiting under a lock for a goroutine that needs the lock to come.
//
// underlock: blocking call or callback under a lock (IL3005)
//
// WRONG: Put holds q.mu until the loop receives, and the loop may be waiting
// for q.mu.
//
//	func (q *Queue) Put(v int) {
//		q.mu.Lock()
//		defer q.mu.Unlock()
//		q.n++
//		q.items <- v
//	}
//
//	func (q *Queue) loop() {
//		for v := range q.items {
//			q.mu.Lock()
//			q.sum += v
//			q.mu.Unlock()
//		}
//	}
//
// RIGHT: the channel is used outside of the lock.
//
//	func (q *Queue) Put(v int) {
//		q.mu.Lock()
//		q.n++
//		q.mu.Unlock()
//		q.items <- v
//	}
//
// The same goes for WaitGroup.Wait under a lock that the goroutines take before they call Done. It also
// goes for a function that users have set in a field and that is called under a lock which the exported
// methods take: it hangs if it calls one of them. Only callbacks without results are reported: they usually
// signal an event, whereas one with a result usually just computes it.
//
// A send or receive is reported if it is on an unbuffered channel, not one of
// several cases of a select, and all its other sides need the lock of the
// same object first.
//
// I/O under a lock, such as a write to a connection, is at most possible: goroutines that
// need the lock wait for as long as the other end takes, but then go on, and the
// lock may be there to order the writes.
//
// The lock may be that of the function which calls the one that waits, for an object that it calls it on. Where a
// goroutine that is waited for takes the lock on some ways only, that is a lead.
//
// Missed: buffered channels, waiting two calls below the lock, callbacks kept in slices.
// Reported falsely: goroutines that take the lock only in another phase,
// callbacks that are known not to call back.
//
// Cost: linear in the instructions; for a channel or WaitGroup, its operations
// under a lock times all of its operations.
package underlock
