// Package features has the directives where they may stand. The comments list
// the guard that a line declares.
package features

import "sync"

type T struct {
	mu sync.Mutex
	rw sync.RWMutex

	//interlock:guardedby mu
	above int // = above by mu

	beside int //interlock:guardedby mu

	// In gVisor's words.
	// +checklocks:rw
	annotated int // = annotated by rw

	//interlock:guardedby mu
	a, b int // = a by mu, b by mu

	//interlock:guardedby missing
	unknown int // = none

	plain int // = none
}

//interlock:guardedby global
var guarded int // = guarded by global

var global sync.Mutex

type Embeds struct {
	sync.Mutex
	//interlock:guardedby Mutex
	n int // = n by Mutex
}

type Box[V any] struct {
	mu sync.Mutex
	//interlock:guardedby mu
	v V // = v by mu
}

type Outer struct {
	inner struct{ mu sync.Mutex }
	//interlock:guardedby inner.mu
	n int // = n by inner.mu
}
