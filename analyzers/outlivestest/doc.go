// Package outlivestest reports goroutines that may log through a test, or let it
// fail, when it has ended.
//
// outlivestest: test used after its end (IL5002)
//
// WRONG: package testing panics if the test has returned by then, which ends the tests of the
// whole package, in the middle of another test.
//
//	func TestServe(t *testing.T) {
//		go func() {
//			if err := serve(); err != nil {
//				t.Log(err)
//			}
//		}()
//		ask(t)
//	}
//
// RIGHT: wait for the goroutine before the test ends.
//
//	func TestServe(t *testing.T) {
//		done := make(chan error, 1)
//		go func() { done <- serve() }()
//		ask(t)
//		stop()
//		if err := <-done; err != nil {
//			t.Log(err)
//		}
//	}
//
// Tests are simulated with the goroutines that they start, through all interleavings. A pause by time.Sleep is
// no wait. Functions that a test leaves to Cleanup are part of it. "interlock test" confirms such a finding by
// the panic: it waits a moment for goroutines after the tests, and delays some of them.
//
// Missed: goroutines of tests that call code which is not known, subtests that end before their parent, t
// in the hands of other packages. Reported falsely: conditions that belong together in ways that the simulation does
// not see.
//
// Cost: none beyond that of package simulation.
package outlivestest
