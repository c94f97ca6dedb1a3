// Package unordered reports variables that two goroutines access, one of them
// to write, while nothing orders the two.
//
// unordered: accessed by two goroutines that nothing orders (IL1008)
//
// WRONG: the loop may read the name before or after it is set, or half of it.
//
//	func (s *Server) Start() {
//		go s.loop() // logs s.name
//		s.name = "started"
//	}
//
// RIGHT: the goroutine sees values written before the go statement.
//
//	func (s *Server) Start() {
//		s.name = "started"
//		go s.loop()
//	}
//
// An access is one to a field, a package variable, a pointee, an element, a map, or a container of the standard
// library such as bytes.Buffer. A function that starts goroutines, itself or by its callees, is compared with
// them, two such goroutines with each other, and those that a loop starts with themselves. Calls are followed
// within the package. No guard needs to be known, and code in tests counts: much of it consists of locals. (A
// local variable that a goroutine captures is IL1004.)
//
// The known orders are those of channels, WaitGroups, sync.Once, Cond, errgroup, locks and atomics by which a
// branch decides, and all code of other packages that may do any of it. time.Sleep orders nothing.
//
// Code reached from the tests of a package and its main is simulated, too: there, function values, methods
// behind interfaces and other names of an object are known.
//
// An access that a goroutine makes after it has received a message is a lead, which check prints only with
// -leads: the sender is likely to send after the starter's own access. In a test it is one where the code under test
// starts the goroutine, or may order the two.
//
// Where no goroutines are seen, a field or package variable that two functions access without a lock in common is a
// lead, too, if a lock or an atomic lies beside the field: what else would goroutines share such objects by?
//
// A literal that becomes a handler of net/http runs in a goroutine for each request: a map that its function has made
// for all of them is shared. In tests, which mostly make one request after another, it is not.
//
// Missed, elsewhere: other names for one object, elements by variable indexes, goroutines
// that are started elsewhere. Reported falsely: paths that no run takes, such as those
// that a flag or a count excludes.
//
// Cost: linear in the findings of package parallel.
package unordered
