package rt

import (
	"unsafe"

	"github.com/interlock-go/interlock/dynamic/rt/mapkey"
)

// An atomic section is watched by calls that rewritten code makes in this order:
//
//	v := *rt.Enter(rt.R(&x.n, 4), 4, 1, 0) // directly before the entry access
//	rt.Entered(1)                          // behind it
//	mu.Unlock()
//	rt.Gap(1)                              // where a remote access may come
//	mu.Lock()
//	*rt.End(rt.W(&x.n, 9), 9, 1, rt.AllowReads|rt.Writes) = v + 1
//	rt.Ended(1)                            // behind the end access
//
// Leave stands on each path that leaves the section without an end. Where the entry or
// an end lies in a callee, Arm or ArmEnd stands before the call, and Bind and Bound
// stand around the access inside. The test of a test-and-use section is reported at the
// access, by Tested, or by TestedAt in a callee:
//
//	if *rt.Tested(rt.Enter(rt.R(&x.n, 4), 4, 1, 0), 1, rt.TestLess, x.max) < x.max {
//
// A function that is left without a call, such as by a panic, leaves the section's
// record behind. The record is dropped at the goroutine's next entry or after a second,
// and never judged: an end counts only in the activation that has entered. Since a split
// may be why it panics, a remote write is recorded at once, and an end that only reads is
// judged before it reads.
//
// Recursion: the entry and the ends of an inner activation are passed by; the section
// ends where the outer one does. A circular section has one access as entry and end.
//
// A split is missed where the remote access is not monitored, where its goroutine tested
// the filter before the section was published, or where another section on the variable
// was open. A remote access counts from directly before it happens, so an owner that
// needs no lock for its end may reach that first. Only a split that changed something,
// or came between by its record, is certainly real: the values show it. A remote write
// that leaves the variable with its value at the entry is no split. Nor
// is one that comes when the owner may have handed over to others (HandOver): goroutines
// that the section starts, the other side of an iterator that is pulled, a worker that
// was sent a job. An owner that hands over by a store, and waits for the answer in a loop
// without a call, a send or a receive, is not noticed. A split is falsely
// reported as changed in one case: the section's own goroutine writes the variable by
// code that is not monitored, while a monitored remote write comes too late to be the
// cause. So no section may be opened if its goroutine hands out the variable's address in
// between.

// Flags of an access in a section: its mode, and the A set of an end.
const (
	AllowReads  uint32 = 1 << iota // remote reads may come before this end
	AllowWrites                    // remote writes may
	// OtherVariable: the end accesses another variable than the entry.
	// Only accesses to the variable of the entry split the section.
	OtherVariable
	// Writes: the access writes.
	Writes
	// Updates: it is a read-modify-write, such as x++ or Add: the old value is
	// used and not lost.
	Updates
	// Loose0 to Loose3 name those of the first four words of an entry's variable that may
	// differ although its value does not: the address of a string, say.
	Loose0
	Loose1
	Loose2
	Loose3
)

// looseWords returns the Loose flags as a set of words.
func looseWords(flags uint32) uint32 { return flags / Loose0 & (1<<watchedWords - 1) }

// accessMode returns the mode of an access with the flags.
func accessMode(flags uint32) mode {
	if flags&Writes != 0 {
		return writes
	}
	return 0
}

// Tests of a test-and-use section on the value of its entry; see Tested.
const (
	TestZero      uint32 = 1 // is it zero: nil, false, empty, a key that is not there
	TestPresent   uint32 = 2 // does the map have the key
	TestEqual     uint32 = 3 // is it equal to the operand
	TestLess      uint32 = 4
	TestLessEqual uint32 = 5
	// TestByCaller: the function returns the value that it has read, so that the caller
	// tests it; see TestedAt.
	TestByCaller uint32 = 6
	// TestUnsigned and TestLength are added to these: compare as unsigned, and compare
	// the length of a slice or string.
	TestUnsigned uint32 = 16
	TestLength   uint32 = 32
	// TestOnly is added where nothing but the test uses the value.
	TestOnly uint32 = 64
)

// integer is the type of an operand of a test.
type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// sectionGate is tested by the calls below. wanted is set at start, open under
// windowTable.mu; both are read plainly, as the filter is and for the same reasons.
var sectionGate struct {
	_      [64]byte
	wanted bool   // sections may be opened in this process
	turns  bool   // goroutines take turns at sections
	open   uint64 // bit i: sections[i] is taken
	_      [40]byte
}

