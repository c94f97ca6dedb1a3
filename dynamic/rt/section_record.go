//go:build (amd64 || arm64) && !plan9

package rt

import (
	"runtime"
	"strconv"
)

// writeSplit writes that r came into section o. requires: out.mu.
func writeSplit(o *opened, r *remoteAccess, did effect) {
	if out.path == "" || !newSplit(o, r, did) {
		return
	}
	b := beginRecord("split")
	b = appendField(b, `,"split":{"section":`, uint64(o.section.Load()))
	b = append(b, `,"changed":`...)
	b = strconv.AppendBool(b, did != unknownEffect)
	if did == overturned {
		b = append(b, `,"overturned":true`...)
	}
	if o.between(r) {
		b = append(b, `,"between":true`...)
	}
	if o.replaced() {
		b = appendContents(b, `,"replaced":[`, &o.lastValue)
		b = appendContents(b, `,"stored":[`, &o.atStore)
	}
	b = appendField(b, `,"gap_ns":`, uint64(nanotime()-o.since))
	b = append(b, `,"entry":`...)
	b = append(appendSide(b, &o.entry, o.entryText), '}')
	b = append(b, `,"remote":`...)
	b = append(appendSide(b, &r.access, r.text[:r.n]), '}')
	b = append(b, `,"end":`...)
	b = appendSide(b, &o.last, out.own[:runtime.Stack(out.own[:], false)])
	endRecord(append(b, `}}}`...))
}

// replaced reports whether the end has put another value in the place of the
// variable's, and both are known.
func (o *opened) replaced() bool {
	whole := o.last.mode&writes != 0 && o.allows&(OtherVariable|Updates) == 0 && !(o.ofMap() && o.entry.key == 0)
	return whole && o.lastValue.known && o.atStore.known
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

// maxCames is how many records of remote accesses alone a process writes.
const maxCames = 500

var cames int // written; guarded by out.mu

// writeCame writes that r came into section o, before its owner has come to an
// end: if a panic keeps it from there, nobody could say so later. requires: out.mu.
func writeCame(o *opened, r *remoteAccess, seq uint32) {
	if out.path == "" || cames >= maxCames {
		return
	}
	b := beginRecord("came")
	b = appendField(b, `,"split":{"section":`, uint64(o.section.Load()))
	b = append(b, `,"changed":false`...)
	b = appendField(b, `,"gap_ns":`, uint64(max(nanotime()-o.since, 0)))
	b = append(b, `,"entry":`...)
	b = append(appendSide(b, &o.entry, o.entryText), '}')
	b = append(b, `,"remote":`...)
	b = appendSide(b, &r.access, r.text[:r.n])
	if b = append(b, `}}}`...); o.seq.Load() == seq && o.is(inside) { // else it may be of two sections
		cames++
		endRecord(b)
	}
}

// used writes that the owner is about to read the variable again, by a, where that
// holds another value by now or, if the section tests it, one for which the test would
// have come out otherwise: if that read panics, no end is reached that would say so.
func (o *opened) used(a *access) {
	if !o.is(inside) || o.ofMap() {
		return
	}
	now := o.contents()
	overturned := o.what.differs(o.value, now)
	if !overturned && (o.what.kind != 0 || !o.apart(o.value, now)) || o.handed.Load() && !differ(o.value, o.atHandOver) {
		return
	}
	out.mu.lock()
	defer out.mu.unlock()
	r := &o.remote[1]
	if r.n == 0 || o.ownSite.Load() != 0 || out.path == "" || cames >= maxCames {
		return
	}
	cames++
	b := beginRecord("used")
	b = appendField(b, `,"split":{"section":`, uint64(o.section.Load()))
	b = append(b, `,"changed":`...)
	b = strconv.AppendBool(b, overturned)
	if overturned {
		b = append(b, `,"overturned":true`...)
	}
	b = append(b, `,"between":true`...)
	b = appendField(b, `,"gap_ns":`, uint64(max(nanotime()-o.since, 0)))
	b = append(b, `,"entry":`...)
	b = append(appendSide(b, &o.entry, o.entryText), '}')
	b = append(b, `,"remote":`...)
	b = append(appendSide(b, &r.access, r.text[:r.n]), '}')
	b = append(b, `,"end":`...)
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
			gate.wanted = true
		}
	}
	return ""
}

// newSplit reports whether this section, split at this remote site before this
// end, with this outcome, has not been written yet; one that stores what was there
// is another outcome than one that does not. requires: out.mu.
func newSplit(o *opened, r *remoteAccess, did effect) bool {
	const marks = 1 << 63 // pairs of sites do not have it
	key := mix(uint64(o.section.Load())<<32|uint64(r.site)) ^ uint64(o.last.site)<<3
	if did != unknownEffect {
		key ^= 1
	}
	if o.between(r) {
		key ^= 2
	}
	if o.atStore != o.lastValue {
		key ^= 4
	}
	key |= marks
	p := pairPlace(key)
	if p == nil {
		counters.notWritten.Add(1)
	}
	return p != nil && p.Swap(key) != key
}
