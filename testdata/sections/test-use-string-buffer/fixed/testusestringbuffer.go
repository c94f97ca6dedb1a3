// Package testusestringbuffer has it mended: length and text are taken at once.
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

// all returns all bytes.
func (b *Buffer) all() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text[:len(b.text):len(b.text)]
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
	add := o.all()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, add...)
}
