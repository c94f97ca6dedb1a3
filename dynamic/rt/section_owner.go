//go:build (amd64 || arm64) && !plan9

package rt

import (
	"runtime"
	"unsafe"
)

// measured is the depth that dispatch or end has found last, while nobody else calls
// them; endShift is how much deeper that of end is when the same function
// calls both.
var measured, endShift uintptr

// measureDepths sets endShift.
func measureDepths() {
	dispatch(hookMeasure, 0, 0, 0)
	ofHook := measured
	end(nil, 0, 0, 0, 0)
	endShift = measured - ofHook
}

// enter is beforeAccess of a section's entry.
//
//go:noinline
func enter(p unsafe.Pointer, size uintptr, site, section, flags uint32) {
	if mayEnter(section) {
		a := access{addr: address(p), size: size, site: site, mode: accessMode(flags)}
		if o := enterAt(&a, section, flags); o != nil {
			o.value = contentsOf(p, size, true)
		}
	}
	runtime.KeepAlive(p)
}

// enterMap is enter for a map that is kept at the place at, or one key of it. It returns the record; the caller sets
// its value.
//
//go:noinline
func enterMap(p, at unsafe.Pointer, key uint64, site, section, flags uint32) *activeSection {
	if !mayEnter(section) {
		return nil
	}
	defer runtime.KeepAlive(p)
	defer runtime.KeepAlive(at)
	a := &access{addr: mapAddress(p, at), size: 8, key: key, inMap: true, site: site, mode: accessMode(flags)}
	o := enterAt(a, section, flags)
	if o != nil && p == nil {
		o.unmade.Store(true)
	}
	return o
}

// mayEnter reports whether an entry may open the section, or close one that an
// earlier round of a loop has left open: that is over, whether the next is wanted or
// not.
func mayEnter(section uint32) bool {
	return wanted(section) || openSections() != 0
}

// enterAt opens the section on the variable of a. The value is to be read when
// the section has been published: later writes are counted.
func enterAt(a *access, section, flags uint32) *activeSection {
	g := getg()
	a.goid = goid(g)
	depth := stackDepth(g)
	if o := findSection(a.goid, section); o != nil {
		if o.recursion(depth) {
			return nil
		}
		if o.is(ending) && o.last.site == a.site { // a circular section: one access ends and begins it
			o.ended()
		} else {
			o.withdraw() // left over, or another round of a loop
		}
	}
	if !a.watchable() {
		return nil
	}
	o := allocate(g, a.goid, section, depth)
	if o == nil {
		return nil
	}
	o.loose = looseWords(flags)
	if o.publishSection(a) {
		return o
	}
	o.withdraw()
	return nil
}

// recursion reports whether an entry at the depth belongs to an activation below
// the one that the section is of.
func (o *activeSection) recursion(depth uintptr) bool {
	return depth > o.enterDepth && (o.is(inside) || o.is(ending)) && nanotime()-o.since < sectionStale
}

// pointer returns the variable's address as a pointer, which escapes nowhere.
func (a *access) pointer() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&a.addr)) }

// dispatch is where all calls of an activation arrive that need no generic code. That
// it is one function makes the depth of the stack in it that of the activation.
//
//go:noinline
func dispatch(kind hookKind, section, arg uint32, operand int64) {
	g := getg()
	id, depth := goid(g), stackDepth(g)
	switch kind {
	case hookBound:
		bound(id, section)
		return
	case hookTestedAt:
		testedAt(id, section, test{arg, operand})
		return
	case hookMeasure:
		measured = depth
		return
	case hookTurn:
		takeTurn(id, section, depth)
		return
	}
	o := findSection(id, section)
	if kind == hookArm {
		arm(g, id, o, section, arg, depth)
		return
	}
	if o != nil {
		o.dispatch(kind, arg, operand, depth)
	}
	if kind == hookEnded || kind == hookLeave {
		passTurn(id, section, depth)
	}
}

