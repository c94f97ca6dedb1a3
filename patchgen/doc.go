// Package patchgen builds patches for concurrency findings and checks them.
//
// [Fix] takes all findings with one cause (see [Groups]), for a race those on one
// variable, and tries the strategies in order
// of intrusion, each in a file of its own:
//
//	reorder  initialise before publishing: an assignment moves before the go statement
//	copy     a goroutine that only needs its own value gets a variable of its own
//	guard    take the lock that guards the variable elsewhere: one candidate for each
//	         lock that may, and each also around the calls that lead to an access where
//	         it has no name, for whole functions, and for those that come
//	         without it to a helper which others call under it
//	atomic   one-step accesses through sync/atomic, of several counters or flags together
//	once     lazy initialisation through a sync.Once
//	mutex    a new mutex beside the variable, taken at every access, or by whole functions where
//	         that is less; also where another object's lock is held at some that has no name at the others
//
// A race within an object that takes no lock, such as a list.List, is one of the field that holds it. A function that
// both callers with the lock and others call gets a twin, named ...Locked, for the former.
//
// Findings on locks, WaitGroups and channels, tests and uses in two critical
// sections, and uses behind a lock have strategies of their own, for the places that they name:
//
//	unlock   a return that leaves a lock held releases it
//	defer unlock a lock is released when a panic ends the function, too
//	relock   what runs under a lock does not take it again
//	snapshot a list is copied under its lock, and its elements are called without
//	unlock around a lock is released while a callback runs that comes back for it
//	hand down a value is handed to code under its lock, in place of a getter that takes the lock again
//	swap     two locks change places
//	release  a lock is released before the wait that is the last thing under it
//	exchange an atomic Load and the Store behind it become a Swap or CompareAndSwap
//	recheck  a test is made again under the second lock, before its use
//	join     two critical sections with nothing in between become one
//	extend   a lock is kept until what was found under it has been used
//	count    who starts a goroutine counts it in the WaitGroup
//	nil channel a channel that only some objects have is waited for in these alone
//	buffer   a channel has room for the values that nobody may receive
//	keep wake-up a channel has room for a wake-up for which nobody waits yet
//	stop     a sender stops when the function that receives has returned
//	signal   a channel is closed however its function returns
//	drain    a function that leaves early receives the rest, so that the sender ends
//	cancel   who waits at a channel leaves when its context is done
//	hand context a goroutine gets the context of its callers, and leaves when that is done
//	close signal a channel is closed where a signal to stop was sent on it
//	sign off a goroutine calls Done however it ends
//	broadcast all who wait for a condition are woken
//	closed flag each send on a channel asks whether it is closed
//	close once a channel is closed in a sync.Once
//	leave open a channel that is still sent on is not closed
//
// A strategy for a variable looks at every access of the variable in the module, not only at
// the two that were caught, and refuses with a reason where it cannot treat
// them all. What it leaves as it is (accesses in tests, reads by an owner, a
// test and a use that something blocking keeps apart) stands in the fix's
// notes.
//
// Candidates are then checked: the patched source type-checks; the shared passes
// analyse it anew, and by what they know of it every access of the variable is
// protected as the strategy claims, no function returns with other locks than
// before, no test is torn from its use, no lock order closes a cycle and nothing
// new waits under a lock (see internal/validate); and the caller's checks (see
// [Checks]) build, vet, test and re-run it. A wrong patch is worse
// than none: the first failing check withholds the candidate, and the next
// strategy is tried.
//
// # Locks
//
// Regions under a lock are as small as the code allows (see internal/critsec): nothing
// that may wait, do I/O or call unknown code is put under a new lock, functions of the module
// apart that are called under the same lock elsewhere; operands
// are computed before or after. Code is known if it is a function of the
// module that, through everything it calls, is, or one of a table of harmless
// library packages.
//
// # One step
//
// A patch must not turn a race into a check-then-act. Where a read under the
// lock decides, by control or by data, about a later access in the function of
// the variable or of another that the lock guards (it is written under it
// somewhere), both lie in one region: one that is stretched, one to the end of
// the function, or an existing one whose Lock moves up; accesses of the other
// variable are covered along with it. If something that may block lies
// between, there is no patch, with one exception: the two are accesses of the
// same variable. The author had the blocking step between them too, so nobody
// could rely on the pair being one step, and the patch makes it no less so; a
// note reports that the split is left. Where a critical section tests the
// variable once more before what it decides about, the read without the lock
// was a hint, and stays a region of its own. Critical sections that the author
// ended himself are not joined with what follows, unless it follows at once.
//
// # What may be missed, what may go wrong
//
// Accesses through pointers to a field, reflection, unsafe, cgo and files left
// out by build constraints are not seen; where an address is taken, or the
// name occurs in a file left out, the strategy refuses. Two paths such as
// a.b.mu and c.mu may be the same lock without our knowing; the lock-order
// check goes by lock class, which errs towards refusing. Which locks are held
// and which objects are private yet is taken from analyzers/pass/lockset and
// analyzers/pass/ownership, which name what they miss. Neither looks at tests.
//
// Whether a read decides about an access is judged in the order of the
// source, through locals and conditions. What it decides about the next round
// of a loop, in a callee or a caller, and values that travel through fields or
// come out of a receive or a blocking method, are not followed. A new mutex
// guards one variable alone, and those beside it for which the same goroutines
// race by what a run has shown; nothing is said of others. The
// other way, a jump counts as deciding about all code that it leaves out,
// which may withhold patches that would do.
//
// A region that ends with a plain Unlock keeps the lock if code in it panics
// (a nil dereference, an index out of range) and somebody recovers. Reads that
// move into locals before a statement are made earlier than the calls in it;
// Go leaves that order open. A snapshot of a map or slice is shallow.
//
// The package imports nothing that runs programs: the checks that need the go
// command are given to it.
//
// Cost: for a finding linear in the module, times the lock classes that its calls may hold.
package patchgen
