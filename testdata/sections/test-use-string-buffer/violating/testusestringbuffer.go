// Package testusestringbuffer has a buffer that is appended to another, its length taken first. IL2002.
package testusestringbuffer

import "sync"

// Buffer is text that grows.
type Buffer struct {
	mu   sync.Mutex
	text []byte
}

// New holds text.
func New(text string) *Buffer { return &Buffer{text: []byte(text)} }

// Len reports how long it is.
func (b *Buffer) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.text)
}

// first returns the first n bytes.
func (b *Buffer) first(n int) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text[:n:n]
}

// Truncate makes it empty.
func (b *Buffer) Truncate() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = make([]byte, 0)
}

// Set makes it hold text.
func (b *Buffer) Set(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = []byte(text)
}

// Append adds all of another buffer.
func (b *Buffer) Append(o *Buffer) {
	n := o.Len()      // want IL2002 entry
	add := o.first(n) // want IL2002 end
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, add...)
}
