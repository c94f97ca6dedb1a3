package rt

import "unsafe"

// An atomic section is watched by calls that rewritten code makes in this order:
//
//	v := *rt.Enter(rt.R(&x.n, 4), 4, 1) // directly before the entry access
//	rt.Entered(1)                       // behind it
//	mu.Unlock()
//	rt.Gap(1)                           // where a remote access may come
//	mu.Lock()
//	*rt.EndWrite(rt.W(&x.n, 9), 9, 1, rt.AllowReads) = v + 1
//	rt.Ended(1)                         // behind the end access
//
// and Leave on the ways out that pass no end. Where the entry or an end lies in a
// callee, Arm or ArmEnd stands before the call, and BindRead, BindWrite and Bound
// around the access inside.
//
// A way out that calls nothing, such as a panic, leaves the section's record
// behind. It is dropped at the goroutine's next entry or after a second, and
// never judged: an end counts only in the activation that has entered. Since a
// panic may be what a split has led to, that a remote write has come is written
// at once, and an end that only reads is judged before it does.
//
// Recursion: an inner activation's entry and ends are passed by; the section ends
// where the outer one does. A circular section has one access as entry and end.
//
// A split is missed where the remote access is not monitored, where its
// goroutine looked at the filter before the section was published, or where
// another section on the variable was open. A remote access counts from directly
// before it happens: an owner that needs no lock for its end may come to that in
// between. Only a split that changed something, or is said to be between, is
// certainly none of these: the values show it. A remote write after which the
// variable holds what it held at the entry is no split, nor is one that comes when
// the owner may have handed over to others (HandOver): goroutines that the section
// starts, the other side of an iterator that is pulled, a worker that has been sent
// a job. What the owner may not do without a call, a send or a receive is to hand
// over by a store, and to ask in a loop of its own until it is answered. Changed may
// be said falsely in one case: the section's own goroutine writes the variable
// by code that is not monitored, while a monitored remote write comes too late
// to be the cause. So no section may be opened whose goroutine hands out the
// variable's address in between.

// Kinds of remote access that an end of a section allows: its A set.
const (
	AllowReads  uint32 = 1
	AllowWrites uint32 = 2
	// OtherVariable says that the end is an access to another variable than the
	// entry. What splits the section is still access to that of the entry.
	OtherVariable uint32 = 4
	// Updates says that the end is a read-modify-write, such as x++ or Add: what
	// it finds is built upon and not lost.
	Updates uint32 = 16
)

// What a test-and-use section asks of the value of its entry; see Tested.
const (
	TestZero      uint32 = 1 // is it zero: nil, false, empty, a key that is not there
	TestPresent   uint32 = 2 // does the map have the key
	TestEqual     uint32 = 3 // is it equal to the operand
	TestLess      uint32 = 4
	TestLessEqual uint32 = 5
	// Unsigned and Length are added to these: compare as unsigned, and compare
	// the length of a slice or string.
	TestUnsigned uint32 = 16
	TestLength   uint32 = 32
)

// gate is what the calls below test. wanted is set at start, open under table.mu;
// both are read plainly, as the filter is and for the same reasons.
var gate struct {
	_      [64]byte
	wanted bool   // sections may be opened in this process
	open   uint64 // bit i: sections[i] is taken
	_      [48]byte
}

// Enter stands before the read of *p, at the site, that begins the section. It
// gives p back.
//
//go:norace
func Enter[T any](p *T, site, section uint32) *T {
	if gate.wanted {
		enter(unsafe.Pointer(p), unsafe.Sizeof(*p), site, section, 0)
	}
	return p
}

// EnterWrite is Enter for a write.
//
//go:norace
func EnterWrite[T any](p *T, site, section uint32) *T {
	if gate.wanted {
		enter(unsafe.Pointer(p), unsafe.Sizeof(*p), site, section, writes)
	}
	return p
}

