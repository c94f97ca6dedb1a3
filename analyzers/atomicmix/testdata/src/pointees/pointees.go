// Package pointees: what a field points to is not the field.
package pointees

import "sync/atomic"

type Buffer struct {
	refs *atomic.Int32
	n    *uint64
	m    uint64
}

func (b *Buffer) Ref()      { b.refs.Add(1) }
func (b *Buffer) Free()     { b.refs = nil } // ok: nothing is atomic about the pointer
func (b *Buffer) N() uint64 { return atomic.LoadUint64(b.n) }
func (b *Buffer) Use(n *uint64) {
	b.n = n // ok
}

func (b *Buffer) Inc()   { atomic.AddUint64(&b.m, 1) }
func (b *Buffer) Clear() { b.m = 0 } // want `Buffer.m is written plainly`
