// Package declaredfile has two fields that interlock.sections declares to be one. IL2003.
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
	x = p.x // want IL2003 entry, dynamic only
	p.mu.Unlock()
	p.mu.Lock()
	y = p.y // want IL2003 end, dynamic only
	p.mu.Unlock()
	return x, y
}
