package instrument

import (
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

// leaveRepeated leaves those reads alone of whose place a read has been
// announced already: by just, or in the tree itself. In
//
//	for p.pos < len(p.src) && (p.src[p.pos] == ' ' || p.src[p.pos] == '\t')
//
// three calls of the monitor do for eight. Where nothing calls, receives or
// assigns, equal expressions mean one place, read at one moment. Suspicious
// sites keep theirs, so that they are armed. It gives the reads that are announced directly before what follows the tree.
func (n *node) leaveRepeated(just []*hook) []*hook {
	if n.calls() {
		return nil
	}
	before := slices.Clone(just)
	n.inOrder(func(h *hook) {
		if h.left != "" || h.Site.Mode != plan.Read {
			return
		}
		same := func(b *hook) bool {
			return b.Site.Expr == h.Site.Expr && b.isBehind() == h.isBehind() && (b.in == nil || b.in.whenever(h.in))
		}
		if !h.Site.Suspicious && !h.kept && (!h.Site.Behind || h.Through != "") && slices.ContainsFunc(before, same) {
			h.left = Repeated
			return
		}
		before = append(before, h)
	})
	var after []*hook
	for _, h := range before {
		if h.in == nil || h.in.whenever(n) {
			after = append(after, &hook{access: h.access})
		}
	}
	return after
}

// inOrder calls f for the hooks below n in the order of the text.
func (n *node) inOrder(f func(*hook)) {
	done := 0
	for _, h := range n.hooks {
		for ; done < h.after; done++ {
			n.kids[done].inOrder(f)
		}
		f(h)
	}
	for _, k := range n.kids[done:] {
		k.inOrder(f)
	}
}

// whenever reports whether n is evaluated whenever other is: every && and ||
// that may leave n out is around other too.
func (n *node) whenever(other *node) bool {
	for ; n != nil; n = n.up {
		if n.kind == cond && !other.inside(n) {
			return false
		}
	}
	return true
}

func (n *node) inside(outer *node) bool {
	for ; n != nil && n != outer; n = n.up {
	}
	return n != nil
}
