// Package testuseclosed has it mended: one critical section.
package testuseclosed

import "sync"

// Mailbox takes letters until it is closed.
type Mailbox struct {
	mu      sync.Mutex
	closed  bool
	letters []string
}

// Send puts a letter in, and reports whether it will be read.
func (m *Mailbox) Send(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.letters = append(m.letters, text)
	return true
}

// Close returns all letters; none can be sent any more.
func (m *Mailbox) Close() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.letters
	m.closed, m.letters = true, nil
	return all
}
