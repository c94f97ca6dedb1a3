// Package testusestate has it mended: one method does both.
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

func (m *Machine) leave(state, next int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state != state {
		return false
	}
	m.state = next
	return true
}

// Run runs a program, if none is running.
func (m *Machine) Run(program string) bool {
	if !m.leave(idle, running) {
		return false
	}
	m.runs <- program
	return true
}

// Stop makes it idle.
func (m *Machine) Stop() {
	m.mu.Lock()
	m.state = idle
	m.mu.Unlock()
}
