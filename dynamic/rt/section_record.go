//go:build (amd64 || arm64) && !plan9

package rt

import (
	"runtime"
	"strconv"
)

// writeSplit writes that r came into section o. requires: out.mu.
func writeSplit(o *activeSection, r *remoteAccess, did effect) {
	if out.path == "" || !newSplit(o, r, did) {
		return
	}
	b := beginSplit("split", o, did, o.between(r))
	if o.replaced() {
		b = appendContents(b, `,"replaced":[`, &o.valueBefore)
		b = appendContents(b, `,"stored":[`, &o.valueAfter)
	}
	b = append(appendSides(b, o, r), `},"end":`...)
	b = appendSide(b, &o.last, out.own[:runtime.Stack(out.own[:], false)])
	endRecord(append(b, `}}}`...))
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
	// Without a test, another value is what shows that somebody came in between.
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

// readSections reads INTERLOCK_SECTIONS, "id,id-id,...": the sections that may
// be opened.
func readSections() (problem string) {
	for rest := env("INTERLOCK_SECTIONS"); rest != ""; {
		var part string
		part, rest = cut(rest, ',')
		first, last := cut(part, '-')
		if last == "" {
			last = first
		}
		from, err1 := strconv.ParseUint(first, 10, 24)
		to, err2 := strconv.ParseUint(last, 10, 24)
		if err1 != nil || err2 != nil {
			return "INTERLOCK_SECTIONS has a bad id " + strconv.Quote(part)
		}
		sectionStates = grow(sectionStates, max(from, to))
		for id := from; id <= to; id++ {
			sectionStates[id].wanted = true
			sectionGate.wanted = true
		}
	}
	return ""
}

// newSplit reports whether this section, split at this remote site before this
// end, with this outcome, has not been written yet; one that stores what was there
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
	key |= marks
	p := pairPlace(key)
	if p == nil {
		counters.notWritten.Add(1)
	}
	return p != nil && p.Swap(key) != key
}
