//go:build (amd64 || arm64) && !plan9

package rt

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"
)

const (
	sectionCount = 4                 // sections open at the same time, at most
	sectionStale = 1_000_000_000     // nanoseconds after which a section is not judged any more
	sectionLost  = 10 * sectionStale // after which others may take its record
)

// phase is how far the owner of a section has come.
type phase uint32

const (
	entering phase = iota // its entry access may not have happened yet
	inside
	ending // its end access may have happened
)

// opened is a section that its owner goroutine is in. The atomic fields are
// stored while the section is not published, phase, hits and ownWrite apart.
type opened struct {
	seq      atomic.Uint32 // counts the sections that used this record
	section  atomic.Uint32
	goid     atomic.Int64
	addr     atomic.Uintptr
	size     atomic.Uintptr
	phase    atomic.Uint32 // a phase
	hits     atomic.Uint32 // accesses that came from other goroutines, counted before they happen
	ownWrite atomic.Bool   // the owner wrote, which explains any change

	mask   uint64         // filter bits; guarded by table.mu
	object unsafe.Pointer // keeps the variable alive; guarded by table.mu

	// Of the owner.
	entry     access
	depth     uintptr // of the stack at the entry: that of an activation
	since, ns int64   // when it began; the noise that is still to be made
	value     uint64  // at the entry
	last      access  // the end that was reached
	lastValue uint64  // directly before it
	lastHits  uint32
	allows    uint32
	entryText []byte

	remote [2]remoteAccess // the first read and the first write inside; guarded by out.mu
}

// remoteAccess is an access of another goroutine to the variable of a section.
type remoteAccess struct {
	access
	n    int // bytes of its stack's text; 0 is none seen
	text [stackMax]byte
}

var (
	sections [sectionCount]opened
	// entryTexts holds the stacks at the entries; each is its owner's.
	entryTexts [sectionCount][stackMax]byte
	// sectionsWanted is indexed by section id. Set at start.
	sectionsWanted []bool
)

// enter is beforeAccess of a section's entry: it publishes the section if no
// other goroutine is in one on the same variable.
//
//go:noinline
func enter(p unsafe.Pointer, size uintptr, site, section uint32) {
	const firstPage = 4096
	g := getg()
	a := access{addr: uintptr(p), size: size, site: site, goid: goid(g)}
	var here byte
	depth := *(*uintptr)(unsafe.Add(g, 8)) - uintptr(unsafe.Pointer(&here))
	if o := mine(a.goid, section); o != nil {
		// A deeper activation is recursion: the outer section is given up rather
		// than judged by an inner end. Any other record is left-over.
		deeper := depth > o.depth
		withdrawSection(o)
		if deeper {
			return
		}
	}
	if int(section) >= len(sectionsWanted) || !sectionsWanted[section] || a.addr < firstPage || size == 0 || onStack(g, a.addr) || alone(g) {
		return
	}
	now := nanotime()
	n := mix(random + uint64(now))
	ns := windowLength(uint32(n), siteSuspicious)
	if !affordable(now, ns, n>>12&0xfffff, true) {
		counters.overBudget.Add(1)
		return
	}
	publishSection(&a, section, depth, now, ns)
	runtime.KeepAlive(p)
}

// publishSection publishes the section of a, unless all records are taken or
// the variable has an owner.
func publishSection(a *access, section uint32, depth uintptr, now, ns int64) {
	table.mu.lock()
	defer table.mu.unlock()
	free := -1
	for i := range sections {
		o := &sections[i]
		if gate.open>>i&1 != 0 && now-o.since > sectionLost {
			closeSection(i)
		}
		if gate.open>>i&1 == 0 {
			free = i
		} else if overlap(o.addr.Load(), o.size.Load(), a.addr, a.size) {
			return
		}
	}
	if free < 0 {
		counters.noSlot.Add(1)
		return
	}
	o := &sections[free]
	o.seq.Add(1)
	o.section.Store(section)
	o.goid.Store(a.goid)
	o.addr.Store(a.addr)
	o.size.Store(a.size)
	o.phase.Store(uint32(entering))
	o.hits.Store(0)
	o.ownWrite.Store(false)
	o.remote[0].n, o.remote[1].n = 0, 0
	o.mask = filterMask(a.addr, a.size)
	// The detour hides the pointer from escape analysis: the variable is not on
	// this stack, and a caller's variables must not move to the heap for us.
	hidden := a.addr
	o.object = *(*unsafe.Pointer)(unsafe.Pointer(&hidden))
	o.entry, o.depth, o.since, o.ns = *a, depth, now, ns
	o.last, o.value = access{}, peek(a.addr, a.size)
	atomic.StoreUint64(&gate.open, gate.open|1<<free)
	setFilter()
}

// mine gives the section that the goroutine has open, or nil.
func mine(goid int64, section uint32) *opened {
	for open := atomic.LoadUint64(&gate.open); open != 0; open &= open - 1 {
		if o := &sections[bits.TrailingZeros64(open)]; o.goid.Load() == goid && o.section.Load() == section {
			return o
		}
	}
	return nil
}

// entered makes the section count from here on. If anybody came by since it was
// published, the entry access may have come before or after that, so it is given up.
//
//go:noinline
func entered(section uint32) {
	o := mine(goid(getg()), section)
	if o == nil || phase(o.phase.Load()) != entering {
		return
	}
	if o.hits.Load() != 0 || o.ownWrite.Load() || peek(o.entry.addr, o.entry.size) != o.value {
		withdrawSection(o)
		return
	}
	i := int((uintptr(unsafe.Pointer(o)) - uintptr(unsafe.Pointer(&sections))) / unsafe.Sizeof(*o))
	o.entryText = entryTexts[i][:runtime.Stack(entryTexts[i][:], false)]
	o.phase.Store(uint32(inside))
}

