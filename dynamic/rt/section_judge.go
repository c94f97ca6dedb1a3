//go:build (amd64 || arm64) && !plan9

package rt

import (
	"runtime"
	"strconv"
)

// judge is afterAccess of Figure 3 at an end: it looks whether an access came in
// between that the end does not allow.
func (o *activeSection) judge() {
	if !o.ofMap() {
		o.valueAfter = o.contents()
	}
	quiet := o.hits.Load() == o.lastHits
	out.mu.lock()
	defer out.mu.unlock()
	if o.goid.Load() != o.last.goid {
		return // away for too long
	}
	countEnd(o.section.Load(), o.last.site)
	if r := o.forbidden(); r != nil {
		writeSplit(o, r, o.effectOf(r, quiet))
	} else if o.handed.Load() { // later accesses need not be remote, and were not noted
		sectionStates[o.section.Load()].unwatched.Add(1)
	}
}

// forbidden returns the remote access that the end does not allow, or nil, a write
// before a read. One to which the section was one step all the same is none: a write
// that has changed nothing, such as a CompareAndSwap that fails, the deletion of a
// key that is not there, or a store of the same value, and a read of the value
// before or behind the section. requires: out.mu.
func (o *activeSection) forbidden() *remoteAccess {
	unchanged := !o.wrote() && (same(o.value, o.valueBefore) || same(o.value, o.remoteValue()))
	if r := &o.remote[1]; r.n != 0 && o.allows&AllowWrites == 0 && !unchanged {
		return r
	}
	if r := &o.remote[0]; r.n != 0 && o.allows&AllowReads == 0 && !same(r.seen, o.before) && !same(r.seen, o.valueAfter) {
		return r
	}
	return nil
}

// remoteValue is the value of the variable when others could last have changed it for
// themselves: when the section reached its end, or handed over.
func (o *activeSection) remoteValue() contents {
	if o.handed.Load() {
		return o.valueHandedOver
	}
	return o.valueBefore
}

// wrote reports whether the owner itself has written the variable, apart from the entry
// and the end.
func (o *activeSection) wrote() bool {
	return o.ownSites.Load() || o.ownSite.Load() != 0 && o.ownSite.Load() != o.last.site
}

// effect is the certain effect of a split on the outcome.
type effect int

const (
	unknownEffect effect = iota
	overwrote            // the end has overwritten another value than the entry's, and not with the same
	overturned           // the entry's test would have come out otherwise at the end
)

// effectOf returns that of the split by r. A write counts as overwritten only if no other
// goroutine has accessed the variable (quiet) since the end was reached. An owner that has read the
// variable again may have tested again, or stores a value that depends on that read.
func (o *activeSection) effectOf(r *remoteAccess, quiet bool) effect {
	stores := o.last.mode&writes != 0
	if r.mode&writes == 0 || o.wrote() || !differ(o.value, o.remoteValue()) || stores && o.again.Load() {
		return unknownEffect
	}
	if o.what.differs(o.value, o.valueBefore) && o.what.differs(o.value, o.remoteValue()) {
		return overturned
	}
	overwrites := stores && o.allows&(OtherVariable|Updates) == 0 && !(o.ofMap() && o.entry.key == 0)
	if overwrites && quiet && differ(o.value, o.valueBefore) && differ(o.valueBefore, o.valueAfter) {
		return overwrote
	}
	return unknownEffect
}

// between reports whether r has certainly happened before the end, and not only been
// about to, and the section was not one step for it: its write has left another value in
// the variable, or it has read one that the variable held neither before the section
// nor behind. A value that was changed and changed back shows nothing. requires: out.mu.
func (o *activeSection) between(r *remoteAccess) bool {
	if r.mode&writes != 0 {
		return !o.wrote() && o.apart(o.value, o.remoteValue()) && o.apart(o.value, o.valueBefore)
	}
	return r.happened && o.remote[1].n == 0 && o.apart(r.seen, o.before) && o.apart(r.seen, o.valueAfter)
}

// behind reports whether the values show that the section, which only tests its variable, is as good as one step behind
// all that r and others have written.
func (o *activeSection) behind(r *remoteAccess) bool {
	return r.mode&writes != 0 && !o.wrote() && o.what.recedes(o.value, o.valueBefore) &&
		(!o.handed.Load() || o.what.recedes(o.value, o.valueHandedOver))
}

// apart reports whether a and b, contents of the variable, are known to be different
// values.
func (o *activeSection) apart(a, b contents) bool {
	for i := range a.words {
		if o.loose>>i&1 != 0 {
			a.words[i], b.words[i] = 0, 0
		}
	}
	return differ(a, b)
}

