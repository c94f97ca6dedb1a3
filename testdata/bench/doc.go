// Package bench holds the programs on which `make bench` measures what the
// monitor costs: data structures under a mutex, a parser that shares nothing,
// and goroutines that talk through channels. Each is written as such code
// usually is, and knows nothing of the monitor.
package bench
