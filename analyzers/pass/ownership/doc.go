// Package ownership is the shared pass that knows which objects only the
// running goroutine can reach yet (RacerD's ownership; the papers' "not lost").
//
// An object is [Fresh] from its allocation (a composite literal, new, make,
// a local variable, the result of a constructor, or an argument that every
// caller passes fresh) until something publishes it:
//
//   - a go statement, a send, or a store in a package variable makes it [Shared];
//   - a store in an object that came from elsewhere, or a call of unknown
//     code, makes it [Handed] on: perhaps others reach it, perhaps not.
//
// An object that a function returns after it made it, and let others know of it only by
// the calls that build it, is Handed on, and so is the result of a call through
// an interface of which some method in the package returns a fresh object.
//
// Publications are instructions, and an access is judged by those that can
// come before it. Publications in closures and callees count where these are called.
// An object stored in another fresh object is published with that one.
//
// A Fresh verdict is meant to hold (the monitor skips such accesses), except
// for the guesses of Cell and Path of accesspath about captured variables, which
// follow every assignment. Handed errs on the side of silence.
//
// Cost: the publications of an object are found once (not at all in functions of more than 50,000 instructions), in
// time linear in the uses of the values that carry it. A question is linear in the values that lead to the place and in
// the publications of their objects. The levels of parameters are found in as many rounds as calls go round in circles.
package ownership