// ends counts how often sections came to their ends, in a hash table; guarded
// by out.mu.
var ends [4096]struct {
	section, site uint32
	times         uint64
}

// countEnd counts one. requires: out.mu.
func countEnd(section, site uint32) {
	for i, h := 0, mix(uint64(section)<<32|uint64(site)); i < len(ends); i, h = i+1, h+1 {
		e := &ends[h%uint64(len(ends))]
		if e.times != 0 && (e.section != section || e.site != site) {
			continue
		}
		e.section, e.site = section, site
		e.times++
		return
	}
	counters.notWritten.Add(1)
}

// appendEnds appends the counts, if there are any. requires: out.mu.
func appendEnds(b []byte) []byte {
	before := `,"ended":[`
	for i := range ends {
		if e := &ends[i]; e.times != 0 {
			b = appendField(append(b, before...), `{"section":`, uint64(e.section))
			b = appendField(b, `,"site":`, uint64(e.site))
			b = append(appendField(b, `,"times":`, e.times), '}')
			before = ","
		}
	}
	if before == "," {
		b = append(b, ']')
	}
	return b
}

// same reports whether a and b are known to be equal, all of them.
func same(a, b contents) bool { return a.known && !a.part && a == b }

// differ reports whether a and b are known to differ.
func differ(a, b contents) bool { return a.known && b.known && a != b }

// test is the test of a test-and-use section on the value of its entry: one of the
// Test constants, or 0 if it is not known.
type test struct {
	kind    uint32
	operand int64
}

// differs reports whether the test has another outcome for b than for a.
func (t test) differs(a, b contents) bool {
	return t.kind != 0 && a.known && b.known && t.outcome(a) != t.outcome(b)
}

// recedes reports whether the test, which alone uses the value, has the same outcome for b as for a, and b is farther
// from the other outcome: an access that changes a to b is as good as before the test.
func (t test) recedes(a, b contents) bool {
	if t.kind&TestOnly == 0 || !a.known || !b.known || t.outcome(a) != t.outcome(b) {
		return false
	}
	v, w := t.number(a), t.number(b)
	less := int64(v) < int64(w)
	if t.kind&TestUnsigned != 0 {
		less = v < w
	}
	switch t.relation() {
	case TestLess, TestLessEqual:
		return v != w && less == !t.outcome(a)
	}
	return t.kind&TestLength != 0 && t.relation() == TestEqual && t.operand == 0 && less
}

// isEmptiness reports whether the test of a length only separates 0 from more.
func (t test) isEmptiness() bool {
	outcome := func(n int) bool { return t.outcome(contentsOfLength(n)) }
	return outcome(0) != outcome(1) && outcome(1) == outcome(2)
}

// relation is the test's kind without its flags.
func (t test) relation() uint32 { return t.kind &^ (TestUnsigned | TestLength | TestOnly) }

// number is the part of c that the test compares.
func (t test) number(c contents) uint64 {
	v := c.words[0]
	if t.kind&TestLength != 0 {
		return c.words[1]
	} else if t.kind&TestUnsigned == 0 { // as a number of its size
		shift := 64 - 8*min(c.size, 8)
		v = uint64(int64(v<<shift) >> shift)
	}
	return v
}

// outcome makes the test of c.
func (t test) outcome(c contents) bool {
	v := t.number(c)
	switch t.relation() {
	case TestZero:
		return v == 0
	case TestPresent:
		return c.present
	case TestEqual:
		return v == uint64(t.operand)
	case TestLess:
		return t.kind&TestUnsigned == 0 && int64(v) < t.operand || t.kind&TestUnsigned != 0 && v < uint64(t.operand)
	case TestLessEqual:
		return t.kind&TestUnsigned == 0 && int64(v) <= t.operand || t.kind&TestUnsigned != 0 && v <= uint64(t.operand)
	}
	return false
}

// writeSplit writes that r came into section o. requires: out.mu.
func writeSplit(o *activeSection, r *remoteAccess, did effect) {
	if out.path == "" || !newSplit(o, r, did) {
		return
	}
	b := beginSplit("split", o, did, o.between(r))
	if did == unknownEffect && o.behind(r) {
		b = append(b, `,"serial":true`...)
	}
	if o.replaced() {
		b = appendContents(b, `,"replaced":[`, &o.valueBefore)
		b = appendContents(b, `,"stored":[`, &o.valueAfter)
	}
	b = append(appendSides(b, o, r), `},"end":`...)
	text := o.lastText
	if text == nil {
		text = out.own[:runtime.Stack(out.own[:], false)]
	}
	endRecord(append(appendSide(b, &o.last, text), `}}}`...))
}

