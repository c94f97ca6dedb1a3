package rt

import (
	"sync"
	"unsafe"

	"github.com/interlock-go/interlock/dynamic/rt/mapkey"
)

// The entries of a sync.Map are watched as those of a map are: the variable of a section is the map and a key. The
// methods access them atomically, so that no two of them race. The value of an entry is read by Load where the program
// is about to call a method as well, and two values are the same if == says so:
//
//	v, ok := (*rt.EnterSync(rt.SMRK(&c.m, k, 4), k, 4, 1, 0)).Load(k)
//	(*rt.EndSync(rt.SMWK(&c.m, k, 9), k, 9, 1, rt.AllowReads|rt.Writes)).Store(k, v); rt.StoredSync(&c.m, k, 9)
//
// Each call returns the map. A key that cannot be compared makes the method panic, and opens no section.

// SMR stands before a method that reads the sync.Map *m, at keys that are not known.
//
//go:norace
func SMR(m *sync.Map, site uint32) *sync.Map {
	if filter.bits>>(uintptr(unsafe.Pointer(m))>>3&63)&1 != 0 {
		beforeElement(unsafe.Pointer(m), 0, site, atomically)
	}
	return m
}

// SMW stands before a method that may change the sync.Map *m, at keys that are not known.
//
//go:norace
func SMW(m *sync.Map, site uint32) *sync.Map {
	if filter.bits>>(uintptr(unsafe.Pointer(m))>>3&63)&1 != 0 {
		beforeElement(unsafe.Pointer(m), 0, site, atomically|writes)
	}
	return m
}

// SMRK is SMR for the entry with the key k.
//
//go:norace
func SMRK[K any](m *sync.Map, k K, site uint32) *sync.Map {
	if filtered(unsafe.Pointer(m)) {
		beforeEntry(m, k, site, atomically)
	}
	return m
}

// SMWK is SMW for the entry with the key k.
//
//go:norace
func SMWK[K any](m *sync.Map, k K, site uint32) *sync.Map {
	if filtered(unsafe.Pointer(m)) {
		beforeEntry(m, k, site, atomically|writes)
	}
	return m
}

//go:noinline
func beforeEntry(m *sync.Map, k any, site uint32, what mode) {
	key := uint64(0)
	if asksForKeys() {
		key, _ = mapkey.OfAny(k)
	}
	beforeElement(unsafe.Pointer(m), key, site, what)
}

// EnterSync is Enter for the entry of *m with the key k. The entry of a section only reads.
//
//go:norace
func EnterSync[K any](m *sync.Map, k K, site, section, flags uint32) *sync.Map {
	if sectionGate.wanted {
		enterSync(m, k, site, section, flags)
	}
	return m
}

//go:noinline
func enterSync(m *sync.Map, k any, site, section, flags uint32) {
	if !mayEnter(section) {
		return
	}
	key, ok := mapkey.OfAny(k)
	if !ok || key == 0 {
		return
	}
	if o := enterMap(unsafe.Pointer(m), nil, key, site, section, flags); o != nil && flags&Writes == 0 {
		o.setValue(entryOf(m, k))
	}
}

// EndSync is End for the entry of *m with the key k.
//
//go:norace
func EndSync[K any](m *sync.Map, k K, site, section, flags uint32) *sync.Map {
	if sectionGate.open != 0 {
		endSync(m, k, site, section, flags)
	}
	return m
}

//go:noinline
func endSync(m *sync.Map, k any, site, section, flags uint32) {
	if !openHere(section) {
		return
	}
	if key, ok := mapkey.OfAny(k); ok {
		endMap(unsafe.Pointer(m), key, entryOf(m, k), 0, site, section, flags)
	}
}

// StoredSync is Stored for the entry of *m with the key k.
//
//go:norace
func StoredSync[K any](m *sync.Map, k K, site uint32) {
	if sectionGate.open != 0 {
		storedSync(m, k, site)
	}
}

//go:noinline
func storedSync(m *sync.Map, k any, site uint32) {
	if !endsHere(site) {
		return
	}
	if key, ok := mapkey.OfAny(k); ok {
		storedInMap(key, entryOf(m, k), 0, site)
	}
}

// BindSync is Bind for the entry of *m with the key k.
//
//go:norace
func BindSync[K any](m *sync.Map, k K, site, flags uint32) *sync.Map {
	if sectionGate.open != 0 {
		bindSync(m, k, site, flags)
	}
	return m
}

//go:noinline
func bindSync(m *sync.Map, k any, site, flags uint32) {
	if !bindsHere(site) {
		return
	}
	key, ok := mapkey.OfAny(k)
	if !ok || key == 0 {
		return
	}
	if o := bindMap(unsafe.Pointer(m), nil, key, entryOf(m, k), 0, site, flags); o != nil {
		o.setValue(entryOf(m, k))
	}
}

// entryOf returns a number for the value of the map under the key. For a value that cannot be compared, the number says
// only that there is one.
func entryOf(m *sync.Map, k any) contents {
	v, present := m.Load(k)
	n, ok := mapkey.OfAny(v)
	return contents{known: true, part: !ok, present: present, size: 8, words: [watchedWords]uint64{n}}
}
