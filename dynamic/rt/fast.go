package rt

import "unsafe"

// filter is the address filter that every monitored access tests: bit
// addr>>3&63 says whether an access to addr must take the slow path. It has a
// cache line of its own, because it is read by every access.
//
// The load is plain, and the functions below are norace, because an atomic
// load does not fit the inliner's budget for maps. Nothing depends on its
// freshness: a stale one costs a needless slow path, or misses a window.
// Stores are atomic and need table.mu.
var filter struct {
	_    [64]byte
	bits uint64
	_    [56]byte
}

// Idle reports whether no window is open: no access needs to take the slow path.
//
//go:norace
func Idle() bool { return filter.bits == 0 }

// R stands before a read of *p at the site. It gives p back.
//
//go:norace
func R[T any](p *T, site uint32) *T {
	if filter.bits>>(uintptr(unsafe.Pointer(p))>>3&63)&1 != 0 {
		before(unsafe.Pointer(p), unsafe.Sizeof(*p), site, 0)
	}
	return p
}

// W stands before a write or read-modify-write of *p at the site. It gives p back.
//
//go:norace
func W[T any](p *T, site uint32) *T {
	if filter.bits>>(uintptr(unsafe.Pointer(p))>>3&63)&1 != 0 {
		before(unsafe.Pointer(p), unsafe.Sizeof(*p), site, writes)
	}
	return p
}

// AR stands before an atomic read of *p at the site: a call of sync/atomic or a
// method of its types that only loads. It gives p back.
//
//go:norace
func AR[T any](p *T, site uint32) *T {
	if filter.bits>>(uintptr(unsafe.Pointer(p))>>3&63)&1 != 0 {
		before(unsafe.Pointer(p), unsafe.Sizeof(*p), site, atomically)
	}
	return p
}

// AW stands before an atomic write or read-modify-write of *p at the site. It
// gives p back.
//
//go:norace
func AW[T any](p *T, site uint32) *T {
	if filter.bits>>(uintptr(unsafe.Pointer(p))>>3&63)&1 != 0 {
		before(unsafe.Pointer(p), unsafe.Sizeof(*p), site, atomically|writes)
	}
	return p
}

// RS stands before an operation that reads all elements of s, such as copy
// from it. It gives s back. One bit of the filter would not do for a range:
// any window, anywhere, sends it the slow way.
//
//go:norace
func RS[S ~[]E, E any](s S, site uint32) S {
	if filter.bits != 0 {
		before(*(*unsafe.Pointer)(unsafe.Pointer(&s)), uintptr(len(s))*unsafe.Sizeof(s[0]), site, 0)
	}
	return s
}

// WS stands before an operation that writes all elements of s, such as clear.
// It gives s back.
//
//go:norace
func WS[S ~[]E, E any](s S, site uint32) S {
	if filter.bits != 0 {
		before(*(*unsafe.Pointer)(unsafe.Pointer(&s)), uintptr(len(s))*unsafe.Sizeof(s[0]), site, writes)
	}
	return s
}

// MR stands before an operation that reads the map m. It gives m back.
//
//go:norace
func MR[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	if filter.bits>>(*(*uintptr)(unsafe.Pointer(&m))>>3&63)&1 != 0 {
		beforeMap(*(*unsafe.Pointer)(unsafe.Pointer(&m)), site, 0)
	}
	return m
}

// MW stands before an operation that changes the map m. It gives m back.
//
//go:norace
func MW[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	if filter.bits>>(*(*uintptr)(unsafe.Pointer(&m))>>3&63)&1 != 0 {
		beforeMap(*(*unsafe.Pointer)(unsafe.Pointer(&m)), site, writes)
	}
	return m
}