// beginSplit begins a record about section o. requires: out.mu.
func beginSplit(kind string, o *activeSection, did effect, between bool) []byte {
	b := beginRecord(kind)
	b = appendField(b, `,"split":{"section":`, uint64(o.section.Load()))
	b = append(b, `,"changed":`...)
	b = strconv.AppendBool(b, did != unknownEffect)
	if did == overturned {
		b = append(b, `,"overturned":true`...)
	}
	if between {
		b = append(b, `,"between":true`...)
	}
	return b
}

// appendSides appends the entry and the remote access, which it leaves open.
// requires: out.mu.
func appendSides(b []byte, o *activeSection, r *remoteAccess) []byte {
	b = appendField(b, `,"gap_ns":`, uint64(max(nanotime()-o.since, 0)))
	b = append(b, `,"entry":`...)
	b = append(appendSide(b, &o.entry, o.entryText), `},"remote":`...)
	return appendSide(b, &r.access, r.text[:r.n])
}

// replaced reports whether the end has put another value in the place of the
// variable's, and both are known. Of a whole map they are the lengths.
func (o *activeSection) replaced() bool {
	stores := o.last.mode&writes != 0 && o.allows&(OtherVariable|Updates) == 0
	return stores && o.valueBefore.known && o.valueAfter.known
}

// appendContents appends the words of c as a list, nothing where c is that of a
// key which is not there.
func appendContents(b []byte, name string, c *contents) []byte {
	if !c.present {
		return b
	}
	b = append(b, name...)
	n := min(max((c.size+7)/8, 1), uintptr(len(c.words)))
	for _, w := range c.words[:n] {
		b = append(strconv.AppendUint(b, w, 10), ',')
	}
	b[len(b)-1] = ']'
	return b
}

// maxRemoteSeen is how many records of remote accesses alone a process writes.
const maxRemoteSeen = 500

var remotesSeen int // written; guarded by out.mu

// writeRemoteSeen writes that r came into section o, before its owner has come to an
// end: if a panic keeps it from there, nobody could say so later. requires: out.mu.
func writeRemoteSeen(o *activeSection, r *remoteAccess, seq uint32) {
	if out.path == "" || remotesSeen >= maxRemoteSeen {
		return
	}
	b := appendSides(beginSplit("came", o, unknownEffect, false), o, r)
	if b = append(b, `}}}`...); o.seq.Load() == seq && o.is(inside) { // else it may be of two sections
		remotesSeen++
		endRecord(b)
	}
}

// used writes that the owner is about to read the variable again, by a, where that
// holds another value by now or, if the section tests it, one for which the test would
// have come out otherwise: if that read panics, no end is reached that would say so.
func (o *activeSection) used(a *access) {
	if !o.is(inside) || o.ofMap() {
		return
	}
	now := o.contents()
	did := unknownEffect
	if o.what.differs(o.value, now) {
		did = overturned
	}
	// Without a test, another value shows that a goroutine came in between.
	if did != overturned && (o.what.kind != 0 || !o.apart(o.value, now)) {
		return
	}
	if o.handed.Load() && !differ(o.value, o.valueHandedOver) {
		return
	}
	out.mu.lock()
	defer out.mu.unlock()
	r := &o.remote[1]
	if r.n == 0 || o.ownSite.Load() != 0 || out.path == "" || remotesSeen >= maxRemoteSeen {
		return
	}
	remotesSeen++
	b := append(appendSides(beginSplit("used", o, did, true), o, r), `},"end":`...)
	b = appendSide(b, a, out.own[:runtime.Stack(out.own[:], false)])
	endRecord(append(b, `}}}`...))
}

// newSplit reports whether this section, split at this remote site before this
// end, with this outcome, has not been written yet; an end that stores the old value
// is another outcome than one that does not. requires: out.mu.
func newSplit(o *activeSection, r *remoteAccess, did effect) bool {
	const marks = 1 << 63 // pairs of sites do not have it
	key := mix(uint64(o.section.Load())<<32|uint64(r.site)) ^ uint64(o.last.site)<<3
	if did != unknownEffect {
		key ^= 1
	}
	if o.between(r) {
		key ^= 2
	}
	if o.valueAfter != o.valueBefore {
		key ^= 4
	}
	if o.behind(r) {
		key ^= 8
	}
	key |= marks
	p := pairPlace(key)
	if p == nil {
		counters.notWritten.Add(1)
	}
	return p != nil && p.Swap(key) != key
}
