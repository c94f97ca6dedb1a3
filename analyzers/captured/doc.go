// Package captured reports local variables that a goroutine captures, and that
// others use without waiting for it.
//
// captured: captured variable shared with a goroutine (IL1004)
//
// WRONG: both functions assign the same err.
//
//	err := open()
//	go func() {
//		err = serve()
//		log.Print(err)
//	}()
//	err = check()
//
// RIGHT: the goroutine has a variable of its own.
//
//	go func() {
//		err := serve()
//		log.Print(err)
//	}()
//	err = check()
//
// A variable is reported if the goroutine and the function that started it access it, or two goroutines that
// one function started; if one of them writes; and if nothing orders the two: no lock is held at both, and on
// some path neither side waits for a signal that the other one sends afterwards (a channel, a WaitGroup, a
// sync.Once). Goroutines that a loop starts are compared with themselves, parallel subtests with each other.
// Loop variables before Go 1.22 are such variables, and are reported where the loop assigns them. Test code
// counts. time.Sleep orders nothing.
//
// In a test, a variable that only the test and one goroutine use is a lead, which check prints only with
// -leads, where the code under test may order the two: it may wait before one of the accesses, or it alone
// sends the signal that the goroutine waits for. A variable that only makes the test fail is a lead too (if
// called { t.Fatal("called") }).
//
// Missed: variables behind calls of unknown code, which may wait; closures kept in
// variables that others assign. Reported falsely: goroutines that are known to have ended by
// other means than waiting, and paths that no run takes.
//
// Cost: linear in the findings of package parallel, with one walk through the syntax of a function for each.
package captured
