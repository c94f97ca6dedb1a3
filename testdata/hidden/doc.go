// Package hidden holds concurrency bugs that hide: accesses far apart in time, rare branches, orders
// that locks hide, circles of locks that need two goroutines in a window, goroutines left behind.
// Each is one test, named after what is wrong with it: TestRace…, TestDeadlock…, TestLeak…; a
// TestClean… is a correct twin. The comment of each reads "Title: what happens."
package hidden
