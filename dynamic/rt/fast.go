package rt

import (
	"sync/atomic"
	"unsafe"

	_ "github.com/interlock-go/interlock/dynamic/rt/crash" // for all programs that have the monitor
	"github.com/interlock-go/interlock/dynamic/rt/mapkey"
	"github.com/interlock-go/interlock/dynamic/rt/policy"
)

// filter is the address filter that every monitored access tests: bit
// addr>>3&63 says whether an access to addr must take the slow path. It has a
// cache line of its own, because it is read by every access.
//
// The load is plain, and the functions below are norace, because an atomic
// load does not fit the inliner's budget for maps. Nothing depends on its
// freshness: a stale one costs a needless slow path, or misses a window.
// Stores are atomic and need windowTable.mu.
var filter struct {
	_    [64]byte
	bits uint64
	_    [56]byte
}

// Idle reports whether no window is open: no access needs to take the slow path.
//
//go:norace
func Idle() bool { return filter.bits == 0 }

// R stands before a read of *p at the site. It returns p.
//
//go:norace
func R[T any](p *T, site uint32) *T {
	if filter.bits>>(uintptr(unsafe.Pointer(p))>>3&63)&1 != 0 {
		before(unsafe.Pointer(p), unsafe.Sizeof(*p), site, 0)
	}
	return p
}

// W stands before a write or read-modify-write of *p at the site. It returns p.
//
//go:norace
func W[T any](p *T, site uint32) *T {
	if filter.bits>>(uintptr(unsafe.Pointer(p))>>3&63)&1 != 0 {
		before(unsafe.Pointer(p), unsafe.Sizeof(*p), site, writes)
	}
	return p
}

// AR stands before an atomic read of *p at the site: a call of sync/atomic or a
// method of its types that only loads. It returns p.
//
//go:norace
func AR[T any](p *T, site uint32) *T {
	if filter.bits>>(uintptr(unsafe.Pointer(p))>>3&63)&1 != 0 {
		before(unsafe.Pointer(p), unsafe.Sizeof(*p), site, atomically)
	}
	return p
}

// AW stands before an atomic write or read-modify-write of *p at the site. It
// returns p.
//
//go:norace
func AW[T any](p *T, site uint32) *T {
	if filter.bits>>(uintptr(unsafe.Pointer(p))>>3&63)&1 != 0 {
		before(unsafe.Pointer(p), unsafe.Sizeof(*p), site, atomically|writes)
	}
	return p
}

// RS stands before an operation that reads all elements of s, such as copy
// from it. It returns s. One bit of the filter would not do for a range:
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
// It returns s.
//
//go:norace
func WS[S ~[]E, E any](s S, site uint32) S {
	if filter.bits != 0 {
		before(*(*unsafe.Pointer)(unsafe.Pointer(&s)), uintptr(len(s))*unsafe.Sizeof(s[0]), site, writes)
	}
	return s
}

// MR stands before an operation that reads the map m. It returns m.
//
//go:norace
func MR[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	if filter.bits>>(*(*uintptr)(unsafe.Pointer(&m))>>3&63)&1 != 0 {
		beforeMap(*(*unsafe.Pointer)(unsafe.Pointer(&m)), site, 0)
	}
	return m
}

// MW stands before an operation that changes the map m. It returns m.
//
//go:norace
func MW[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	if filter.bits>>(*(*uintptr)(unsafe.Pointer(&m))>>3&63)&1 != 0 {
		beforeMap(*(*unsafe.Pointer)(unsafe.Pointer(&m)), site, writes)
	}
	return m
}

// CR stands before a send on the channel c. It returns c.
//
//go:norace
func CR[C any](c C, site uint32) C {
	if filter.bits>>(*(*uintptr)(unsafe.Pointer(&c))>>3&63)&1 != 0 {
		beforeChannel(*(*unsafe.Pointer)(unsafe.Pointer(&c)), site, 0)
	}
	return c
}

// CW stands before a close of the channel c. It returns c.
//
//go:norace
func CW[C any](c C, site uint32) C {
	if filter.bits>>(*(*uintptr)(unsafe.Pointer(&c))>>3&63)&1 != 0 {
		beforeChannel(*(*unsafe.Pointer)(unsafe.Pointer(&c)), site, writes)
	}
	return c
}

// perturbs reports whether the run holds goroutines at events that are no accesses. It is set at start.
var perturbs bool

// Forked stands behind a statement, of that number, that has started a goroutine.
func Forked(statement uint64) {
	if perturbs {
		perturb(policy.Forked, statement)
	}
}

