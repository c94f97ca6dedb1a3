package basic

import (
	"sync"
	"sync/atomic"
)

type Item struct {
	expires int64
	hits    int64
	uses    int32
	mu      sync.Mutex
	total   int64
	state   uint32
}

func New(t int64) *Item {
	i := &Item{expires: t}
	i.expires++ // ok: nobody else has it
	return i
}

func (i *Item) Extend(t int64) { atomic.AddInt64(&i.expires, t) }

func (i *Item) Expired(now int64) bool {
	return i.expires < now // want `Item.expires is read plainly and accessed atomically elsewhere: \(\*Item\).Extend writes it .* Also plain: basic.go:65`
}

func (i *Item) Hits() int64 { return atomic.LoadInt64(&i.hits) }

func (i *Item) Hit() {
	i.hits++ // want `Item.hits is written plainly .* \(\*Item\).Hits reads it`
}

func (i *Item) Use()  { atomic.AddInt32(&i.uses, 1) }
func (i *Item) Free() { atomic.AddInt32(&i.uses, -1) }

func (i *Item) Add(n int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	atomic.AddInt64(&i.total, n)
}

func (i *Item) Total() int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.total // ok: both hold the lock
}

func (i *Item) State() uint32 { return atomic.LoadUint32(&i.state) }

func (i *Item) peek() uint32 { return i.state } // ok: two reads

var started int32

func init() { started = 1 } // ok: nothing runs yet

func Start() bool { return atomic.CompareAndSwapInt32(&started, 1, 2) }

func Closures() int64 {
	n := Shared
	go func() {
		atomic.AddInt64(&n.expires, 1)
	}()
	return func() int64 { return n.hits + n.expires }() // counted with Expired
}

var Shared *Item

type span struct{ seq uint64 }

type Block struct {
	first, last span
}

func (b *Block) Append() { atomic.AddUint64(&b.last.seq, 1) }

func (b *Block) First() uint64 { return b.first.seq } // ok: another one

func (b *Block) Last() uint64 {
	return b.last.seq // want `span.seq is read plainly`
}

type Conn struct{ state uint32 }

func (c *Conn) Close() { atomic.StoreUint32(&c.state, 2) }

func (c *Conn) Open() bool { return c.state == 1 } // a lead: nobody counts with it, and its owner may be the only writer

type Owner struct{ next uint64 }

func (o *Owner) Step() {
	atomic.StoreUint64(&o.next, o.next+1) // ok: the only writer reads what it wrote
}

func (o *Owner) Reset() { atomic.StoreUint64(&o.next, 0) }

func (o *Owner) Next() uint64 { return atomic.LoadUint64(&o.next) }

var armed uint64

func Arm() { atomic.StoreUint64(&armed, 1) }

// Armed may be stale.
//
//go:norace
func Armed() bool { return armed != 0 } // ok: the race is meant
