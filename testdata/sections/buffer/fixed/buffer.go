// Package buffer takes length and bytes of the other text in one critical section.
package buffer

import "sync"

// Buffer is safe for concurrent use.
type Buffer struct {
	mu   sync.Mutex
	text []byte
}

// Len is the number of bytes.
func (b *Buffer) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.text)
}

// Bytes returns a copy of what there is.
func (b *Buffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]byte(nil), b.text...)
}

// Truncate keeps the first n bytes.
func (b *Buffer) Truncate(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = b.text[:n:n]
}

// Write adds to the end.
func (b *Buffer) Write(p []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
}

// Append adds what other holds.
func (b *Buffer) Append(other *Buffer) { b.Write(other.Bytes()) }
