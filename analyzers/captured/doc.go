// Package captured reports local variables that a goroutine captures, and that
// its starter goes on to use without waiting for it.
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
// A variable is reported if the goroutine and the function that started it
// access it, one of them writes, and on some way from the go statement to the
// access nothing is called or received that might wait for the goroutine; and
// if goroutines that a loop starts all write one variable declared outside of
// it, without a lock. Loop variables before Go 1.22 are such variables, which are
// reported where the loop assigns them, and so are those that parallel subtests
// write. Test code counts.
//
// Missed: variables behind calls of unknown code, which may wait; accesses
// under a lock, however wrong; closures kept in variables. Reported falsely:
// goroutines that are known to have ended by other means than waiting.
//
// Cost: for each go statement linear in the instructions that may run beside its goroutine: the square of a function
// that starts many. A function that takes too many steps is left (ir.WorkLimit).
package captured
