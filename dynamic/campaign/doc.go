// Package campaign runs instrumented test binaries many times, each run with
// a seed of its own, and turns the evidence that the monitor leaves into
// confirmed findings.
//
// Package run makes and reads the runs, package judge makes the findings. This
// package decides which run is made next, and with which noise.
//
// A run starts the test binary of every package once, in the package's folder
// and with the arguments and environment that `go test` would use. Its outcome
// as a test (passed, failed, panicked, timed out) is kept apart from the
// evidence of the monitor.
//
// # The purpose of a run
//
// Where the user does not say where to make noise, the first run makes none and measures
// how far apart two goroutines come to one address. Most later runs hold goroutines where
// and for as long as package schedule plans by such gaps; every fourth looks around, guided
// by near misses and static findings (purpose).
//
// # Noise that tests can bear
//
// Every order that noise brings about is a legal one, but tests that count on
// time fail under it. So most runs are gentle and some strong (ladder), both
// are fainter where a package writes short times as constants (testsource.Bearable), and
// the strength is halved when tests fail under noise, pass without, and no race
// explains it. For "without", the same binary runs with the
// monitor asleep, before all others, and once more after the first such
// failure. [PackageResult] says which tests failed under noise only: they may
// count on time, or have caught an atomicity violation, and nothing here can
// tell the two apart.
//
// A test that cannot stand the noise is no reason to make less of it for the others:
// they run without it, and it runs alone now and then (spare).
//
// The run before all others also bounds the time: a monitored run that takes
// several times as long is ended with a dump of its goroutines, and made again without
// the tests that hung, or with less noise. That it was ended says nothing of the tests ([CutShort]); only a test that
// hangs without noise has failed, and is left out of the monitored runs.
// Goroutines that nothing can wake any more are findings (judge/leak.go), seen in the
// run without noise or in a monitored one.
//
// # Deadlocks
//
// The monitor watches the program's own locks in each run, the one without noise included. A
// circle of goroutines that wait for each other's locks is a confirmed deadlock, and that run
// ends as soon as its tests stand still. Locks acquired in orders that lead round, one after the
// other, make planned runs hold goroutines between two of them (schedule.Locks); where nothing
// orders the goroutines that could be seen, and no run has ruled the circle out, it is predicted.
//
// # Counting k of n
//
// Once a pair of sites is caught, noise at it teaches nothing new. So planned runs, and
// of those that a heuristic of the user's guides every second one, do not arm the pairs
// caught so far, which leaves the noise to the rest. A rate from such runs would say
// nothing, so n counts for each pair only the runs in which it was armed, and k those of
// them that showed it. Noise.Repeat has no plans, and arms everything in every run.
//
// # Replays
//
// After all runs each finding's replay command is tried, as the command line would
// make its run, and the rate is reported beside it: a run in which one pair alone is
// armed differs from the one that has shown it. Replay.Tries says how often.
//
// # Atomic sections
//
// A section that was split is a finding. If it came from a suspected finding, it
// keeps the id of that. It is confirmed by the mechanism: if a user declared the
// section and the remote access has certainly come in between, and if the split of
// an inferred one changed the outcome (a store was lost, or the test was different
// at the use) in a way that is harm by itself ([stores.Source.Lost]).
// Or by the tests, where failing runs that nothing else explains are split
// significantly more often than passing ones ([judge.Tally.HarmOf], [fisher.Exceedance]).
// Where only such runs fail, others are made in which it stays whole ([campaign.compare]).
// Access-interleaving invariants describe the usual order alone: only tests confirm
// them. All else is predicted. [Refine] sorts out invariants that correct runs
// split. Sections proven broken are left closed in every second run, as pairs are.
//
// # Errors that are bugs by themselves
//
// An error of the runtime or of package sync that proves a bug, such as a close of a
// closed channel, is a finding of that bug (judge/fatal.go) and explains the failure. Where
// a race of its two sides was caught, it is a note on that: a send or close at the moment of
// a close, an Add at that of a Wait (dynamic/rt).
//
// # Missed, and reported falsely
//
// A race that no run shows is not found. Evidence that a process could not
// write, lines cut short and processes that left no evidence are counted and
// said in [Result.Problems]. A finding is as true as the record that it stands
// on: see dynamic/rt. By the tests, chance confirms a section in one of a hundred
// campaigns at most. That a test fails "under noise only" rests on two runs
// without; one that fails now and then by itself may look like that.
package campaign
