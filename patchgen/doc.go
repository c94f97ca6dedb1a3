// Package patchgen builds patches for concurrency findings and checks them.
//
// [Fix] takes all findings on one variable and tries the strategies in order
// of intrusion, each in a file of its own:
//
//	reorder  initialise before publishing: an assignment moves before the go statement
//	guard    take the lock that guards the variable elsewhere
//	atomic   one-step accesses through sync/atomic
//	once     lazy initialisation through a sync.Once
//	mutex    a new mutex beside the variable, taken at every access
//
// A strategy looks at every access of the variable in the module, not only at
// the two that were caught, and gives up with a reason where it cannot treat
// them all. What it leaves as it is (accesses in tests, reads by an owner, a
// test and a use that something blocking keeps apart) stands in the fix's
// notes.
//
// Candidates are then checked: the patched source type-checks; analysed anew,
// it has every access under the lock and no lock left held at a return; its
// lock-order graph has no new acquisition within a cycle; and the caller's
// checks (see [Checks]) build, vet, test and re-run it. A wrong patch is worse
// than none: the first failing check withholds the candidate, and the next
// strategy is tried.
//
// # Locks
//
// Regions under a lock are as small as the code allows (see cover): nothing
// that may wait, do I/O or call unknown code is put under a new lock; operands
// are computed before or after. Code is known if it is a function of the
// module that, through everything it calls, is, or one of a table of harmless
// library packages.
//
// # What may be missed, what may go wrong
//
// Accesses through pointers to a field, reflection, unsafe, cgo and files left
// out by build constraints are not seen; where an address is taken, or the
// name occurs in a file left out, the strategy gives up. Two paths such as
// a.b.mu and c.mu may be the same lock without our knowing; the lock-order
// check goes by lock class, which errs towards refusing. That a lock is held
// is derived per function and through callers of unexported functions, not
// through lock wrappers that lock in one function and unlock in another;
// those end in a refusal or in a lock-order complaint. Objects made by a
// function are taken as private until they are first handed on (ownership);
// a callee that publishes its receiver cannot be overlooked, since a method
// call counts as handing on.
//
// A region that ends with a plain Unlock keeps the lock if code in it panics
// (a nil dereference, an index out of range) and somebody recovers. Reads that
// move into locals before a statement are made earlier than the calls in it;
// Go leaves that order open. A snapshot of a map or slice is shallow.
//
// The package imports nothing that runs programs: the checks that need the go
// command are given to it.
package patchgen
