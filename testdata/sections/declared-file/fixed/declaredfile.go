// Package declaredfile has it mended: one critical section.
package declaredfile

import "sync"

// Point moves along the diagonal.
type Point struct {
	mu   sync.Mutex
	x, y int
}

// Move goes on by n.
func (p *Point) Move(n int) {
	p.mu.Lock()
	p.x += n
	p.y += n
	p.mu.Unlock()
}

// At tells where it is.
func (p *Point) At() (x, y int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.x, p.y
}