// dispatch takes up a call of an activation at the depth.
func (o *activeSection) dispatch(kind hookKind, arg uint32, operand int64, depth uintptr) {
	if o.is(entering) && (kind == hookEntered || kind == hookBetween) && (!o.armedEntry || depth == o.depth) {
		o.depth = depth
		o.entered()
		if kind == hookEntered {
			return
		}
	}
	if o.depth != 0 && depth > o.depth {
		o.passed(kind) // recursion
		return
	}
	if depth < o.depth {
		o.withdraw() // left over
		return
	}
	o.on(kind, arg, operand)
}

// on makes a call in the activation of o.
func (o *activeSection) on(kind hookKind, arg uint32, operand int64) {
	switch kind {
	case hookEntered:
		if o.is(armed) { // the call has returned without the entry
			o.withdraw()
		}
	case hookTested:
		o.tested(test{arg, operand})
	case hookGap, hookBetween:
		o.gap()
	case hookHandOver:
		o.handOver()
	case hookArmEnd:
		o.endSite, o.endAllows = arg, uint32(operand)
	case hookEnded:
		switch {
		case o.is(ending):
			o.ended()
		case o.endSite != 0: // the call has returned without the end
			o.withdraw()
		}
	case hookLeave:
		o.withdraw()
	}
}

// passed is a call in a deeper activation than that of o, where the end does not
// end it, and a write is one of its own.
func (o *activeSection) passed(kind hookKind) {
	if kind == hookHandOver {
		o.handOver()
	}
	if kind == hookEnded && o.is(ending) {
		o.ownSites.Store(true)
		o.phase.Store(uint32(inside))
	}
}

// entered makes the section count from here on. If another goroutine has accessed the
// variable since it was published, the order of that and the entry is not known, and the
// section is withdrawn.
func (o *activeSection) entered() {
	now := o.value
	if !o.ofMap() {
		now = o.contents()
	}
	if o.hits.Load() != 0 || o.entry.mode&writes == 0 && (o.ownSite.Load() != 0 || now != o.value) {
		sectionStates[o.section.Load()].unwatched.Add(1)
		o.withdraw()
		return
	}
	o.before, o.value = o.value, now
	o.ownSite.Store(0)
	text := &entryTexts[o.index()]
	o.entryText = text[:runtime.Stack(text[:], false)]
	o.phase.Store(uint32(inside))
}

// ofMap reports whether the section's variable is a map, which cannot be read
// by its address.
func (o *activeSection) ofMap() bool { return o.entry.inMap }

// contents returns the value of the variable, if it can be read without the
// program's locks.
func (o *activeSection) contents() contents {
	if o.ofMap() {
		return contents{}
	}
	return contentsOf(o.entry.pointer(), o.entry.size, true)
}

// handOver keeps the value of the variable before the owner may have others work for it.
func (o *activeSection) handOver() {
	if o.is(inside) && !o.handed.Load() {
		o.valueHandedOver = o.contents()
		//interlock:ignore IL2002 only the owner of the section stores here
		o.handed.Store(true)
	}
}

// gap makes the section's noise, once.
func (o *activeSection) gap() {
	if o.ns == 0 || !o.is(inside) {
		return
	}
	ns := o.ns
	o.ns = 0
	begin := nanotime()
	delay(ns, o.entryText, &never)
	spent := nanotime() - begin
	noise.spent.Add(spent)
	counters.delayNS.Add(uint64(spent))
}

// end notes the value directly before the access that ends the section.
//
//go:noinline
func end(p unsafe.Pointer, size uintptr, site, section, flags uint32) {
	g := getg()
	depth := stackDepth(g)
	if section == 0 {
		measured = depth
		return
	}
	if o := findSection(goid(g), section); o != nil && (o.depth == 0 || depth-endShift <= o.depth) { // else recursion
		o.endAt(&access{addr: address(p), size: size, site: site}, flags, contents{})
		o.judgeRead()
	}
	runtime.KeepAlive(p)
}

// endMap is end for a map of the length given, or one key of it.
//
//go:noinline
func endMap(p unsafe.Pointer, key uint64, value contents, length int, site, section, flags uint32) {
	if o := findSection(goid(getg()), section); o != nil {
		o.endInMap(p, key, value, length, site, flags)
	}
	runtime.KeepAlive(p)
}

