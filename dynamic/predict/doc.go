// Package predict finds data races and deadlocks that a run has not shown, and that the
// same run would have shown in another order.
//
// It reads the trace of a run under the happens-before engine: all synchronisation, and
// each access with the write that it has seen. A correct reordering of the trace keeps
// the order of each goroutine and has each read see the same write, so that the program
// may run like that. It is sync-preserving if any two critical sections of one lock that
// are both in it keep their order. A race is predicted where a sync-preserving correct
// reordering makes both accesses the next steps of their goroutines (Mathur, Pavlogiannis
// and Viswanathan, Optimal Prediction of Synchronization-Preserving Races, POPL 2021); a
// deadlock where it makes both acquisitions the next steps, each of a lock that the other
// goroutine holds (Tunç and others, Sound Dynamic Deadlock Prediction in Linear Time,
// PLDI 2023).
//
// A split of an atomic section is predicted where such a reordering has an access of another goroutine while the
// section has released its lock and not taken it again, after Li's thesis (2012, Algorithm 9): see splits.go.
//
// All other synchronisation keeps the order that it had in the trace: channels,
// WaitGroup, Once, atomics, go statements. So a prediction is never of two steps that
// one of these orders.
//
// Missed: predictions that need two critical sections of one lock in the other order, cycles of more
// than two locks, events behind the end of the trace, and pairs beyond the work limit,
// which is counted. Predicted falsely: steps that the trace does not show to depend on each
// other, because a lock was polled (TryLock that failed) or a channel was (a select that took
// its default, len), or code that is not instrumented has ordered them. A prediction is
// therefore no proof; a run that is driven to it may be one.
package predict
