//go:build (amd64 || arm64) && !plan9

package rt

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"
)

const (
	sectionCount = 8                // sections open at the same time, at most
	sectionStale = 1_000_000_000    // nanoseconds after which a section is not judged any more
	sectionLost  = 3 * sectionStale // after which others may take its record
)

// phase is how far the owner of a section has come.
type phase uint32

const (
	entering phase = iota // its entry access may not have happened yet
	armed                 // its entry access will come in a callee
	inside
	ending // its end access may have happened
)

// activeSection is a section that its owner goroutine is in: Access(v) of AtomRace's
// Figure 3, with the goroutine and the activation, and SuspectAccess(v).
type activeSection struct {
	// Read by others; of these, addr to key are stored while the record is taken
	// but its filter bits are not set.
	section  atomic.Uint32
	goid     atomic.Int64
	addr     atomic.Uintptr
	size     atomic.Uintptr
	key      atomic.Uint64 // of a map's element, or 0
	seq      atomic.Uint32 // counts the sections that used this record
	phase    atomic.Uint32 // a phase
	hits     atomic.Uint32 // accesses that came from other goroutines, counted before they happen
	ownSite  atomic.Uint32 // site at which the owner wrote, or 0
	ownSites atomic.Bool   // it wrote at others, too
	again    atomic.Bool   // the owner has read the variable after others have accessed it
	unmade   atomic.Bool   // the section is over a map that was not made at the entry; addr is where it is kept
	handed   atomic.Bool   // the owner may have others work for it: accesses from now on need not be remote

	mask   uint64         // filter bits; guarded by windowTable.mu
	object unsafe.Pointer // keeps the variable alive; guarded by windowTable.mu
	taken  int64          // when the record was taken; guarded by windowTable.mu

	ownerState

	remote [2]remoteAccess // SuspectAccess: the first read and the first write inside; guarded by out.mu
}

// ownerState is the part of a record that only the section's owner uses.
type ownerState struct {
	entry           access
	enterDepth      uintptr // of the stack in the call that entered: separates recursion from a loop
	depth           uintptr // of the stack in dispatch, which is that of the activation
	since, ns       int64   // when it began; the noise that is still to be made
	what            test
	loose           uint32   // bits of words of the variable that say nothing; see Loose0
	before          contents // directly before the entry
	value           contents // behind it
	valueHandedOver contents // when the owner was about to hand over, if it was
	entryText       []byte

	armedEntry bool   // the entry is in a callee
	returned   uint32 // TestByCaller, with TestLength or not, if the callee returns the value that it read; else 0
	judged     bool   // directly before the end, which reads
	endSite    uint32 // in a callee, or 0
	endAllows  uint32

	last                    access // the end that was reached
	allows                  uint32
	lastHits                uint32
	valueBefore, valueAfter contents // of the entry's variable, directly before and behind the end
	lastText                []byte   // the stack at the end, if that is in a callee and others have come
}

// remoteAccess is an access of another goroutine to the variable of a section.
type remoteAccess struct {
	access
	n        int      // bytes of its stack's text; 0 is none seen
	happened bool     // its goroutine has made another access, so that this one is over
	seen     contents // the value of the variable when it was about to happen
	text     [stackMax]byte
}

var (
	sections [sectionCount]activeSection
	// entryTexts and lastTexts hold the stacks at the entries and at ends in callees; each is its owner's.
	entryTexts, lastTexts [sectionCount][stackMax]byte
	// sectionStates is indexed by section id.
	sectionStates []sectionState
)

// sectionState is the state of a section that may be opened.
type sectionState struct {
	wanted bool         // set at start, as is hold
	hold   int64        // nanoseconds for which the plan of the run has it held open, or 0
	holds  atomic.Int32 // times that are left of these
	due    atomic.Int64 // when it may be opened next
	times  atomic.Int32 // it was open

	unwatched atomic.Uint64 // entries that opened no record, although another goroutine could come in
	outOfTurn atomic.Uint64 // entries while another goroutine had its turn
	group     int           // from 1, of sections at which goroutines take turns, or 0; set at start
}

// rest keeps a section that was open often from being opened again at once: the
// longer the more often, since hot code would leave no noise to the others.
func (s *sectionState) rest(now int64) {
	const often, step, most = 32, 50_000, 8
	if n := s.times.Add(1); n > often {
		s.due.Store(now + step<<min((n-often)/4, most))
	}
}

