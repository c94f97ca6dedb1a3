// Package testusestate has a state that is asked for before another critical section leaves it. IL2002.
package testusestate

import "sync"

const (
	idle = iota
	running
)

// Machine runs one program at a time.
type Machine struct {
	mu    sync.Mutex
	state int
	runs  chan string
}

// New makes a machine that can note n runs.
func New(n int) *Machine { return &Machine{runs: make(chan string, n)} }

func (m *Machine) is(state int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state == state
}

// Run runs a program, if none is running.
func (m *Machine) Run(program string) bool {
	if !m.is(idle) { // want IL2002 entry
		return false
	}
	m.mu.Lock()
	m.state = running // want IL2002 end
	m.mu.Unlock()
	m.runs <- program
	return true
}

// Stop makes it idle.
func (m *Machine) Stop() {
	m.mu.Lock()
	m.state = idle
	m.mu.Unlock()
}