// Entered stands behind the access that begins the section, on every way on.
//
//go:norace
func Entered(section uint32) {
	if gate.open != 0 {
		hook(hookEntered, section, 0, 0)
	}
}

// Tested stands behind Entered and says what the section asks of the value that
// its entry has read.
//
//go:norace
func Tested(section, test uint32, operand int64) {
	if gate.open != 0 {
		hook(hookTested, section, test, operand)
	}
}

// Loose stands behind Entered and says which of the first four words of the entry's
// variable, as bits, may differ although its value does not: the address of a text, say.
//
//go:norace
func Loose(section, words uint32) {
	if gate.open != 0 {
		hook(hookLoose, section, words, 0)
	}
}

// Gap stands between two critical sections of the section, or directly behind
// Entered where there are none. Noise is made here.
//
//go:norace
func Gap(section uint32) {
	if gate.open != 0 {
		hook(hookGap, section, 0, 0)
	}
}

// HandOver stands before a statement by which the goroutine may have others work for
// it and wait for them: it sends, receives, starts a goroutine, or calls what may do
// so. Who comes to the variable from there on may belong to the section.
//
//go:norace
func HandOver(section uint32) {
	if gate.open != 0 {
		hook(hookHandOver, section, 0, 0)
	}
}

// EndRead stands before the read of *p, at the site, that ends the section.
// allows is the end's A set. It gives p back.
//
//go:norace
func EndRead[T any](p *T, site, section, allows uint32) *T {
	if gate.open != 0 {
		end(unsafe.Pointer(p), unsafe.Sizeof(*p), site, section, allows)
	}
	return p
}

// EndWrite is EndRead for a write.
//
//go:norace
func EndWrite[T any](p *T, site, section, allows uint32) *T {
	if gate.open != 0 {
		end(unsafe.Pointer(p), unsafe.Sizeof(*p), site, section, allows|endWrites)
	}
	return p
}

// Ended stands behind the access that ends the section, on every way on.
//
//go:norace
func Ended(section uint32) {
	if gate.open != 0 {
		hook(hookEnded, section, 0, 0)
	}
}

// Leave stands on a way out of the section that passes no end: atomExit of
// AtomRace. Everything may interleave with it.
//
//go:norace
func Leave(section uint32) {
	if gate.open != 0 {
		hook(hookLeave, section, 0, 0)
	}
}

// Arm stands before a call in which the section begins, at the first access of
// the site.
//
//go:norace
func Arm(section, site uint32) {
	if gate.wanted {
		hook(hookArm, section, site, 0)
	}
}

// ArmEnd stands before a call in which the section ends, behind the first access
// of the site. Ended stands behind the call.
//
//go:norace
func ArmEnd(section, site, allows uint32) {
	if gate.open != 0 {
		hook(hookArmEnd, section, site, int64(allows))
	}
}

// BindRead stands before the read of *p at a site in which sections of callers
// begin or end. It gives p back.
//
//go:norace
func BindRead[T any](p *T, site uint32) *T {
	if gate.open != 0 {
		bind(unsafe.Pointer(p), unsafe.Sizeof(*p), site, 0)
	}
	return p
}

// BindWrite is BindRead for a write.
//
//go:norace
func BindWrite[T any](p *T, site uint32) *T {
	if gate.open != 0 {
		bind(unsafe.Pointer(p), unsafe.Sizeof(*p), site, endWrites)
	}
	return p
}

// BindUpdate is BindRead for a read-modify-write.
//
//go:norace
func BindUpdate[T any](p *T, site uint32) *T {
	if gate.open != 0 {
		bind(unsafe.Pointer(p), unsafe.Sizeof(*p), site, endWrites|Updates)
	}
	return p
}

// Bound stands behind the access that BindRead or BindWrite stands before.
//
//go:norace
func Bound(site uint32) {
	if gate.open != 0 {
		hook(hookBound, 0, site, 0)
	}
}