// gap makes the section's noise, once.
//
//go:noinline
func gap(section uint32) {
	o := mine(goid(getg()), section)
	if o == nil || o.ns == 0 || phase(o.phase.Load()) != inside {
		return
	}
	ns := o.ns
	o.ns = 0
	begin := nanotime()
	delay(ns)
	spent := nanotime() - begin
	noise.spent.Add(spent)
	counters.delayNS.Add(uint64(spent))
}

// end notes what there is directly before the access that ends the section.
//
//go:noinline
func end(p unsafe.Pointer, site, section, allows uint32, m mode) {
	o := mine(goid(getg()), section)
	if o == nil {
		return
	}
	if phase(o.phase.Load()) != inside || o.entry.addr != uintptr(p) || nanotime()-o.since > sectionStale {
		withdrawSection(o) // another variable, or another activation's
		return
	}
	o.last, o.allows = o.entry, allows
	o.last.site, o.last.mode = site, m
	o.lastHits = o.hits.Load()
	o.lastValue = peek(o.last.addr, o.last.size)
	o.phase.Store(uint32(ending))
}

// ended judges the section and closes it.
//
//go:noinline
func ended(section uint32) {
	o := mine(goid(getg()), section)
	if o == nil {
		return
	}
	if phase(o.phase.Load()) == ending {
		after := peek(o.last.addr, o.last.size)
		quiet := o.hits.Load() == o.lastHits
		out.mu.lock()
		if r := o.forbidden(); r != nil {
			writeSplit(o, r, quiet && o.changedBy(r, after))
		}
		out.mu.unlock()
	}
	withdrawSection(o)
}

//go:noinline
func leave(section uint32) {
	if o := mine(goid(getg()), section); o != nil {
		withdrawSection(o)
	}
}

// forbidden gives the remote access that the end does not allow, or nil, a write
// before a read. requires: out.mu.
func (o *opened) forbidden() *remoteAccess {
	if r := &o.remote[1]; r.n != 0 && o.allows&AllowWrites == 0 {
		return r
	}
	if r := &o.remote[0]; r.n != 0 && o.allows&AllowReads == 0 {
		return r
	}
	return nil
}

// changedBy reports whether the split by r changed the outcome: the value that
// the end reads is another than the entry's, or the end overwrote another one
// than the entry's, and not with the same. after is the value behind the end; it
// is to be asked only if nobody came by since the end was reached.
func (o *opened) changedBy(r *remoteAccess, after uint64) bool {
	if r.mode&writes == 0 || o.ownWrite.Load() || o.lastValue == o.value {
		return false
	}
	return o.last.mode&writes == 0 || after != o.lastValue
}

// meetSections is SuspectAccess of AtomRace's Figure 3: it tells the sections of
// other goroutines on the variable that a is about to happen.
func meetSections(g unsafe.Pointer, a *access) {
	for open := atomic.LoadUint64(&gate.open); open != 0; open &= open - 1 {
		o := &sections[bits.TrailingZeros64(open)]
		if !overlap(o.addr.Load(), o.size.Load(), a.addr, a.size) {
			continue
		}
		if a.goid == 0 {
			a.goid = goid(g)
		}
		if o.goid.Load() != a.goid {
			o.hits.Add(1)
			o.note(a)
		} else if a.mode&writes != 0 && a.site != o.last.site {
			o.ownWrite.Store(true)
		}
	}
}

// note keeps the first remote read and the first remote write inside.
func (o *opened) note(a *access) {
	out.mu.lock()
	defer out.mu.unlock()
	r, seq := &o.remote[a.mode&writes], o.seq.Load()
	if r.n != 0 || phase(o.phase.Load()) != inside || !overlap(o.addr.Load(), o.size.Load(), a.addr, a.size) {
		return
	}
	r.access = *a
	n := runtime.Stack(r.text[:], false)
	if o.seq.Load() == seq && phase(o.phase.Load()) == inside { // else the owner went on meanwhile
		r.n = n
	}
}

func withdrawSection(o *opened) {
	table.mu.lock()
	defer table.mu.unlock()
	for i := range sections {
		if &sections[i] == o {
			closeSection(i)
		}
	}
}

// closeSection frees record i. requires: table.mu.
func closeSection(i int) {
	o := &sections[i]
	o.phase.Store(uint32(entering))
	o.goid.Store(0)
	o.object, o.mask = nil, 0
	atomic.StoreUint64(&gate.open, gate.open&^(1<<i))
	setFilter()
}

// sectionMask gives the filter bits of all open sections. requires: table.mu.
func sectionMask() (mask uint64) {
	for open := gate.open; open != 0; open &= open - 1 {
		mask |= sections[bits.TrailingZeros64(open)].mask
	}
	return mask
}

// peek gives the value of a variable of up to 8 bytes, of a longer one the first
// word: the pointer of a slice or string, the type of an interface. Values that
// cannot be read at once look all alike.
//
//go:norace
func peek(addr, size uintptr) uint64 {
	size = min(size, 8)
	if addr&(size-1) != 0 {
		return 0
	}
	p := *(*unsafe.Pointer)(unsafe.Pointer(&addr))
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(atomic.LoadUint32((*uint32)(p)))
	case 8:
		return atomic.LoadUint64((*uint64)(p))
	}
	return 0
}
