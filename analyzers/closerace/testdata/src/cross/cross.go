// Package cross has a queue whose channel other packages use.
package cross

import "sync"

type Queue struct {
	Mu    sync.Mutex
	Items chan int
	Done  chan struct{}
	Own   chan int
}