// Turn stands ahead of the section: before the locks that lead to its entry.
//
//go:norace
func Turn(section uint32) {
	if sectionGate.turns {
		dispatch(hookTurn, section, 0, 0)
	}
}

// Enter stands before the access to *p, at the site, that begins the section. It
// returns p.
//
//go:norace
func Enter[T any](p *T, site, section, flags uint32) *T {
	if sectionGate.wanted {
		enter(unsafe.Pointer(p), unsafe.Sizeof(*p), site, section, flags)
	}
	return p
}

// Entered stands behind the access that begins the section, on each path that goes on.
//
//go:norace
func Entered(section uint32) {
	if sectionGate.open != 0 {
		dispatch(hookEntered, section, 0, 0)
	}
}

// Tested stands around Enter, or around a call in which the section begins, and reports
// the test of the section on the value that its entry reads. It returns v.
//
//go:norace
func Tested[V any, I integer](v V, section, test uint32, operand I) V {
	if sectionGate.open != 0 {
		dispatch(hookTested, section, test, int64(operand))
	}
	return v
}

// TestedAt stands around Bind in a function, and reports the test on the value read at the
// site that makes the function's result; sections of callers begin there. It returns v.
//
//go:norace
func TestedAt[V any, I integer](v V, site, test uint32, operand I) V {
	if sectionGate.open != 0 {
		dispatch(hookTestedAt, site, test, int64(operand))
	}
	return v
}

// Gap stands between two critical sections of the atomic section, or, if there
// are none, directly behind Entered. It makes noise.
//
//go:norace
func Gap(section uint32) {
	if sectionGate.open != 0 {
		dispatch(hookGap, section, 0, 0)
	}
}

// Between stands around a call in which the section begins, where an end is in the same statement: it is
// Entered and Gap at once. It returns v.
//
//go:norace
func Between[V any](v V, section uint32) V {
	if sectionGate.open != 0 {
		dispatch(hookBetween, section, 0, 0)
	}
	return v
}

// HandOver stands before a statement by which the goroutine may have others work for
// it and wait for them: it sends, receives, starts a goroutine, or calls a function that
// may do so. Accesses of others from there on may belong to the section.
//
//go:norace
func HandOver(section uint32) {
	if sectionGate.open != 0 {
		dispatch(hookHandOver, section, 0, 0)
	}
}

// End stands before the access to *p, at the site, that ends the section. It returns p.
//
//go:norace
func End[T any](p *T, site, section, flags uint32) *T {
	if sectionGate.open != 0 {
		end(unsafe.Pointer(p), unsafe.Sizeof(*p), site, section, flags)
	}
	return p
}

// Ended stands behind the access that ends the section, on each path that goes on.
//
//go:norace
func Ended(section uint32) {
	if sectionGate.open != 0 || sectionGate.turns {
		dispatch(hookEnded, section, 0, 0)
	}
}

// Leave stands on a path that leaves the section without an end: atomExit of AtomRace.
// Everything may interleave with it.
//
//go:norace
func Leave(section uint32) {
	if sectionGate.open != 0 || sectionGate.turns {
		dispatch(hookLeave, section, 0, 0)
	}
}

// Arm stands before a call in which the section begins, at the first access of
// the site.
//
//go:norace
func Arm(section, site uint32) {
	if sectionGate.wanted {
		dispatch(hookArm, section, site, 0)
	}
}

// ArmEnd stands before a call in which the section ends, behind the first access
// of the site. Ended stands behind the call.
//
//go:norace
func ArmEnd(section, site, flags uint32) {
	if sectionGate.open != 0 {
		dispatch(hookArmEnd, section, site, int64(flags))
	}
}

// Bind stands before the access to *p at a site in which sections of callers begin or
// end. It returns p.
//
//go:norace
func Bind[T any](p *T, site, flags uint32) *T {
	if sectionGate.open != 0 {
		bind(unsafe.Pointer(p), unsafe.Sizeof(*p), site, flags)
	}
	return p
}

// Bound stands behind the access that Bind stands before.
//
//go:norace
func Bound(site uint32) {
	if sectionGate.open != 0 {
		dispatch(hookBound, site, 0, 0)
	}
}

// The variable of a section over a map is the map and a key, or the whole map
// where the section tests the length or ranges. Each call returns the map. Where a section begins, at is
// where the map is kept, or nil: one that is not made yet is known by that.
// An access with a known key is announced by MRK and MWK, so that it splits the
// sections of no other key.

// EnterKey is Enter for the access to m[k]. The value of a write is not known.
//
//go:norace
func EnterKey[M ~map[K]V, K comparable, V any](m M, at *M, k K, site, section, flags uint32) M {
	if sectionGate.wanted {
		enterKey(m, at, k, site, section, flags)
	}
	return m
}

