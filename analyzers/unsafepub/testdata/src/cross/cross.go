// Package cross starts goroutines and has a type that another one completes.
package cross

import "sync"

// Go runs f in a goroutine.
func Go(f func()) { go f() }

type Base struct {
	Mu   sync.Mutex
	Stop chan bool
	Name string
	Tag  string
}