// wanted reports whether the section may be opened now.
func wanted(section uint32) bool {
	if int(section) >= len(sectionStates) {
		return false
	}
	s := &sectionStates[section]
	if s.wanted && s.due.Load() > nanotime() {
		s.unwatched.Add(1)
		return false
	}
	return s.wanted
}

// openSections returns the set of records that are taken, as bits for nextSection.
func openSections() uint64 { return atomic.LoadUint64(&sectionGate.open) }

// nextSection takes a record out of a set that is not empty.
func nextSection(set *uint64) *activeSection {
	i := bits.TrailingZeros64(*set)
	*set &= *set - 1
	return &sections[i]
}

// findSection returns the record of the section that the goroutine has, or nil.
func findSection(goid int64, section uint32) *activeSection {
	for open := openSections(); open != 0; {
		if o := nextSection(&open); o.goid.Load() == goid && o.section.Load() == section {
			return o
		}
	}
	return nil
}

// openHere reports whether this goroutine is in the section.
func openHere(section uint32) bool {
	o := findSection(goid(getg()), section)
	return o != nil && (o.is(inside) || o.is(ending))
}

func (o *activeSection) is(p phase) bool { return phase(o.phase.Load()) == p }

// allocate takes a record for the goroutine, unless all are taken or noise is not
// to be had. The record has no variable yet.
func allocate(g unsafe.Pointer, id int64, section uint32, depth uintptr) *activeSection {
	if !wanted(section) || alone(g) {
		return nil
	}
	now := nanotime()
	n := mix(random + uint64(now))
	ns, spread := windowLength(uint32(n), siteSuspicious), n>>12&0xfffff
	if s := &sectionStates[section]; s.hold != 0 && s.holds.Add(-1) >= 0 {
		ns, spread = s.hold, 0 // the plan is within the budget
	}
	if !affordable(now, ns, spread, true) {
		counters.overBudget.Add(1)
		sectionStates[section].unwatched.Add(1)
		return nil
	}
	o := takeRecord(id, section, now)
	if o == nil {
		counters.noSlot.Add(1)
		sectionStates[section].unwatched.Add(1)
		return nil
	}
	o.forgetRemote() // waits for a goroutine that still writes down the old contents of the record
	o.ownerState = ownerState{enterDepth: depth, since: now, ns: ns}
	return o
}

// takeRecord takes a free record for the goroutine, or one with an owner that does
// not come back. It returns nil if there is none.
func takeRecord(id int64, section uint32, now int64) *activeSection {
	windowTable.mu.lock()
	defer windowTable.mu.unlock()
	for i := range sections {
		o := &sections[i]
		if sectionGate.open>>i&1 != 0 && now-o.taken > sectionLost {
			closeSection(i)
		}
		if sectionGate.open>>i&1 != 0 {
			continue
		}
		o.taken = now
		o.seq.Add(1)
		o.section.Store(section)
		o.goid.Store(id)
		o.addr.Store(0)
		o.size.Store(0)
		o.hits.Store(0)
		o.ownSite.Store(0)
		o.ownSites.Store(false)
		o.again.Store(false)
		o.unmade.Store(false)
		o.handed.Store(false)
		o.phase.Store(uint32(entering))
		atomic.StoreUint64(&sectionGate.open, sectionGate.open|1<<i)
		return o
	}
	return nil
}

// forgetRemote begins with none seen.
func (o *activeSection) forgetRemote() {
	out.mu.lock()
	defer out.mu.unlock()
	o.remote[0].n, o.remote[1].n = 0, 0
}

// publishSection binds the section to the variable of a, for all to see, unless the
// goroutine has another section open there. (Two of one may meet at their end points.)
func (o *activeSection) publishSection(a *access) bool {
	windowTable.mu.lock()
	defer windowTable.mu.unlock()
	for open := openSections(); open != 0; {
		other := nextSection(&open)
		if other != o && other.meets(a) && other.goid.Load() == a.goid && !other.is(ending) {
			sectionStates[o.section.Load()].unwatched.Add(1)
			return false
		}
	}
	o.entry = *a
	o.addr.Store(a.addr)
	o.size.Store(a.size)
	o.key.Store(a.key)
	o.mask = filterMask(a.addr, a.size)
	// The detour hides the pointer from escape analysis: the variable is not on
	// this stack, and a caller's variables must not move to the heap for us.
	hidden := a.addr
	o.object = *(*unsafe.Pointer)(unsafe.Pointer(&hidden))
	setFilter()
	return true
}

// setValue sets the value of the section's map when the section was published.
func (o *activeSection) setValue(c contents) { o.value = c }

