// Package campaign runs instrumented test binaries many times, each run with
// a seed of its own, and turns the evidence that the monitor leaves into
// confirmed findings.
//
// A run starts the test binary of every package once, in the package's folder
// and with the arguments and environment that `go test` would use. Its outcome
// as a test (passed, failed, panicked, timed out) is kept apart from what the
// monitor caught; where a package fails, one run of the same binary with the
// monitor asleep tells whether it fails without it too.
//
// # Counting k of n
//
// Once a pair of sites is caught, noise at it teaches nothing new. So every
// second run is told the pairs caught so far and arms them no more, which
// leaves the noise to the rest. A rate from such runs would say nothing, so n
// counts for each pair only the runs in which it was armed, and k those of
// them that showed it. [Config.Repeat] arms everything in every run.
//
// # What may be missed, what may be reported falsely
//
// A race that no run shows is not found. Evidence that a process could not
// write, lines cut short and processes that left no evidence are counted and
// said in [Result.Problems]. A finding is as true as the record that it stands
// on: see dynamic/rt. That a package fails "only when monitored" rests on one
// unmonitored run; a test that fails now and then may look like that.
package campaign
