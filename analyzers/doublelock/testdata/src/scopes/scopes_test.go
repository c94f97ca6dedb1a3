package scopes

import (
	"sync"
	"testing"
)

// A lock that is taken again by way of a field and a method.
type node struct {
	mu       sync.Mutex
	children []*node
	parent   *node
}

func (n *node) size() int {
	n.mu.Lock() // want `IL3002: lock of node.mu may wait for ever: The goroutine holds the lock since scopes_test.go:27`
	defer n.mu.Unlock()
	return len(n.children)
}

func (n *node) add(c *node) {
	c.parent = n
	n.children = append(n.children, c)
}

func (n *node) report() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	sum := 0
	for _, c := range n.children {
		sum += c.parent.size()
	}
	return sum
}

func TestReport(t *testing.T) {
	n := &node{}
	n.add(&node{})
	n.report()
}

// Released on the way.
type leaf struct {
	mu sync.Mutex
	n  int
}

func (l *leaf) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

func (l *leaf) report() int {
	l.mu.Lock()
	l.n++
	l.mu.Unlock()
	return l.size()
}

func TestLeaf(t *testing.T) { (&leaf{}).report() }

// A callback that comes back.
type bus struct {
	mu       sync.Mutex
	handlers []func()
}

func (b *bus) on(f func()) {
	b.mu.Lock() // want `IL3002`
	b.handlers = append(b.handlers, f)
	b.mu.Unlock()
}

func (b *bus) fire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.handlers {
		h()
	}
}

func TestCallback(t *testing.T) {
	b := &bus{}
	b.on(func() { b.on(func() {}) })
	b.fire()
}