// Started stands where the function begins that a goroutine runs which the statement has started.
func Started(statement uint64) {
	if perturbs {
		perturb(policy.Started, statement)
	}
}

// Acquiring stands before the acquisition of a lock at a place of that number.
func Acquiring(place uint64) {
	if perturbs {
		perturb(policy.Acquiring, place)
	}
}

// Awaiting stands before a statement, of that number, that may wait for a message or a signal.
func Awaiting(statement uint64) {
	if perturbs {
		perturb(policy.Awaiting, statement)
	}
}

// Close closes the channel c, for defer and go statements.
//
//go:norace
func Close[C ~chan E | ~chan<- E, E any](c C, site uint32) { close(CW(c, site)) }

// Sent stands around a value that is sent, and returns a copy of it.
func Sent[T any](v T) T { return v }

// GR stands before a call of Wait for the WaitGroup *p. It returns p.
//
//go:norace
func GR[T any](p *T, site uint32) *T {
	if filter.bits>>(uintptr(unsafe.Pointer(p))>>3&63)&1 != 0 {
		beforeCounter(unsafe.Pointer(p), site, 0)
	}
	return p
}

// GAW stands before a call that adds to the WaitGroup *p. It returns p.
//
//go:norace
func GAW[T any](p *T, site uint32) *T {
	if filter.bits>>(uintptr(unsafe.Pointer(p))>>3&63)&1 != 0 {
		beforeCounter(unsafe.Pointer(p), site, atomically|writes)
	}
	return p
}

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
	if p := mapPointer(m); filtered(p) {
		beforeElement(p, openKey(k), site, 0)
	}
}

//go:noinline
func writeKey[M ~map[K]V, K comparable, V any](m M, k K, site uint32) {
	if p := mapPointer(m); filtered(p) {
		beforeElement(p, openKey(k), site, writes)
	}
}

// filtered reports whether an access to *p must take the slow path. The test does
// not fit the inliner's budget together with a key.
//
//go:norace
func filtered(p unsafe.Pointer) bool { return filter.bits>>(uintptr(p)>>3&63)&1 != 0 }

// openKey is mapkey.Of while somebody asks for keys.
func openKey[K comparable](k K) uint64 {
	if !asksForKeys() {
		return 0
	}
	return mapkey.Of(k)
}

// asksForKeys reports whether sections are open, or the steps of the run are written.
func asksForKeys() bool { return atomic.LoadUint64(&sectionGate.open) != 0 || isolation.writes }

// The operations below access a part of a slice: copy as many elements as the
// shorter operand has, append those behind the end.

// RN stands before an operation that reads the first n elements of s, or all
// if it has fewer. It returns s.
//
//go:norace
func RN[S ~[]E, E any](s S, n int, site uint32) S {
	if filter.bits != 0 {
		beforeFirst(*(*unsafe.Pointer)(unsafe.Pointer(&s)), unsafe.Sizeof(s[0]), n, len(s), site, 0)
	}
	return s
}

// WN stands before an operation that writes the first n elements of s, or all
// if it has fewer. It returns s.
//
//go:norace
func WN[S ~[]E, E any](s S, n int, site uint32) S {
	if filter.bits != 0 {
		beforeFirst(*(*unsafe.Pointer)(unsafe.Pointer(&s)), unsafe.Sizeof(s[0]), n, len(s), site, writes)
	}
	return s
}

// WA stands before n elements are appended to s. They are written behind the
// end of s if there is room; otherwise the elements of s are read, to be copied.
// It returns s.
//
//go:norace
func WA[S ~[]E, E any](s S, n int, site uint32) S {
	if filter.bits != 0 {
		beforeAppend(*(*unsafe.Pointer)(unsafe.Pointer(&s)), unsafe.Sizeof(s[0]), n, len(s), cap(s), site)
	}
	return s
}

// Len is len, for places where that name means something else.
func Len[S ~[]E, E any](s S) int { return len(s) }

//go:noinline
func beforeFirst(p unsafe.Pointer, size uintptr, n, length int, site uint32, m mode) {
	if n > length {
		n = length
	}
	before(p, uintptr(n)*size, site, m)
}

//go:noinline
func beforeAppend(p unsafe.Pointer, size uintptr, n, length, capacity int, site uint32) {
	switch {
	case n <= 0:
	case n <= capacity-length:
		before(unsafe.Add(p, uintptr(length)*size), uintptr(n)*size, site, writes)
	default:
		before(p, uintptr(length)*size, site, 0)
	}
}
