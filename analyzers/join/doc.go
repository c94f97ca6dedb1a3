// Package join decides what needs all packages of a module at once, from what
// their summaries say: today the lock-order cycles.
//
// The lock-order graph has a class of locks (pkg.Type.field, or a package
// variable) for a node and an [Order] for an edge. A cycle is a possible
// deadlock if its orders can happen at the same moment: no gate lock is held
// at two of them, not one and the same goroutine makes them all, and at each
// lock one side writes, or a writer may wait between two readers (package
// sync lets no new reader pass it).
//
// Orders within one class are a cycle of their own where the two objects are
// peers, such as receiver and argument of an exported method, that callers
// may swap. Of parent and child nothing is told.
//
// Missed: cycles of more than three classes, locks of one class at the two
// ends of a hierarchy, calls through interfaces and function values kept in
// memory. Reported falsely: cycles between classes whose objects never meet.
package join
