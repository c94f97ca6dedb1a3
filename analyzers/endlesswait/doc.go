// Package endlesswait reports waits on channels, WaitGroups and Conds that
// nobody may end, so that a goroutine hangs or leaks.
//
// endlesswait: wait that nobody may end (IL4003)
//
// WRONG: when the context is done first, nobody receives any more, and the
// goroutine waits at its send for ever.
//
//	func fetch(ctx context.Context, get func() string) (string, error) {
//		ch := make(chan string)
//		go func() { ch <- get() }()
//		select {
//		case s := <-ch:
//			return s, nil
//		case <-ctx.Done():
//			return "", ctx.Err()
//		}
//	}
//
// RIGHT: there is room for the value, even if nobody takes it.
//
//	ch := make(chan string, 1)
//
// The check runs a function with all the goroutines that it starts, through all their interleavings. It
// reports a goroutine that still waits when nothing can go on: an early return before the only send,
// receive or Done, a WaitGroup raised more than lowered, a signal that comes before the wait, a range over
// a channel that nobody closes, two goroutines that wait for each other. Tests are run so too, with all
// that they call in the package; a test that has failed already may leave goroutines behind.
//
// A function that is too large for this is run once more without the long functions that reach none of the
// objects that it has made.
//
// Channels in fields are judged by their uses in the package. Two kinds are reported: an operation that anybody
// may call, if its only other side is a goroutine that returns when it is stopped; and a send to users of the
// package, in a loop that ends when it is stopped while the send does not.
//
// These kinds of wait are leads, which check prints only with -leads:
//
//   - a wait for a message where no second goroutine has been started, as by a loop over no items;
//   - a wait for a WaitGroup to which an unknown number is added;
//   - a wait that is endless only if two loops go round differently often, where one count is computed
//     from the other, or both come from the same call;
//   - a wait in a helper that tests call with arguments: each of these tests is simulated with its own
//     arguments;
//   - a wait that a context of the caller ends, once the goroutine at the other side has been stopped.
//
// Missed: waits on channels that are handed to other packages, returned, or stored in an object from outside:
// anybody may end them; conditions of long loops; in tests of other code waits that depend on data that the
// simulation does not know, and goroutines that a passing test always leaves behind at a channel, as its own
// literals do where the tests stand alone.
//
// Reported falsely: ways through a function that exclude each other, where that shows
// neither in a variable nor in the length of a collection; calls that users of a
// package know not to make after it is stopped.
//
// Cost: a bounded number of steps for each scope, and of the package in the
// instructions that it has; for a channel, the number of its operations squared.
package endlesswait
