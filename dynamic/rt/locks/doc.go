// Package locks is the part of the monitor that watches the locks of a program: which
// goroutine holds which, for which one it waits, and in which orders they are acquired.
//
// The rewriter puts a watched lock before each call of a lock's method and each method value:
//
//	x.mu.Lock()          locks.OfMutex(&x.mu, id).Lock()
//	defer x.mu.Unlock()  defer locks.OfMutex(&x.mu, id).Unlock()
//	c.RLock()            locks.OfRWMutex(&c.RWMutex, id).RLock()
//
//	calls.go    these calls
//	owners.go   the locks that each goroutine holds and waits for
//	cycles.go   goroutines that wait for each other: deadlocks
//	order.go    orders of acquisition that could become such a cycle (Goodlock, Havelund 2000)
//	pace.go     when locks are not watched, as it would cost too much
//	holds.go    the plan of a run: where a goroutine is held between two locks
//
// # Deadlocks
//
// A goroutine that does not get a lock at once says so before it waits. If the holders of
// that lock wait as well, and so on round to itself, none of them can go on: a noted lock is
// really held, since it is noted behind the acquisition and removed before the release,
// and a goroutine that waits releases nothing. The runtime's own word that
// each of them is blocked in a lock is asked for before the record is written. Then the
// process ends as soon as a test stands still for it, so that the next run goes on with the other tests.
//
// A lock may be a signal, which one goroutine acquires and another one releases. The source says which locks may be
// released for another goroutine (package sites): they have odd ids and are not noted, nor are those acquired where a
// release by another goroutine was seen. Reported falsely: a lock that code which is not instrumented releases for the
// holder, if the lock was not passed to it as such, but is reached through a struct.
//
// # Orders
//
// Two goroutines that acquire the same two locks in opposite order may block each other,
// unless both hold a third one meanwhile, both only read, or one of them starts or waits
// for the other. Their locks exclude the first two; for the last, a cycle counts as
// crossed only if each goroutine was there before the other's acquisition and one went
// on after it. An order by channels is not seen: the campaign drives a later run into
// the cycle, and drops a cycle that does not come then.
//
// # Missed
//
// Locks of code that is not instrumented, those of sync.Cond, and those with functions that may release them
// for another goroutine, such as one that only releases; more than 16 locks held by one goroutine;
// goroutines in a bubble of testing/synctest; a program with more goroutines that hold locks than there are
// slots for; all orders while locks are not watched, in a program that acquires them all the time.
package locks
