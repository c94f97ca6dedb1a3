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
//	owners.go   what each goroutine holds and waits for
//	cycles.go   goroutines that wait for each other: deadlocks
//	order.go    orders of acquisition that could become such a cycle (Goodlock, Havelund 2000)
//	pace.go     when locks are not watched, as it would cost too much
//	holds.go    the plan of a run: where a goroutine is held between two locks
//
// # Deadlocks
//
// A goroutine that does not get a lock at once says so before it waits. If the holders of
// that lock wait as well, and so on round to itself, none of them can go on: what a
// goroutine holds here it holds, since it is noted behind the acquisition and removed before
// the release, and a goroutine that waits releases nothing. The runtime's own word that
// each of them is blocked in a lock is asked for before the record is written. Then the
// process ends as soon as a test stands still for it, so that the next run goes on with the other tests.
//
// A lock may be a signal, which one goroutine acquires and another one releases. The source says which locks may be
// released for another goroutine (package sites): they have odd ids and are not noted, nor are those acquired where a
// release by another goroutine was seen. Reported falsely: what code that is not instrumented releases for the
// holder, where it has not been passed the lock as such, but reaches it through a struct.
//
// # Orders
//
// Two goroutines that acquire the same two locks in opposite order may block each other,
// unless both hold a third one meanwhile, both only read, or one of them starts or waits
// for the other. The first two are excluded by what they hold; for the last, a cycle
// counts as crossed only where each goroutine was there before the other's acquisition
// and one went on after it. What orders them by channels is not seen: such an order is a
// reason to drive a later run into the cycle, and the campaign drops what does not come then.
//
// # What may be missed
//
// Locks of code that is not instrumented, those of sync.Cond, and those with functions that may release them
// for another goroutine, such as one that only releases; more than 16 locks held by one goroutine;
// goroutines in a bubble of testing/synctest; a program with more goroutines that hold locks than there are
// slots for; what happens while locks are not watched, in a program that acquires them all the time.
package locks