// meets reports whether a is an access to the section's variable.
func (o *activeSection) meets(a *access) bool {
	if !overlap(o.addr.Load(), o.size.Load(), a.addr, a.size) {
		return false
	}
	key := o.key.Load()
	return key == 0 || a.key == 0 || key == a.key
}

// meetSections is the middle of Figure 3: it notes in the sections on the variable that a
// is about to happen.
func meetSections(g unsafe.Pointer, a *access) {
	for open := openSections(); open != 0; {
		o := nextSection(&open)
		if o.meets(a) && o.follow() { // to make the map was no access to its keys
			o.forget()
		}
		if !o.meets(a) {
			continue
		}
		if a.goid == 0 {
			a.goid = goid(g)
		}
		if o.goid.Load() != a.goid {
			o.hits.Add(1)
			o.suspect(a)
		} else {
			o.own(a)
		}
	}
}

// mapAddress returns the address by which a section knows a map: that of the place where it is kept while the map
// is not made.
func mapAddress(p, at unsafe.Pointer) uintptr {
	if p == nil {
		p = at
	}
	return address(p)
}

// follow binds a section over a map that was not made at the entry to the map, once that is made.
func (o *activeSection) follow() bool {
	if !o.unmade.Load() || !o.is(inside) {
		return false
	}
	windowTable.mu.lock()
	defer windowTable.mu.unlock()
	if !o.unmade.Load() || o.object == nil {
		return false
	}
	made := *(*unsafe.Pointer)(o.object)
	if made == nil {
		return false
	}
	o.unmade.Store(false)
	o.addr.Store(address(made))
	o.mask = filterMask(address(made), o.size.Load())
	o.object = made
	setFilter()
	return true
}

// forget begins anew with the accesses inside.
func (o *activeSection) forget() {
	o.hits.Store(0)
	o.ownSite.Store(0)
	o.ownSites.Store(false)
	o.again.Store(false)
	o.forgetRemote()
}

// own notes an access of the owner. A read at the entry is that of a recursive
// activation, unless the entry is in a callee, which may be called to ask again.
func (o *activeSection) own(a *access) {
	switch {
	case a.mode&writes == 0:
		if o.hits.Load() != 0 && (o.armedEntry || a.site != o.entry.site) {
			o.again.Store(true)
			o.used(a)
		}
	case !o.ownSite.CompareAndSwap(0, a.site) && o.ownSite.Load() != a.site:
		o.ownSites.Store(true)
	}
}

// suspect keeps the first remote read inside, and of the remote writes the one that
// came last while the variable still held the value of the entry: those before it
// have changed nothing.
func (o *activeSection) suspect(a *access) {
	out.mu.lock()
	defer out.mu.unlock()
	if !o.is(inside) || o.handed.Load() || !o.meets(a) {
		return
	}
	for i := range o.remote {
		if r := &o.remote[i]; r.n != 0 && r.goid == a.goid {
			r.happened = true
		}
	}
	// The record and its variable stay while out.mu is held, but the owner may go on.
	r, seq, now := &o.remote[a.mode&writes], o.seq.Load(), o.contents()
	first := r.n == 0
	if !first && (a.mode&writes == 0 || r.site == a.site && r.goid == a.goid || !same(now, o.value)) {
		return
	}
	r.access, r.happened, r.seen, r.n = *a, false, now, 0
	n := runtime.Stack(r.text[:], false)
	if o.seq.Load() == seq && o.is(inside) { // else the owner went on meanwhile
		r.n = n
		if first {
			writeRemoteSeen(o, r, seq)
		}
	}
}

// withdraw ends the section; it rests for a while if it was used. An owner that
// was away for so long that others have taken its record leaves that alone.
func (o *activeSection) withdraw() {
	if !o.is(armed) {
		sectionStates[o.section.Load()].rest(nanotime())
	}
	id := goid(getg())
	windowTable.mu.lock()
	defer windowTable.mu.unlock()
	if o.goid.Load() == id {
		closeSection(o.index())
	}
}

// index returns which of the records o is.
func (o *activeSection) index() (i int) {
	for o != &sections[i] {
		i++
	}
	return i
}

// closeSection frees record i. requires: windowTable.mu.
func closeSection(i int) {
	o := &sections[i]
	o.phase.Store(uint32(entering))
	o.goid.Store(0)
	o.addr.Store(0)
	o.size.Store(0)
	o.object, o.mask = nil, 0
	atomic.StoreUint64(&sectionGate.open, sectionGate.open&^(1<<i))
	setFilter()
}
