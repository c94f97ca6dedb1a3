// Package runtime is the part that a production build adds to package runtime: see package production.
// Nothing here is built in its place: a build constraint keeps all other files out.
//
//	clock.go   the release clock of each goroutine
//	perf.go    events of the kernel: a timer, and a debug register for each slot
//	timers.go  switching on and off, also in a process that has many threads already
//	start.go   whether this process samples, before it has a second thread
//	slot.go    a slot: one variable that is watched, with its first access e1
//	trap.go    the signal of an event: a sample (e1), or an access to a watched variable (e2)
//	operand.go addresses of the operands near an instruction, by the registers
//	agent.go   what the agent package calls
//
// Handlers of signals neither allocate nor wait: they take a slot by one compare-and-swap, and where that fails they
// count a loss. All names begin with ilk.
package runtime