func (o *activeSection) endInMap(p unsafe.Pointer, key uint64, value contents, length int, site, flags uint32) {
	o.follow()
	if o.entry.key == 0 {
		value = contentsOfLength(length)
	} else if o.entry.key != key {
		value = contents{}
	}
	o.endAt(&access{addr: address(p), size: 8, key: key, inMap: true, site: site}, flags, value)
}

// endAt is end for the access a. value is that of an element of a map.
func (o *activeSection) endAt(a *access, flags uint32, value contents) {
	other := flags&OtherVariable != 0
	if !o.is(inside) || !a.watchable() || !other && !o.meets(a) || nanotime()-o.since > sectionStale {
		o.withdraw() // another object, or another activation's
		return
	}
	a.goid, a.mode = o.entry.goid, accessMode(flags)
	o.last, o.allows = *a, flags
	o.lastHits = o.hits.Load()
	o.valueBefore, o.valueAfter = value, contents{}
	if !o.ofMap() {
		o.valueBefore = o.contents()
	} else if other {
		o.valueBefore = contents{}
	}
	o.phase.CompareAndSwap(uint32(inside), uint32(ending))
}

// judgeRead judges before an end that reads: the value may make it panic.
func (o *activeSection) judgeRead() {
	if o.is(ending) && o.last.mode&writes == 0 {
		o.judge()
		o.judged = true
	}
}

// ended comes behind the access that ends the section.
func (o *activeSection) ended() {
	if !o.judged {
		o.judge()
	}
	o.withdraw()
}

// endsHere reports whether an end of a section of this goroutine, on a map, is at the site.
func endsHere(site uint32) bool {
	id := goid(getg())
	for open := openSections(); open != 0; {
		if o := nextSection(&open); o.endsAt(id, site) {
			return true
		}
	}
	return false
}

// endsAt reports whether o is the goroutine's, and its end is the access to its map at
// the site.
func (o *activeSection) endsAt(id int64, site uint32) bool {
	return o.goid.Load() == id && o.is(ending) && o.last.site == site && o.ofMap() && o.allows&OtherVariable == 0
}

// storedInMap notes the state of a map behind the ends at the site: the element with the
// key, or the length.
func storedInMap(key uint64, value contents, length int, site uint32) {
	id := goid(getg())
	for open := openSections(); open != 0; {
		switch o := nextSection(&open); {
		case !o.endsAt(id, site):
		case o.entry.key == 0 && o.what.isEmptiness():
			// Two goroutines that find a table empty may fill it with the same, in any order,
			// so that a length which has changed shows nothing.
		case o.entry.key == 0:
			o.valueAfter = contentsOfLength(length)
		case o.entry.key == key:
			o.valueAfter = value
		}
	}
}

// tested notes the test of the section on the value of its entry. If the entry is in a
// callee, the caller tests that value only if the callee returns it.
func (o *activeSection) tested(t test) {
	if !o.is(entering) && !o.is(inside) {
		return
	}
	if o.armedEntry {
		if o.returned == 0 {
			return
		}
		t.kind |= o.returned & TestLength
	}
	o.what = t
}

// testedAt notes the test of a function on the value that it reads at the site, for the
// callers' sections that begin there.
func testedAt(id int64, site uint32, t test) {
	for open := openSections(); open != 0; {
		o := nextSection(&open)
		switch {
		case o.goid.Load() != id || !o.is(entering) || !o.armedEntry || o.entry.site != site:
		case t.relation() == TestByCaller:
			o.returned = t.kind
		default:
			o.what = t
		}
	}
}

// arm takes a record for a section that begins in the call that follows.
func arm(g unsafe.Pointer, id int64, o *activeSection, section, site uint32, depth uintptr) {
	if o != nil {
		if o.recursion(depth) || o.is(inside) && o.endSite == site { // a circular section: ArmEnd has armed its end
			return
		}
		o.withdraw()
	}
	if o = allocate(g, id, section, depth); o != nil {
		o.arm(site, depth)
	}
}

