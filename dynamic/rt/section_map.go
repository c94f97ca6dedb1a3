package rt

import (
	"sync/atomic"
	"unsafe"
)

// The variable of a section over a map is the map and a key, or the whole map
// where the section asks for the length or ranges. Each call gives the map back.
// An access whose key is known is announced by MRK and MWK, so that it splits the
// sections of no other key.

// MRK is MR for the element with the key k.
//
//go:norace
func MRK[M ~map[K]V, K comparable, V any](m M, k K, site uint32) M {
	if filter.bits != 0 {
		readKey(m, k, site)
	}
	return m
}

// MWK is MW for the element with the key k.
//
//go:norace
func MWK[M ~map[K]V, K comparable, V any](m M, k K, site uint32) M {
	if filter.bits != 0 {
		writeKey(m, k, site)
	}
	return m
}

//go:noinline
func readKey[M ~map[K]V, K comparable, V any](m M, k K, site uint32) {
	if p := *(*unsafe.Pointer)(unsafe.Pointer(&m)); filtered(p) {
		beforeElement(p, openKey(k), site, 0)
	}
}

//go:noinline
func writeKey[M ~map[K]V, K comparable, V any](m M, k K, site uint32) {
	if p := *(*unsafe.Pointer)(unsafe.Pointer(&m)); filtered(p) {
		beforeElement(p, openKey(k), site, writes)
	}
}

// filtered reports whether an access to *p must take the slow path. The test does
// not fit the inliner's budget together with a key.
//
//go:norace
func filtered(p unsafe.Pointer) bool { return filter.bits>>(uintptr(p)>>3&63)&1 != 0 }

// openKey is keyOf while sections are open, else nobody asks.
func openKey[K comparable](k K) uint64 {
	if atomic.LoadUint64(&gate.open) == 0 {
		return 0
	}
	return keyOf(k)
}

// EnterKey is Enter for the read of m[k].
//
//go:norace
func EnterKey[M ~map[K]V, K comparable, V any](m M, k K, site, section uint32) M {
	if gate.wanted {
		enterKey(m, k, site, section)
	}
	return m
}

//go:noinline
func enterKey[M ~map[K]V, K comparable, V any](m M, k K, site, section uint32) {
	if !wanted(section) {
		return
	}
	if o := enterMap(*(*unsafe.Pointer)(unsafe.Pointer(&m)), keyOf(k), site, section, 0); o != nil {
		o.holds(element(m, k))
	}
}

// EnterKeyWrite is EnterWrite for a write of m[k]. What that stores is not known.
//
//go:norace
func EnterKeyWrite[M ~map[K]V, K comparable, V any](m M, k K, site, section uint32) M {
	if gate.wanted {
		enterKeyWrite(m, k, site, section)
	}
	return m
}

//go:noinline
func enterKeyWrite[M ~map[K]V, K comparable, V any](m M, k K, site, section uint32) {
	if wanted(section) {
		enterMap(*(*unsafe.Pointer)(unsafe.Pointer(&m)), keyOf(k), site, section, writes)
	}
}

// EnterMap is Enter for a read of the whole map, or of its length.
//
//go:norace
func EnterMap[M ~map[K]V, K comparable, V any](m M, site, section uint32) M {
	if gate.wanted {
		enterWhole(m, site, section)
	}
	return m
}

//go:noinline
func enterWhole[M ~map[K]V, K comparable, V any](m M, site, section uint32) {
	if o := enterMap(*(*unsafe.Pointer)(unsafe.Pointer(&m)), 0, site, section, 0); o != nil {
		o.holds(contentsOfLength(len(m)))
	}
}

// EnterMapWrite is EnterKeyWrite where the key is not known.
//
//go:norace
func EnterMapWrite[M ~map[K]V, K comparable, V any](m M, site, section uint32) M {
	if gate.wanted {
		enterMap(*(*unsafe.Pointer)(unsafe.Pointer(&m)), 0, site, section, writes)
	}
	return m
}

// EndKey stands before the access of m[k] that ends the section. allows is
// the end's A set, EndWrites added for a write.
//
//go:norace
func EndKey[M ~map[K]V, K comparable, V any](m M, k K, site, section, allows uint32) M {
	if gate.open != 0 {
		endKey(m, k, site, section, allows)
	}
	return m
}

//go:noinline
func endKey[M ~map[K]V, K comparable, V any](m M, k K, site, section, allows uint32) {
	if openHere(section) {
		endMap(*(*unsafe.Pointer)(unsafe.Pointer(&m)), keyOf(k), element(m, k), len(m), site, section, allows)
	}
}

// EndMap is EndKey for an access of the whole map, or of its length.
//
//go:norace
func EndMap[M ~map[K]V, K comparable, V any](m M, site, section, allows uint32) M {
	if gate.open != 0 {
		endMap(*(*unsafe.Pointer)(unsafe.Pointer(&m)), 0, contents{}, len(m), site, section, allows)
	}
	return m
}

// EndWrites is added to the A set of an end that writes a map, with Updates for
// one that reads as well. BindKey and BindMap take it, or 0 for a read.
const EndWrites = endWrites

// Stored stands behind a store of m[k] that ends the section, before Ended, and
// says what is there now.
//
//go:norace
func Stored[M ~map[K]V, K comparable, V any](m M, k K, section uint32) {
	if gate.open != 0 {
		stored(m, k, section)
	}
}

//go:noinline
func stored[M ~map[K]V, K comparable, V any](m M, k K, section uint32) {
	if openHere(section) {
		storedContents(section, element(m, k))
	}
}

// BindKey is BindRead or, with write, BindWrite for an access of m[k].
//
//go:norace
func BindKey[M ~map[K]V, K comparable, V any](m M, k K, site uint32, how uint32) M {
	if gate.open != 0 {
		bindKey(m, k, site, how)
	}
	return m
}

//go:noinline
func bindKey[M ~map[K]V, K comparable, V any](m M, k K, site uint32, how uint32) {
	if !bindsHere(site) {
		return
	}
	if o := bindMap(*(*unsafe.Pointer)(unsafe.Pointer(&m)), keyOf(k), element(m, k), len(m), site, how); o != nil {
		o.holds(element(m, k))
	}
}

// BindMap is BindKey for an access of the whole map, or of its length.
//
//go:norace
func BindMap[M ~map[K]V, K comparable, V any](m M, site uint32, how uint32) M {
	if gate.open != 0 {
		bindWhole(m, site, how)
	}
	return m
}

//go:noinline
func bindWhole[M ~map[K]V, K comparable, V any](m M, site uint32, how uint32) {
	if o := bindMap(*(*unsafe.Pointer)(unsafe.Pointer(&m)), 0, contents{}, len(m), site, how); o != nil {
		o.holds(contentsOfLength(len(m)))
	}
}

// element returns what the map has under the key. It is read where the program is
// about to access it as well.
func element[M ~map[K]V, K comparable, V any](m M, k K) contents {
	v, ok := m[k]
	return contentsOf(unsafe.Pointer(&v), unsafe.Sizeof(v), ok)
}
