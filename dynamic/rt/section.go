package rt

import "unsafe"

// An atomic section is watched by five calls, which rewritten code makes in
// this order:
//
//	v := *rt.Enter(rt.R(&x.n, 4), 4, 1) // directly before the entry access
//	rt.Entered(1)                       // directly behind it
//	mu.Unlock()
//	rt.Gap(1)                           // where a remote access may come
//	mu.Lock()
//	*rt.W(rt.EndWrite(&x.n, 9, 1, AllowReads), 9) = v + 1
//	rt.Ended(1)                         // directly behind the end access
//
// and Leave on the ways out that pass no end. A way out that calls nothing, such
// as a panic, leaves the section's record behind. It is dropped at the
// goroutine's next entry or after a second, and never judged: every end has an
// entry before it in the same activation.
//
// The entry is a read. A section whose entry or end is a map's is not for these
// calls: they know addresses, no keys. Recursion into an open section gives it up.
//
// A split is missed where the remote access is not monitored, or where its
// goroutine looked at the filter before the section was published. Changed may
// be said falsely in one case: the section's own goroutine writes the variable
// by code that is not monitored, while a monitored remote write comes too late
// to be the cause. So no section may be opened whose goroutine hands out the
// variable's address in between.

// Kinds of remote access that an end of a section allows: its A set.
const (
	AllowReads  uint32 = 1
	AllowWrites uint32 = 2
)

// gate is what the calls below test. wanted is set at start, open under table.mu;
// both are read plainly, as the filter is and for the same reasons.
var gate struct {
	_      [64]byte
	wanted bool   // sections may be opened in this process
	open   uint64 // bit i: sections[i] is published
	_      [48]byte
}

// Enter stands before the access of *p, at the site, that begins the section. It
// gives p back.
//
//go:norace
func Enter[T any](p *T, site, section uint32) *T {
	if gate.wanted {
		enter(unsafe.Pointer(p), unsafe.Sizeof(*p), site, section)
	}
	return p
}

// Entered stands behind the access that begins the section.
//
//go:norace
func Entered(section uint32) {
	if gate.open != 0 {
		entered(section)
	}
}

// Gap stands between two critical sections of the section, or directly behind
// Entered where there are none. Noise is made here.
//
//go:norace
func Gap(section uint32) {
	if gate.open != 0 {
		gap(section)
	}
}

// EndRead stands before the read of *p, at the site, that ends the section.
// allows is the end's A set. It gives p back.
//
//go:norace
func EndRead[T any](p *T, site, section, allows uint32) *T {
	if gate.open != 0 {
		end(unsafe.Pointer(p), site, section, allows, 0)
	}
	return p
}

// EndWrite stands before the write of *p, at the site, that ends the section.
// allows is the end's A set. It gives p back.
//
//go:norace
func EndWrite[T any](p *T, site, section, allows uint32) *T {
	if gate.open != 0 {
		end(unsafe.Pointer(p), site, section, allows, writes)
	}
	return p
}

// Ended stands behind the access that ends the section.
//
//go:norace
func Ended(section uint32) {
	if gate.open != 0 {
		ended(section)
	}
}

// Leave stands on a way out of the section that passes no end: atomExit of
// AtomRace. Everything may interleave with it.
//
//go:norace
func Leave(section uint32) {
	if gate.open != 0 {
		leave(section)
	}
}
