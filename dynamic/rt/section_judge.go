//go:build (amd64 || arm64) && !plan9

package rt

// judge is afterAccess of Figure 3 at an end: it looks whether an access came in
// between that the end does not allow.
func (o *opened) judge() {
	if !o.ofMap() {
		o.atStore = contentsOf(o.entry.pointer(), o.entry.size, true)
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
func (o *opened) effectOf(r *remoteAccess, quiet bool) effect {
	own := o.ownSites.Load() || o.ownSite.Load() != 0 && o.ownSite.Load() != o.last.site
	stores := o.last.mode&writes != 0
	if r.mode&writes == 0 || own || stores && o.again.Load() {
		return unknownEffect
	}
	if o.what.differs(o.value, o.lastValue) {
		return overturned
	}
	overwrites := stores && o.allows&(OtherVariable|Updates) == 0 && !(o.ofMap() && o.entry.key == 0)
	if overwrites && quiet && o.value.known && o.lastValue.known && o.atStore.known &&
		o.lastValue != o.value && o.atStore != o.lastValue {
		return overwrote
	}
	return unknownEffect
}

// between reports whether r has certainly happened before the end, and not only been
// about to: its goroutine has come by again, or the variable holds another value.
// requires: out.mu.
func (o *opened) between(r *remoteAccess) bool {
	own := o.ownSites.Load() || o.ownSite.Load() != 0 && o.ownSite.Load() != o.last.site
	return r.past || r.mode&writes != 0 && !own && o.value.known && o.lastValue.known && o.value != o.lastValue
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
