// Package atomicmix reports variables that are accessed through sync/atomic
// in one place and plainly in another.
//
// atomicmix: atomic and plain access mixed (IL1003)
//
// WRONG: an atomic operation orders nothing but other atomic operations, so
// the read in Get races with the addition in Extend.
//
//	func (i *Item) Extend(t int64) { atomic.AddInt64(&i.expires, t) }
//
//	func (i *Item) Get() int64 { return i.expires }
//
// RIGHT: every access is atomic, best by type: a field of type atomic.Int64
// has no plain accesses.
//
//	func (i *Item) Get() int64 { return atomic.LoadInt64(&i.expires) }
//
// A plain access is reported if it conflicts with an atomic one that another goroutine may run at the same
// time on the same object, and no lock that both hold orders them. Plain accesses to objects that nobody
// else can reach yet are fine, and so are those in tests and in package initialisation.
//
// Three kinds of access are leads, which check prints only with -leads:
//
//   - stores of constants or new containers that make the object as new;
//   - a pair of accesses that may concern different variables, because within the package the two sides
//     do not reach the variable from one package variable or through the same fields of objects of one
//     type;
//   - an access to a field that nobody adds to, which is mostly one by the object's owner. Such an
//     access is a finding where the object was looked up in a map under a lock, and where any caller may
//     make both accesses and the function of the plain one accesses another field of the object
//     atomically.
//
// A finding needs evidence that two goroutines can reach the same object. That is a go statement of the
// package that leads to one of the two places, where the other side need not wait for the goroutine; or
// exported functions that several goroutines may call and that do not set the object up. Without such
// evidence it is a lead.
//
// A copy of a struct reads its fields, and an assignment of one writes them. The elements of an array or slice are one
// variable, except those of distinct constant indexes.
//
// Missed: pointers to the variable that are handed to other functions.
// Reported falsely: plain accesses that a phase of the program orders, such
// as a read after WaitGroup.Wait in another function.
//
// Cost: linear in the accesses, but the square of those of a variable that is accessed both ways.
package atomicmix
