package policy

// pct is probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with
// probabilistic guarantees of finding bugs", ASPLOS 2010). Each goroutine has a priority at random; at d-1 events,
// chosen at random among k, the running one gets a priority lower than all others. Where only the first in priority
// runs, a bug of depth d among n goroutines shows in a run with a probability of at least 1/(n·k^(d-1)).
//
// Go's scheduler runs goroutines as it likes. So an event of a goroutine waits for as long as one that goes first has
// lately come to an event, and the guarantee holds as far as goroutines that go first come to the next event in that
// time.
type pct struct {
	Settings
	changes []uint64 // the events at which a priority changes, by number

	mu         spinlock
	events     uint64         // so far; guarded by mu, as all below
	goroutines uint64         // that have come to one
	running    [mostSeen]seen // those that came last
}

// mostSeen is how many goroutines have entries; beyond that, the one that has come longest ago is forgotten.
const mostSeen = 64

// seen is a goroutine.
type seen struct {
	goid     int64 // 0 is none
	priority uint64
	last     int64 // when it came to an event
}

func newPCT(s Settings) *pct {
	p := &pct{Settings: s}
	for i := uint64(1); i < s.Depth; i++ {
		p.changes = append(p.changes, mix(s.Seed+i<<32)%max(s.Events, 1))
	}
	return p
}

// Size implements [Policy].
func (p *pct) Size() (goroutines, events uint64) {
	p.mu.lock()
	defer p.mu.unlock()
	return p.goroutines, p.events
}

// Decide implements [Policy].
func (p *pct) Decide(goid, now int64, _ uint64) int64 {
	p.mu.lock()
	defer p.mu.unlock()
	me := p.find(goid)
	me.last = now
	for i, at := range p.changes {
		if at == p.events {
			me.priority = uint64(i) // the later, the higher, and all below those at random
		}
	}
	p.events++
	for i := range p.running {
		if o := &p.running[i]; o.goid != 0 && o.priority > me.priority && now-o.last < p.Strength {
			return p.Strength
		}
	}
	return 0
}

// find returns the goroutine's entry, a new one with a priority at random if need be. requires: p.mu.
func (p *pct) find(goid int64) *seen {
	oldest := &p.running[0]
	for i := range p.running {
		o := &p.running[i]
		if o.goid == goid {
			return o
		}
		if o.goid == 0 && oldest.goid != 0 || o.last < oldest.last && oldest.goid != 0 {
			oldest = o
		}
	}
	p.goroutines++
	*oldest = seen{goid: goid, priority: p.Depth + mix(p.Seed^p.goroutines)>>1}
	return oldest
}
