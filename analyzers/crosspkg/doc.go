// Package crosspkg decides questions that need all packages of a module at once, from their summaries: it finds
// [Cycles] in the lock order, and by [Judge] faults of variables that several packages access.
//
// [Infer] says which lock guards a variable, going by the accesses to it. Each
// package asks about its own; Judge asks again, with the accesses of all, about
// exported fields and package variables. It adds findings where an access of
// one package lacks the guard that others show (IL1001, or IL1006 where it holds
// another lock of the object), or is plain where another's is atomic (IL1003),
// whichever imports the other, and drops a package's finding where the accesses
// of others speak against its guess. Pairs within one package are that package's
// matter, which knows more.
//
// Missed: accesses through the objects that functions of unknown code return, locks that do not lie in the
// object, variables that are set once. Reported falsely: accesses that a phase of the program orders, and users
// that have an object to themselves by contract.
//
// The lock-order graph has a class of locks (pkg.Type.field, or a package
// variable) for a node and an [Order] for an edge. A cycle is a possible
// deadlock if its orders can happen at the same moment: no gate lock is held
// at two of them, not one and the same goroutine makes them all, and at each
// lock one side writes, or a writer may wait between two readers (package
// sync lets no new reader pass it).
//
// An order that waits for a call through an interface stands for one order for
// each lock that an implementation takes, of the types that flow to the node,
// a field or parameter, which the call is made on ([Flow], [Method]). Matching
// implementations by the name and signature of the method alone would add
// cycles between types that never meet.
//
// Orders within one class are a cycle of their own where the two objects are
// peers, such as receiver and argument of an exported method, that callers
// may swap. Parent-child orders are not reported.
//
// Missed: cycles of more than three classes, locks of one class at the two ends of a hierarchy, calls through
// function values kept in memory. Reported falsely: cycles between classes of objects that never meet.
//
// Cost: linear in the accesses of a variable over all packages, and in the types that flow to nodes. Of lock orders the
// cube of the classes that wait for each other in circles, and for a ring of two or three classes at most the product
// of the orders between them.
package crosspkg
