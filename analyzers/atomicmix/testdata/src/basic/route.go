package basic

import "sync/atomic"

type counts struct{ in, out int64 }

type account struct {
	counts
	link *link
}

type link struct{ counts }

func (l *link) Count() { atomic.AddInt64(&l.in, 1); atomic.AddInt64(&l.out, 1) }

// Those of an account are other ones.
func (a *account) In() int64 { return a.in } // ok: a lead

func (a *account) Out() int64 { return a.link.out } // ok: a lead

func outOf(l *link) int64 { return l.out } // ok: a lead, nothing calls it

var Total int64

func CountAll() { atomic.AddInt64(&Total, 1) }

func All() int64 { return Total } // want `Total is read plainly`
