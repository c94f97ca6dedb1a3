// Package judge makes findings of the evidence that runs have left, a file a
// kind of finding: races that were caught at the same moment (race.go), accesses
// that nothing orders (unordered.go), sections that were split (section.go),
// tests that fail where goroutines are held (isolated.go), errors that are bugs
// by themselves (fatal.go), deadlocks, and goroutines that wait for ever
// (leak.go). It makes no runs.
package judge
