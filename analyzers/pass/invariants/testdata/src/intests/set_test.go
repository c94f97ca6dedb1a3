package intests

import (
	"sync"
	"testing"
)

type counted struct {
	Set
	mu sync.Mutex
	n  int
}

func (c *counted) read() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func (c *counted) store(n int) {
	c.mu.Lock()
	c.n = n
	c.mu.Unlock()
}

//interlock:atomic nobody else counts in between
func (c *counted) add() {
	n := c.read()
	c.store(n + 1)
}

func TestCounted(t *testing.T) {
	c := &counted{}
	c.add()
	if c.Has(1) || c.read() != 1 {
		t.Fatal("not counted")
	}
}
