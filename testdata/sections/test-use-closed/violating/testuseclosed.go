// Package testuseclosed has a closed flag that is tested before another critical section adds. IL2002.
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
	closed := m.closed // want IL2002 entry
	m.mu.Unlock()
	if closed {
		return false
	}
	m.mu.Lock()
	m.letters = append(m.letters, text) // want IL2002 end
	m.mu.Unlock()
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
