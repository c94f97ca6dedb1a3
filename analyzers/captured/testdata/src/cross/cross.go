// Package cross runs functions of other packages.
package cross

// Go runs f in a goroutine.
func Go(f func()) { go f() }

// Run runs f and returns when it is done.
func Run(f func()) { f() }

// Idle neither calls nor waits.
func Idle() {}
