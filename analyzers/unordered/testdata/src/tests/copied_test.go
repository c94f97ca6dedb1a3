package tests

import (
	"sync/atomic"
	"testing"
)

type counted struct{ n int64 }

// Len has a copy of its receiver, which each call makes without an atomic.
func (c counted) Len() int64 { return atomic.LoadInt64(&c.n) }

func (c *counted) Now() int64 { return atomic.LoadInt64(&c.n) }

func (c *counted) set() {
	atomic.StoreInt64(&c.n, 1) // want "counted.n is accessed by two goroutines that nothing orders"
}

func newCounted() *counted {
	c := counted{}
	go c.set()
	return &c
}

func TestCopied(t *testing.T) {
	c := newCounted()
	if c.Len() > 1 {
		t.Error("too many")
	}
}

func TestNotCopied(t *testing.T) {
	c := newCounted()
	if c.Now() > 1 {
		t.Error("too many")
	}
}
