// Package production holds the race watch for programs in production: what a build adds to the standard library and to
// the program, and for which releases of Go. No file of the user's is rewritten.
//
// A sample of a timer shows an access e1 (RACEZ, 4.4: package operands). A debug register, in all threads at once, then
// waits for a second access e2 to the same variable, while no goroutine is held. If e2 is another goroutine's, and e1's
// goroutine has released nothing in between, the two are a clock race (CRSampler, Algorithm 3): nothing orders e1
// before e2. Nor is e2 before e1: the watch began while e1's goroutine stood in code without synchronisation at e1.
//
// The parts, from the inside:
//
//	inject     added to package runtime: the clocks, and the handler of the signals
//	operands   decodes machine code; part of the program
//	agent      a goroutine of the program: decodes, keeps the budget, writes the evidence
//	status     what the agent shows of itself
//	pages      shows and switches the watch by HTTP; serve and vars open the pages in a program, with an agent
//	production the files that a build replaces, and the tool that counts calls of sync/atomic
//
// A clock counts every release that Go code makes: operations of channels, unlocks, all of sync/atomic that stores, go
// statements, ends of goroutines, sync.Pool, timers, system calls and calls of C. Assembly outside of the standard
// library that orders memory by itself is not counted: findings of programs with such packages name them.
//
// Reported falsely: nothing, as far as that holds; findings are predicted, as it has not been tried for long. What the
// runtime accesses itself is no access, nor is the compiler's check for nil; the object of e1 is alive as long as no
// collection ends ("sweepgen"); stacks are not watched; late signals are dropped by the tag of the watch. Missed: most
// races, as only a few variables are watched at a time, each for some milliseconds; races whose first access is an
// atomic write; accesses by assembly, or by packages runtime and sync; unaligned accesses.
package production
