// Package buffer appends one text to another with the length taken first: the other
// one may be shorter by the time that it is copied. IL2002.
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

// CopyTo copies the first n bytes.
func (b *Buffer) CopyTo(dst []byte, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	copy(dst, b.text[:n])
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
//
//interlock:atomic the length is that of the bytes that are copied
func (b *Buffer) Append(other *Buffer) {
	n := other.Len() // want IL2002 entry
	p := make([]byte, n)
	other.CopyTo(p, n) // want IL2002 end
	b.Write(p)
}