//go:noinline
func enterKey[M ~map[K]V, K comparable, V any](m M, at *M, k K, site, section, flags uint32) {
	if !mayEnter(section) {
		return
	}
	o := enterMap(mapPointer(m), unsafe.Pointer(at), mapkey.Of(k), site, section, flags)
	if o != nil && flags&Writes == 0 {
		o.setValue(element(m, k))
	}
}

// EnterMap is Enter for an access to the whole map, or to its length, or to a key that
// is not known.
//
//go:norace
func EnterMap[M ~map[K]V, K comparable, V any](m M, at *M, site, section, flags uint32) M {
	if sectionGate.wanted {
		enterWhole(m, at, site, section, flags)
	}
	return m
}

//go:noinline
func enterWhole[M ~map[K]V, K comparable, V any](m M, at *M, site, section, flags uint32) {
	if o := enterMap(mapPointer(m), unsafe.Pointer(at), 0, site, section, flags); o != nil && flags&Writes == 0 {
		o.setValue(contentsOfLength(len(m)))
	}
}

// EndKey is End for the access to m[k].
//
//go:norace
func EndKey[M ~map[K]V, K comparable, V any](m M, k K, site, section, flags uint32) M {
	if sectionGate.open != 0 {
		endKey(m, k, site, section, flags)
	}
	return m
}

//go:noinline
func endKey[M ~map[K]V, K comparable, V any](m M, k K, site, section, flags uint32) {
	if openHere(section) {
		endMap(mapPointer(m), mapkey.Of(k), element(m, k), len(m), site, section, flags)
	}
}

// EndMap is End for an access to the whole map, or to its length.
//
//go:norace
func EndMap[M ~map[K]V, K comparable, V any](m M, site, section, flags uint32) M {
	if sectionGate.open != 0 {
		endMap(mapPointer(m), 0, contents{}, len(m), site, section, flags)
	}
	return m
}

// Stored stands behind a store to m[k] at a site where sections end, before Ended or
// Bound, and reads the value.
//
//go:norace
func Stored[M ~map[K]V, K comparable, V any](m M, k K, site uint32) {
	if sectionGate.open != 0 {
		stored(m, k, site)
	}
}

//go:noinline
func stored[M ~map[K]V, K comparable, V any](m M, k K, site uint32) {
	if endsHere(site) {
		storedInMap(mapkey.Of(k), element(m, k), len(m), site)
	}
}

// BindKey is Bind for the access to m[k].
//
//go:norace
func BindKey[M ~map[K]V, K comparable, V any](m M, at *M, k K, site, flags uint32) M {
	if sectionGate.open != 0 {
		bindKey(m, at, k, site, flags)
	}
	return m
}

//go:noinline
func bindKey[M ~map[K]V, K comparable, V any](m M, at *M, k K, site, flags uint32) {
	if !bindsHere(site) {
		return
	}
	o := bindMap(mapPointer(m), unsafe.Pointer(at), mapkey.Of(k), element(m, k), len(m), site, flags)
	if o != nil {
		o.setValue(element(m, k))
	}
}

// BindMap is Bind for an access to the whole map, or to its length.
//
//go:norace
func BindMap[M ~map[K]V, K comparable, V any](m M, at *M, site, flags uint32) M {
	if sectionGate.open != 0 {
		bindWhole(m, at, site, flags)
	}
	return m
}

//go:noinline
func bindWhole[M ~map[K]V, K comparable, V any](m M, at *M, site, flags uint32) {
	if o := bindMap(mapPointer(m), unsafe.Pointer(at), 0, contents{}, len(m), site, flags); o != nil {
		o.setValue(contentsOfLength(len(m)))
	}
}

// mapPointer returns the address of the map's header.
func mapPointer[M ~map[K]V, K comparable, V any](m M) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&m))
}

// element returns the element of the map under the key. It is read where the program is
// about to access it as well.
func element[M ~map[K]V, K comparable, V any](m M, k K) contents {
	v, ok := m[k]
	return contentsOf(unsafe.Pointer(&v), unsafe.Sizeof(v), ok)
}

// hookKind names the call above that has been made.
type hookKind uint32

const (
	hookEntered hookKind = iota
	hookTested
	hookTestedAt
	hookGap
	hookBetween
	hookEnded
	hookLeave
	hookArm
	hookArmEnd
	hookBound
	hookHandOver
	hookTurn
	hookMeasure
)
