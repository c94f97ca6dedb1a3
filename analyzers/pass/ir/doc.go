// Package ir is the pass that the others stand on: the SSA form of a
// package in scope, and the way back from it to the source (the expression that
// an instruction came from, a function's name in the gc compiler).
//
// It takes the place of x/tools' buildssa, which builds every dependency down
// to the runtime; outside of [scope] this pass costs nothing. Functions that
// never return are known from the package itself, from facts of packages in
// scope, and from a table for the standard library.
//
// Cost: linear in the source. The [Flow] of a function is worked out when it is first asked for, in the square of its
// blocks over 64.
package ir
