// Package closures mixes in function literals.
package closures

import "sync/atomic"

type Pool struct{ busy, idle int32 }

func (p *Pool) Run(f func()) {
	go func() {
		atomic.AddInt32(&p.busy, 1)
		defer atomic.AddInt32(&p.busy, -1)
		f()
	}()
	go func() {
		atomic.AddInt32(&p.idle, 1)
	}()
}

func (p *Pool) Wait(until func(func() bool)) {
	until(func() bool { return p.busy == 0 })                    // want `Pool.busy is read plainly`
	until(func() bool { return atomic.LoadInt32(&p.idle) == 0 }) // ok
}
