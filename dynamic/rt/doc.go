// Package rt is the watch engine: the monitor that the rewriter injects into
// a program under test.
//
// The rewriter puts [R], [W] or another of the calls in fast.go directly before an access, so that
// nothing that synchronises comes between the call and the access. That call
// is beforeAccess of AtomRace (Letko, Vojnar, Křena, "AtomRace: data race and
// atomicity violation detector and healer", 2008, section 3.1): a goroutine
// that is at an access publishes Access(v) = (t, loc) in a slot, and another
// goroutine that comes to an overlapping address meanwhile has caught a data
// race, if one of the two writes. Figure 2 there forgets to ask whether the
// other access comes from another thread; here goroutine ids are compared.
// To hold the section open, the goroutine makes noise (3.3) before it goes on
// to its access: a window.
//
//	fast.go            the calls at accesses: one test of a 64-bit address filter
//	layout.go          the words of the monitor: modes, states, visits, contents
//	watch.go           the slow path: meet the windows of others, then hold one; planted violations
//	slots.go           the table of published windows, and the filter over it
//	noise.go           where to hold a window, how long, and how much in all, or schedules by name;
//	                   where to hold goroutines beside accesses
//	gaps.go            which sites two goroutines reach, and how far apart
//	pace.go            when the filter is open to all addresses
//	goroutine.go       which goroutine runs, on which stack, in which bubble; those that outlive the tests
//	record.go          records in the format of package evidence
//	config.go          the environment
//	off.go             other platforms, on which nothing is watched
//	section_api.go     the calls at atomic sections: Figure 3 of AtomRace
//	section_owner.go   the steps of the goroutine in a section
//	section_slots.go   the open sections, and the accesses of other goroutines to their variables
//	section_turns.go   runs in which one goroutine at a time is in a section
//	section_judge.go   whether a section was split, and the effect of that
//	section_syncmap.go the calls at methods of a sync.Map
//
// Without INTERLOCK_OUT in the environment the engine sleeps: the filter stays
// zero, and nothing else ever runs.
//
// # When accesses are looked at
//
// While the filter is open (all ones) every access takes the slow path and may
// hold a window. While it is closed, only an access with an address that shares a
// bit with a held window does, and goes on at once if the window lies elsewhere. The filter
// starts open and stays open as long as the slow path costs less than a sixteenth
// of the time; a hot loop uses that up in a moment, and then the filter closes for
// as long as it takes to get even.
//
// There is no permanent goroutine: leak checks, NumGoroutine and stack dumps
// of the program would show it. The slow path looks at the clock now and then
// and closes the filter; a one-shot timer opens it again. An idle program has
// no timer pending, so the runtime still finds its deadlocks.
//
// # The meaning of a record, and races that are missed
//
// A race record is true: both goroutines were at their accesses at the same
// moment, both held the object, nothing ordered them, and one of them writes.
// It is as true as the rewriter's promise that nothing synchronises between
// call and access, and no more.
//
// Missed are: races with accesses further apart than a window lasts, which is as
// long as the gap that an earlier run has shown, within the budget;
// accesses by code that is not instrumented; sites that run only while the
// filter is closed; an access by [R] or [W] that begins more than 24 bytes
// below a window that it reaches into, unless the filter is open; everything on stacks
// (another goroutine cannot reach a stack); whatever the counters of
// evidence.Counters say was dropped; an Add to a WaitGroup by a number that is no
// constant, and a Wait in a deferred call. A goroutine alone in its process holds
// no window, nor does a sequential test in a test binary. And -race, in the
// same build, sees fewer races: the monitor's own atomics order accesses.
//
// # Effects on the program
//
// Noise costs time; the union of all windows is kept within a budget. Every
// order that noise brings about is a legal one, but tests that count on time
// ("the goroutine has run after 2 ms") may fail or wait forever. The
// monitor allocates nothing after its start, holds no file open between
// records, reads no faked clock and does not sleep on one.
package rt
