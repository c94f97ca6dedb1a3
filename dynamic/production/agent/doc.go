// Package agent is the part of the race watch that runs as a goroutine of the program: it decodes the code that samples
// come from, keeps the budget, judges pairs of accesses, and writes the evidence. It says once on standard error which
// means is in use. See package production.
//
// Nothing here is built in its place: a build constraint keeps all other files out, as they call what is added to
// package runtime.
package agent
