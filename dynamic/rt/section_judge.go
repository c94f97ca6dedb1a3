//go:build (amd64 || arm64) && !plan9

package rt

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
	}
}

// forbidden returns the remote access that the end does not allow, or nil, a write
// before a read. One to which the section was one step all the same is none: a write
// that has changed nothing, such as a CompareAndSwap that fails, the deletion of a
// key that is not there, or a store of the same value, and a read of what the
// variable held before or behind the section. requires: out.mu.
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

// remoteValue is what the variable held when others could last have changed it for
// themselves: when the section reached its end, or handed over.
func (o *activeSection) remoteValue() contents {
	if o.handed.Load() {
		return o.valueHandedOver
	}
	return o.valueBefore
}

// wrote reports whether the owner itself has written the variable, but for the entry
// and the end.
func (o *activeSection) wrote() bool {
	return o.ownSites.Load() || o.ownSite.Load() != 0 && o.ownSite.Load() != o.last.site
}

// effect is what a split certainly did to the outcome.
type effect int

const (
	unknownEffect effect = iota
	overwrote            // the end has overwritten another value than the entry's, and not with the same
	overturned           // the entry's test would have come out otherwise at the end
)

// effectOf gives that of the split by r. What was overwritten is to be said only
// if nobody came by (quiet) since the end was reached. An owner that has read the
// variable again may have asked again, or stores what builds on that.
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
// about to, and has not left the section one step: by what it wrote the variable holds
// another value, or it has read one that the variable held neither before the section
// nor behind. A value that was changed and changed back shows nothing. requires: out.mu.
func (o *activeSection) between(r *remoteAccess) bool {
	if r.mode&writes != 0 {
		return !o.wrote() && o.apart(o.value, o.remoteValue()) && o.apart(o.value, o.valueBefore)
	}
	return r.happened && o.remote[1].n == 0 && o.apart(r.seen, o.before) && o.apart(r.seen, o.valueAfter)
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
