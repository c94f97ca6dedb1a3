package evalorder

import (
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
)

// LeaveRepeated leaves a read unmonitored if its place is announced already: by
// announced, or in the tree itself. In
//
//	for p.pos < len(p.src) && (p.src[p.pos] == ' ' || p.src[p.pos] == '\t')
//
// three calls of the monitor do for eight. Where nothing calls, receives or
// assigns, equal expressions mean one place, read at one moment. Suspicious
// sites keep theirs, so that they are armed. It returns the reads that are announced
// directly before the code behind the tree.
func (n *Node) LeaveRepeated(announced []*Hook) []*Hook {
	if n.Calls() {
		return nil
	}
	before := slices.Clone(announced)
	n.inOrder(func(h *Hook) {
		if h.Unmonitored != "" || h.Site.Mode != plan.Read {
			return
		}
		same := func(b *Hook) bool {
			return b.Site.Expr == h.Site.Expr && b.IsBehind() == h.IsBehind() && (b.in == nil || b.in.whenever(h.in))
		}
		if !h.Site.Suspicious && !h.Kept && (!h.Site.Behind || h.Through != "") && slices.ContainsFunc(before, same) {
			h.Unmonitored = source.Repeated
			return
		}
		before = append(before, h)
	})
	var after []*Hook
	for _, h := range before {
		if h.in == nil || h.in.whenever(n) {
			after = append(after, &Hook{Access: h.Access})
		}
	}
	return after
}

// inOrder calls f for the hooks below n in the order of the text.
func (n *Node) inOrder(f func(*Hook)) {
	done := 0
	for _, h := range n.Hooks {
		for ; done < h.after; done++ {
			n.Kids[done].inOrder(f)
		}
		f(h)
	}
	for _, k := range n.Kids[done:] {
		k.inOrder(f)
	}
}

// whenever reports whether n is evaluated whenever other is: every && and ||
// that may leave n out is around other too.
func (n *Node) whenever(other *Node) bool {
	for ; n != nil; n = n.up {
		if n.Kind == cond && !other.inside(n) {
			return false
		}
	}
	return true
}

func (n *Node) inside(outer *Node) bool {
	for ; n != nil && n != outer; n = n.up {
	}
	return n != nil
}
