package locks

import (
	"runtime"
	"strconv"
	"sync"

	"github.com/interlock-go/interlock/dynamic/rt"
)

// edge is that one lock was acquired at a site while another was held since a site.
type edge struct {
	from, to request
}

// made is that one goroutine came to an edge.
type made struct {
	edge
	goid        int64
	since       int64 // when the goroutine was first seen, by rt.Now, as all here
	first, last int64
	gates       []request // further locks that it held
	frames      []uintptr // of the first acquisition
	cycles      []*cycle  // that it is part of
}

// cycle is a set of edges of different goroutines that lead round.
type cycle struct {
	edges   []*made
	crossed bool
}

const (
	mostEdges = 1 << 13
	mostOfOne = 4 // goroutines that are noted of one edge
	longest   = 3 // edges of a cycle
	frameMax  = 32
)

// orders are the edges so far. Addresses of locks that are no longer there may be those of
// others now, which makes cycles that no run can be driven into.
var orders struct {
	mu     sync.Mutex
	edges  map[edge][]*made    // guarded by mu, as all below
	byFrom map[uintptr][]*made // by the address of the lock that was held
	n      int
	known  map[uint64]bool // cycles that were written, by a hash of their sites
}

// arrive notes that the goroutine is about to acquire a lock, in which order, and holds it there if
// the plan of the run says so.
func arrive(me self, want request) {
	if me.n == 0 || exact { // only the goroutine itself changes n
		return
	}
	var buf [mostHeld]request
	s := me.look(&buf)
	if s.goid != me.id || len(s.held) == 0 {
		return
	}
	noteEdges(&s, want)
	if len(holds) > 0 {
		holdBefore(me, s.held, want)
	}
}

func noteEdges(s *state, want request) {
	orders.mu.Lock()
	defer orders.mu.Unlock()
	now := rt.Now()
	for _, have := range s.held {
		if have.addr == want.addr || orders.n >= mostEdges {
			noteAgain(s, have, want)
			continue
		}
		e := edge{have, want}
		m := madeBy(orders.edges[e], s.goid)
		if m == nil {
			if m = newEdge(e, s, now); m == nil {
				continue
			}
			findCycles(m)
		}
		m.last = now
		for _, c := range m.cycles {
			c.cross(m, now)
		}
	}
}

// noteAgain writes that a goroutine read-locks a lock twice, which blocks it if a writer comes in
// between. requires: orders.mu.
func noteAgain(s *state, have, want request) {
	if have.addr != want.addr || !have.reads || !want.reads {
		return
	}
	m := &made{edge: edge{have, want}, goid: s.goid}
	again := &cycle{edges: []*made{m}}
	if key := again.key(); !orders.known[key] {
		know(key)
		m.frames = callers()
		again.write()
	}
}

// know takes up that a cycle was written. requires: orders.mu.
func know(key uint64) {
	if orders.known == nil {
		orders.known = map[uint64]bool{}
	}
	orders.known[key] = true
}

func callers() []uintptr {
	frames := make([]uintptr, frameMax)
	return frames[:runtime.Callers(3, frames)]
}

func madeBy(all []*made, goid int64) *made {
	for _, m := range all {
		if m.goid == goid {
			return m
		}
	}
	return nil
}

// newEdge notes that the goroutine has come to an edge for the first time. Of goroutines that do
// alike, a few are enough. requires: orders.mu.
func newEdge(e edge, s *state, now int64) *made {
	if len(orders.edges[e]) >= mostOfOne {
		return nil
	}
	if orders.edges == nil {
		orders.edges, orders.byFrom = map[edge][]*made{}, map[uintptr][]*made{}
	}
	m := &made{edge: e, goid: s.goid, since: s.since, first: now, last: now, frames: callers()}
	for _, h := range s.held {
		if h.addr != e.from.addr {
			m.gates = append(m.gates, h)
		}
	}
	orders.edges[e] = append(orders.edges[e], m)
	orders.byFrom[e.from.addr] = append(orders.byFrom[e.from.addr], m)
	orders.n++
	return m
}

// findCycles writes the cycles that a new edge closes. requires: orders.mu.
func findCycles(m *made) {
	var extend func(path []*made)
	extend = func(path []*made) {
		last := path[len(path)-1]
		if len(path) > 1 && last.to.addr == m.from.addr {
			if m.from.blocks(last.to) {
				addCycle(path)
			}
			return
		}
		for _, next := range orders.byFrom[last.to.addr] {
			if len(path) < longest && next.from.blocks(last.to) && mayMeet(path, next) {
				extend(append(path[:len(path):len(path)], next))
			}
		}
	}
	extend([]*made{m})
}

// mayMeet reports whether another goroutine makes next than those of the path, and no gate lock
// keeps it from doing so at the same time.
func mayMeet(path []*made, next *made) bool {
	for _, m := range path {
		if m.goid == next.goid {
			return false
		}
		for _, g := range m.gates {
			for _, h := range next.gates {
				if g.blocks(h) {
					return false
				}
			}
		}
	}
	return true
}

// addCycle notes a cycle, and writes it if no other is like it. requires: orders.mu.
func addCycle(path []*made) {
	c := &cycle{edges: path}
	if orders.known[c.key()] {
		return
	}
	know(c.key())
	for _, m := range path {
		m.cycles = append(m.cycles, c)
	}
	c.write()
}

// key is the same for cycles of the same sites.
func (c *cycle) key() (key uint64) {
	for _, m := range c.edges {
		key += (m.from.site | 1) * (2*m.to.site + 1)
	}
	return key
}

// cross takes up that one edge of the cycle was made again. The cycle is crossed where all other
// goroutines had come before the first time and have made their edges since then: so none
// of them starts or waits for the end of this one in between. requires: orders.mu.
func (c *cycle) cross(m *made, now int64) {
	for _, o := range c.edges {
		if c.crossed || o != m && (o.since >= m.first || o.last <= m.first || o.last >= now) {
			return
		}
	}
	c.crossed = true
	c.write()
}

// write writes the record of a cycle. requires: orders.mu.
func (c *cycle) write() {
	b := strconv.AppendBool([]byte(`,"met":`), c.crossed)
	b = append(b, `,"locks":[`...)
	for i, m := range c.edges {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, `{"gid":`...), m.goid, 10)
		b = appendRequest(append(b, `,"holds":`...), m.from)
		b = appendRequest(append(b, `,"wants":`...), m.to)
		b = strconv.AppendInt(append(b, `,"at_ns":`...), m.first, 10)
		b = append(rt.AppendText(append(b, `,"stack":`...), m.stack()), '}')
	}
	rt.Write("order", append(b, ']'))
}

// stack returns the frames of the first acquisition, as the runtime prints them.
func (m *made) stack() []byte {
	b := append(strconv.AppendInt([]byte("goroutine "), m.goid, 10), " [running]:\n"...)
	frames := runtime.CallersFrames(m.frames)
	for more := len(m.frames) > 0; more; {
		var f runtime.Frame
		f, more = frames.Next()
		b = append(append(b, f.Function...), "(...)\n\t"...)
		b = append(append(b, f.File...), ':')
		b = append(strconv.AppendInt(b, int64(f.Line), 10), '\n')
	}
	return b
}