// arm has the section begin at the site, in a callee of the activation with the depth.
func (o *activeSection) arm(site uint32, depth uintptr) {
	o.entry.site, o.depth, o.armedEntry = site, depth, true
	o.phase.Store(uint32(armed))
}

// nextRound ends a circular section at its end in a callee, and arms the next one: the same access begins it. It
// returns the record of that, or nil.
func (o *activeSection) nextRound(site uint32) *activeSection {
	if !o.is(ending) || o.entry.site != site {
		return nil
	}
	id, section, entered, depth := o.goid.Load(), o.section.Load(), o.enterDepth, o.depth
	o.ended()
	next := allocate(getg(), id, section, entered)
	if next != nil {
		next.arm(site, depth)
	}
	return next
}

// binding returns the goroutine's section that begins or ends in a call, at the
// site, or nil.
func binding(id int64, site uint32) *activeSection {
	for open := openSections(); open != 0; {
		o := nextSection(&open)
		if o.goid.Load() == id && (o.is(armed) && o.entry.site == site || o.is(inside) && o.endSite == site) {
			return o
		}
	}
	return nil
}

// bindsHere reports whether a section of this goroutine begins or ends at the
// site, for which it was armed.
func bindsHere(site uint32) bool { return binding(goid(getg()), site) != nil }

// bind is beforeAccess at a site in which sections of callers begin or end.
//
//go:noinline
func bind(p unsafe.Pointer, size uintptr, site, flags uint32) {
	id := goid(getg())
	o := binding(id, site)
	if o != nil && !o.is(armed) {
		a := &access{addr: address(p), size: size, site: site, goid: id, mode: accessMode(flags)}
		o.endAt(a, o.endAllows|flags&(Writes|Updates), contents{})
		o.endsInCallee()
		o.judgeRead()
		o = o.nextRound(site)
	}
	if o != nil {
		a := &access{addr: address(p), size: size, site: site, goid: id, mode: accessMode(flags)}
		if o.bindEntry(a, flags) {
			o.value = contentsOf(p, size, true)
		}
	}
	runtime.KeepAlive(p)
}

// bindMap is bind for a map that is kept at the place at, or one key of it. It returns the record that it has
// opened at a read; the caller sets its value.
//
//go:noinline
func bindMap(p, at unsafe.Pointer, key uint64, value contents, length int, site, flags uint32) *activeSection {
	defer runtime.KeepAlive(p)
	defer runtime.KeepAlive(at)
	id := goid(getg())
	o := binding(id, site)
	if o != nil && !o.is(armed) {
		o.endInMap(p, key, value, length, site, o.endAllows|flags&(Writes|Updates))
		o.endsInCallee()
		o = o.nextRound(site)
	}
	if o == nil {
		return nil
	}
	a := &access{addr: mapAddress(p, at), size: 8, key: key, inMap: true, site: site, goid: id, mode: accessMode(flags)}
	if !o.bindEntry(a, flags) || a.mode&writes != 0 {
		return nil
	}
	if p == nil {
		o.unmade.Store(true)
	}
	return o
}

// endsInCallee keeps the stack at an end, if others have come: behind the call it no longer shows by which way the
// owner came to the access.
func (o *activeSection) endsInCallee() {
	if o.is(ending) && o.lastHits != 0 {
		text := &lastTexts[o.index()]
		o.lastText = text[:runtime.Stack(text[:], false)]
	}
}

// bindEntry opens an armed section on the variable of a.
func (o *activeSection) bindEntry(a *access, flags uint32) bool {
	o.loose = looseWords(flags)
	if !a.watchable() || !o.publishSection(a) {
		o.withdraw()
		return false
	}
	o.phase.Store(uint32(entering))
	return true
}

// bound is the call behind an access for which bind was called.
func bound(id int64, site uint32) {
	for open := openSections(); open != 0; {
		o := nextSection(&open)
		switch {
		case o.goid.Load() != id:
		case o.is(entering) && o.armedEntry && o.entry.site == site:
			o.entered()
		case o.is(ending) && o.endSite == site && o.last.site == site:
			o.ended()
		}
	}
}
