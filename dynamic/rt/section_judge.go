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
	if r := o.forbidden(); r != nil && o.goid.Load() == o.last.goid {
		writeSplit(o, r, o.changedBy(r, quiet))
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

// changedBy reports whether the split by r changed the outcome: the entry's test
// would have come out otherwise at the end, or the end has overwritten another
// value than the entry's, and not with the same. That is to be said only if nobody
// came by (quiet) since the end was reached.
func (o *opened) changedBy(r *remoteAccess, quiet bool) bool {
	own := o.ownSites.Load() || o.ownSite.Load() != 0 && o.ownSite.Load() != o.last.site
	if r.mode&writes == 0 || own {
		return false
	}
	if o.what.differs(o.value, o.lastValue) {
		return true
	}
	overwrites := o.last.mode&writes != 0 && o.allows&OtherVariable == 0 && !(o.ofMap() && o.entry.key == 0)
	return overwrites && quiet && o.value.known && o.lastValue.known && o.atStore.known &&
		o.lastValue != o.value && o.atStore != o.lastValue
}
