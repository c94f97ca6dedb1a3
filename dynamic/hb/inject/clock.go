//go:build interlock_hb

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// A vector clock is a tree with leaves that hold 16 clocks each, numbered by slot, and
// inner nodes that hold 16 subtrees. Trees share their common parts: a node that
// several refer to is never changed, so that handing a clock on is one more reference,
// and comparing two stops where they share a node.
//
// hbClock names a tree: the number of its root above three bits of height. A tree of
// height h has slots below 16^h. 0 is the clock that knows nothing.
type hbClock uint32

type hbNode struct {
	_ sys.NotInHeap

	e    [16]uint32 // clocks in a leaf, numbers of nodes elsewhere
	refs uint32
	_    [3]uint32
}

//go:nosplit
func hbNodeAt(i uint32) *hbNode {
	return (*hbNode)(unsafe.Pointer(hbNodes.base + uintptr(i)*unsafe.Sizeof(hbNode{})))
}

//go:nosplit
func (c hbClock) root() uint32 { return uint32(c) >> 3 }

//go:nosplit
func (c hbClock) height() uint32 { return uint32(c) & 7 }

// get returns the clock of a slot, which is not 0.
//
//go:nosplit
func (c hbClock) get(slot uint32) uint32 {
	h := c.height()
	if slot>>(4*h) != 0 {
		return 0
	}
	i := c.root()
	for h--; h > 0; h-- {
		if i = hbNodeAt(i).e[slot>>(4*h)&15]; i == 0 {
			return 0
		}
	}
	return hbNodeAt(i).e[slot&15]
}

// All that follows runs on the system stack.

func hbNewNode() uint32 {
	i := hbNodes.alloc()
	if i == 0 {
		hbDie("vector clocks take more memory than the engine has for them: " + hbFewerTests)
	}
	hbNodeAt(i).refs = 1
	return i
}

func (c hbClock) retain() hbClock {
	if c != 0 {
		atomic.Xadd(&hbNodeAt(c.root()).refs, 1)
	}
	return c
}

func (c hbClock) release() {
	if c != 0 {
		hbReleaseNode(c.root(), c.height())
	}
}

func hbReleaseNode(i, h uint32) {
	n := hbNodeAt(i)
	if atomic.Xadd(&n.refs, -1) != 0 {
		return
	}
	if h > 1 {
		for _, child := range n.e {
			if child != 0 {
				hbReleaseNode(child, h-1)
			}
		}
	}
	hbNodes.release(i)
}

// hbOwn returns a node with the contents of i that nobody else refers to, in exchange
// for the reference to i.
func hbOwn(i, h uint32) uint32 {
	if i == 0 {
		return hbNewNode()
	}
	n := hbNodeAt(i)
	if atomic.Load(&n.refs) == 1 {
		return i
	}
	own := hbNewNode()
	m := hbNodeAt(own)
	m.e = n.e
	if h > 1 {
		for _, child := range m.e {
			if child != 0 {
				atomic.Xadd(&hbNodeAt(child).refs, 1)
			}
		}
	}
	hbReleaseNode(i, h)
	return own
}

// grow returns the clock as a tree of at least height h, in exchange for c.
func (c hbClock) grow(h uint32) hbClock {
	if c == 0 {
		return hbClock(hbNewNode()<<3 | h)
	}
	for c.height() < h {
		up := hbNewNode()
		hbNodeAt(up).e[0] = c.root()
		c = hbClock(up<<3 | (c.height() + 1))
	}
	return c
}

// with returns the clock with that of slot raised to at least clock, in exchange for c.
func (c hbClock) with(slot, clock uint32) hbClock {
	if c.get(slot) >= clock {
		return c
	}
	h := uint32(1)
	for slot>>(4*h) != 0 {
		h++
	}
	c = c.grow(h)
	h = c.height()
	root := hbOwn(c.root(), h)
	i := root
	for k := h - 1; k > 0; k-- {
		at := &hbNodeAt(i).e[slot>>(4*k)&15]
		*at = hbOwn(*at, k)
		i = *at
	}
	hbNodeAt(i).e[slot&15] = clock
	return hbClock(root<<3 | h)
}

// join returns the least clock that knows all that c and d know, in exchange for c.
func (c hbClock) join(d hbClock) hbClock {
	if c == d || d == 0 {
		return c
	}
	if c == 0 {
		return d.retain()
	}
	c = c.grow(d.height())
	return hbClock(hbJoin(c.root(), c.height(), d.root(), d.height())<<3 | c.height())
}

// hbJoin joins the subtree d, of height dh, into c, of height ch >= dh, in exchange for c. Where one
// of them knows all, it is the result, so that trees which know the same become one.
func hbJoin(c, ch, d, dh uint32) uint32 {
	// A lower tree is about the first slots of a higher one.
	if ch > dh {
		c = hbOwn(c, ch)
		at := &hbNodeAt(c).e[0]
		if *at == 0 {
			*at = hbNewNode()
		}
		*at = hbJoin(*at, ch-1, d, dh)
		return c
	}
	// Nothing is copied where one of them has it all.
	more, less := hbCompare(c, d, ch)
	switch {
	case !less:
		return c
	case !more:
		atomic.Xadd(&hbNodeAt(d).refs, 1)
		hbReleaseNode(c, ch)
		return d
	}
	// Else each entry is joined, in a node that is c's alone.
	c = hbOwn(c, ch)
	n, m := hbNodeAt(c), hbNodeAt(d)
	for i, e := range m.e {
		switch {
		case e == 0 || e == n.e[i]:
		case ch == 1:
			n.e[i] = max(n.e[i], e)
		case n.e[i] == 0:
			atomic.Xadd(&hbNodeAt(e).refs, 1)
			n.e[i] = e
		default:
			n.e[i] = hbJoin(n.e[i], ch-1, e, ch-1)
		}
	}
	return c
}

// hbCompare reports whether there are slots of which subtree c knows more than d, and of which
// it knows less. Both have height h.
func hbCompare(c, d, h uint32) (more, less bool) {
	n, m := hbNodeAt(c), hbNodeAt(d)
	for i := 0; i < len(n.e) && !(more && less); i++ {
		a, b := n.e[i], m.e[i]
		switch {
		case a == b: // also where they share a subtree
		case h > 1 && a != 0 && b != 0:
			x, y := hbCompare(a, b, h-1)
			more, less = more || x, less || y
		default:
			more, less = more || a > b, less || a < b
		}
	}
	return more, less
}

// beyond returns a slot other than own, and its clock in c, that d does not know; 0 where
// there is none.
func (c hbClock) beyond(d hbClock, own uint32) (slot, clock uint32) {
	if c == 0 {
		return 0, 0
	}
	return hbBeyond(c.root(), c.height(), 0, d, own)
}

func hbBeyond(i, h, first uint32, d hbClock, own uint32) (slot, clock uint32) {
	n := hbNodeAt(i)
	for k, e := range n.e {
		at := first<<4 | uint32(k)
		switch {
		case e == 0:
		case h > 1:
			if slot, clock = hbBeyond(e, h-1, at, d, own); slot != 0 {
				return slot, clock
			}
		case at != own && e > d.get(at):
			return at, e
		}
	}
	return 0, 0
}
