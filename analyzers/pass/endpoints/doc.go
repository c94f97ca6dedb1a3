// Package endpoints holds the shared passes that find where atomic sections
// begin and end, in called functions too: [Analyzer] sums up what functions test,
// read and change, and [TestUses] finds the tests and uses that another goroutine
// may come between.
//
// What a function does is exported as the fact [Effects], in terms of its
// parameters, so that the ends of a section may lie in functions of other packages.
//
// Cost: for each branch that asks for a variable, the events of the function, and
// the uses of the variable, so a square where a function asks often; at worst the
// uses times the events where a lock is released in between, for which what lies
// between a test and one use is mostly found again for the next. A function that
// takes too many steps is left out (ir.WorkLimit).
package endpoints
