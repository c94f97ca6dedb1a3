// Package user locks by the methods of another package, and in closures.
package user

import (
	"dep"
	"sync"
)

type Machine struct {
	event dep.Guard
	state sync.RWMutex
	next  int
}

func (m *Machine) Event(n int) {
	m.event.Enter()
	defer m.event.Leave()
	m.next = n
}

func (m *Machine) Done() {
	m.event.Enter()
	defer m.event.Leave()
	func() { m.next = 0 }()
}

func (m *Machine) Pending() bool {
	m.event.REnter()
	defer m.event.RLeave()
	return m.next != 0
}

func (m *Machine) Can() (can bool) {
	m.state.RLock()
	defer m.state.RUnlock()
	func() {
		can = m.next == 0 // want `Machine.next is read under m.state \(read\), but m.event.mu guards it`
	}()
	return can
}
