package locks

import (
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/interlock-go/interlock/dynamic/rt"
)

// request is a lock that a goroutine acquires at a site.
type request struct {
	addr  uintptr // of the lock; 0 is none
	site  uint64
	reads bool // by RLock
}

// handedOver reports whether the source may have one function acquire the lock and another one
// release it: then a goroutine that waits for it may be waiting for a signal.
func (r request) handedOver() bool { return r.site&1 != 0 }

// blocks reports whether one goroutine that has r keeps another from acquiring want.
func (r request) blocks(want request) bool { return r.addr == want.addr && !(r.reads && want.reads) }

const (
	mostHeld = 16 // locks of one goroutine
	near     = 8  // slots in which a goroutine may be

	// mostSearches is for how many releases a process searches the owner of the lock: each search
	// takes long, and if places are scarce many acquisitions are not noted.
	mostSearches = 512
)

// owner has the locks that one goroutine holds and waits for. It belongs to that goroutine as
// long as it holds or awaits something; then another may take it over.
type owner struct {
	mu    spinlock
	goid  atomic.Int64      // 0 is nobody; stored under mu
	since int64             // when the goroutine came, by rt.Now; guarded by mu, as all below
	held  [mostHeld]request // in the order of their acquisition
	n     int               // of them
	wants request           // the lock that it waits for, or is held before
	epoch uint32            // in which it was written

	unpaid atomic.Int64 // acquisitions of the goroutines that had this place, not in [spent] yet
}

// self is the running goroutine, and its owner unless that has been taken over.
type self struct {
	*owner
	id int64
}

var owners [1024]owner

// searches counts the releases of locks that the goroutine has not acquired, by the notes.
var searches atomic.Int32

// spinlock is held for a few instructions only.
type spinlock struct{ state atomic.Uint32 }

func (l *spinlock) lock() {
	for try := 1; !l.state.CompareAndSwap(0, 1); try++ {
		if try%32 == 0 {
			runtime.Gosched()
		}
	}
}

func (l *spinlock) unlock() { l.state.Store(0) }

// mine returns the running goroutine; its owner is nil where there is no room in the
// neighbourhood.
func mine() self {
	me := self{id: rt.Goroutine()}
	first := uint64(me.id) * 0x9e3779b97f4a7c15 >> 32
	for i := uint64(0); i < near; i++ {
		if o := &owners[(first+i)%uint64(len(owners))]; o.goid.Load() == me.id {
			me.owner = o
			return me
		}
	}
	// A free place, or else that of a goroutine that holds nothing now.
	for _, free := range [...]bool{true, false} {
		for i := uint64(0); i < near && me.owner == nil; i++ {
			o := &owners[(first+i)%uint64(len(owners))]
			if (!free || o.goid.Load() == 0) && o.takeOver(me.id) {
				me.owner = o
			}
		}
	}
	return me
}

// takeOver makes an owner that is idle that of a goroutine.
func (o *owner) takeOver(id int64) bool {
	o.mu.lock()
	defer o.mu.unlock()
	if o.renew(); o.n > 0 || o.wants.addr != 0 {
		return false
	}
	o.goid.Store(id)
	o.since = rt.Now()
	return true
}

// state has the locks that the goroutine holds and waits for.
type state struct {
	goid  int64
	since int64
	held  []request
	wants request
}

// renew forgets the notes of another epoch, and reports whether this epoch is not a pause, in
// which nothing is noted. requires: o.mu.
func (o *owner) renew() bool {
	now := epoch.Load()
	if o.epoch != now {
		o.n, o.wants, o.epoch = 0, request{}, now
	}
	return now%2 == 0
}

// look returns the state of an owner, with its locks copied to buf.
func (o *owner) look(buf *[mostHeld]request) state {
	o.mu.lock()
	defer o.mu.unlock()
	o.renew()
	*buf = o.held
	return state{o.goid.Load(), o.since, buf[:o.n], o.wants}
}

// holderFor returns a goroutine that holds the lock which goroutine id waits for, and the site where it has acquired
// that; not ok where the notes name none, or several sites.
func holderFor(id int64) (holder int64, site uint64, ok bool) {
	for i := range owners {
		if owners[i].goid.Load() != id {
			continue
		}
		var buf [mostHeld]request
		if s := owners[i].look(&buf); s.goid == id && s.wants.addr != 0 {
			b := blockers(id, s.wants)
			differs := func(other blocker) bool { return other.holds.site != b[0].holds.site }
			if len(b) > 0 && b[0].holds != b[0].state.wants && !slices.ContainsFunc(b, differs) {
				return b[0].state.goid, b[0].holds.site, true
			}
		}
	}
	return 0, 0, false
}

// wait notes that the goroutine is going to wait for a lock, and returns how many it holds.
func (g self) wait(want request) (held int) {
	g.mu.lock()
	defer g.mu.unlock()
	if !g.renew() || g.goid.Load() != g.id {
		return 0
	}
	g.wants = want
	return g.n
}

// took notes that the goroutine has acquired a lock.
func (g self) took(got request) {
	g.mu.lock()
	defer g.mu.unlock()
	if !g.renew() || g.goid.Load() != g.id {
		return
	}
	g.wants = request{}
	if g.n < mostHeld && !got.handedOver() && !undoneElsewhere.has(got.site) {
		g.held[g.n] = got
		g.n++
	}
}

// drop removes a lock from those of the owner, and returns where it was acquired.
func (o *owner) drop(r request) (site uint64, ok bool) {
	o.mu.lock()
	defer o.mu.unlock()
	o.renew()
	for i := o.n - 1; i >= 0; i-- {
		if h := o.held[i]; h.addr == r.addr && h.reads == r.reads {
			copy(o.held[i:o.n-1], o.held[i+1:o.n])
			o.n--
			return h.site, true
		}
	}
	return 0, false
}

// release notes that the running goroutine is about to release a lock. A lock that another
// goroutine has acquired is handed over: nothing follows from its owner.
func release(r request) {
	rt.Released(r.site, r.addr)
	if r.handedOver() {
		return
	}
	if me := mine(); me.owner != nil {
		if _, ok := me.drop(r); ok {
			return
		}
	}
	if searches.Add(1) > mostSearches {
		return
	}
	for i := range owners {
		if o := &owners[i]; o.goid.Load() != 0 {
			if site, ok := o.drop(r); ok {
				undoneElsewhere.add(site)
				return
			}
		}
	}
}

// undoneElsewhere holds the sites of acquisitions that another goroutine has undone.
var undoneElsewhere siteSet

// siteSet is a set of sites, a hash table. One that does not fit is in the set, as are all
// others from then on.
type siteSet struct {
	any, full atomic.Bool
	table     [256]atomic.Uint64
}

func (s *siteSet) has(site uint64) bool {
	return s.any.Load() && (s.full.Load() || s.place(site).Load() == site)
}

func (s *siteSet) add(site uint64) {
	if p := s.place(site); !p.CompareAndSwap(0, site) && p.Load() != site {
		s.full.Store(true)
	}
	s.any.Store(true)
}

// place returns where a site is or belongs; the first place of its neighbourhood that another
// one has not taken, else the last.
func (s *siteSet) place(site uint64) *atomic.Uint64 {
	var p *atomic.Uint64
	for i := uint64(0); i < near; i++ {
		p = &s.table[(site+i)%uint64(len(s.table))]
		if at := p.Load(); at == site || at == 0 {
			break
		}
	}
	return p
}
