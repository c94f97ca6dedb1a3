package rt

import (
	"sync/atomic"
	"unsafe"
)

// filterMask returns the filter bits of accesses that may overlap [addr,
// addr+size), size > 0: one for each 8-byte granule of the range, and some
// below it, since an access is tested by its first granule only and may begin
// before the range.
func filterMask(addr, size uintptr) uint64 {
	const below = 3 // granules: strings, interfaces, slices
	first, last := addr>>3, (addr+size-1)>>3
	n := last - first + 1 + below
	if n >= 64 {
		return ^uint64(0)
	}
	run := uint64(1)<<n - 1
	shift := (first - below) & 63
	return run<<shift | run>>(64-shift)
}

// overlap reports whether two ranges share a byte. Sizes are not 0.
func overlap(a, asize, b, bsize uintptr) bool { return a < b+bsize && b < a+asize }

// mode is the kind of an access.
type mode uint32

const (
	writes     mode = 1 << iota // or reads and writes
	atomically                  // by sync/atomic
)

// conflicts reports whether accesses of modes m and n race unless ordered.
func (m mode) conflicts(n mode) bool { return (m|n)&writes != 0 && m&n&atomically == 0 }

// access is one access that is about to happen.
type access struct {
	addr, size uintptr // addr is that of package function address
	site       uint32
	mode       mode
	inMap      bool
	goid       int64
	key        uint64 // of a map's element, where it is known and asked for, or 0
}

// watchable reports whether another goroutine can come to the variable of a: it is
// not on the stack (see address), and it is there. An access by way of nil will panic.
func (a *access) watchable() bool {
	const firstPage = 4096 // nil and fields of nil
	return a.addr >= firstPage && a.size != 0
}

// siteState is the state of a site, in one word:
//
//	bits 0-31  due: when the site may hold its next window, in ticks (see ticks)
//	bits 32-39 level: how often its windows stayed quiet, more or less
//	bits 40-   flags
type siteState uint64

const (
	siteKnown      siteState = 1 << (40 + iota) // in the site table
	siteSuspicious                              // a static finding names it
	siteReached                                 // seen on the slow path
	siteArmed                                   // held a window
	siteNear                                    // an access of another goroutine came close, see notice
	siteCaught                                  // in a pair that was caught
	siteChosen                                  // noise is asked for here, or at its variable
)

// inWindow as due: a goroutine is in a window of the site, which it will settle.
const inWindow = ^uint32(0)

const maxLevel = 20

func (s siteState) due() uint32         { return uint32(s) }
func (s siteState) level() uint         { return uint(s>>32) & 0xff }
func (s siteState) is(f siteState) bool { return s&f != 0 }

func (s siteState) withDue(t uint32) siteState { return s&^0xffffffff | siteState(t) }

// withLevel returns s at level n, at most maxLevel.
func (s siteState) withLevel(n uint) siteState {
	return s&^(0xff<<32) | siteState(min(n, maxLevel))<<32
}

// ticks turns nanoseconds since the start into the unit of siteState.due,
// about a millisecond, never 0: 0 is "at once".
func ticks(ns int64) uint32 { return uint32(ns>>20) + 1 }

// visit is the last access seen in a granule, in one word: site, goroutine and mode.
// Goroutine and granule are shortened, so it is good for hints only.
//
//	bits 0-1   mode
//	bits 2-15  goroutine id, low bits
//	bits 16-39 site
//	bits 40-63 granule, low bits
type visit uint64

// maxSites bounds site ids, so that they fit a visit. They are dense.
const maxSites = 1 << 24

func makeVisit(granule uintptr, a *access) visit {
	return visit(granule)<<40 | visit(a.site&(maxSites-1))<<16 | visit(a.goid&0x3fff)<<2 | visit(a.mode)
}

func (v visit) site() uint32 { return uint32(v>>16) & (maxSites - 1) }

func (v visit) mode() mode { return mode(v & 3) }

// conflicts reports whether v and w look like conflicting accesses of one
// granule by two goroutines.
func (v visit) conflicts(w visit) bool {
	return v>>40 == w>>40 && v&0xfffc != w&0xfffc && v.mode().conflicts(w.mode())
}

// pairKey names an unordered pair of sites. It is not 0, since ids start at 1.
func pairKey(a, b uint32) uint64 { return uint64(min(a, b))<<32 | uint64(max(a, b)) }

// mix is the finaliser of splitmix64: a cheap bijection that looks random.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// watchedWords is how many words of a variable are compared.
const watchedWords = 4

// contents is the value of a variable: its first words. Two that are equal and in part only
// may differ behind that, so that equality of these means "nothing is known to differ".
type contents struct {
	known   bool // else it could not be read
	part    bool // there is more of it
	present bool // of a map's element: the key is there
	size    uintptr
	words   [watchedWords]uint64
}

// contentsOf reads a variable, which the caller is about to access as well.
//
//go:norace
func contentsOf(p unsafe.Pointer, size uintptr, present bool) contents {
	c := contents{known: true, present: present, size: size}
	c.part = size > 8 && (size > unsafe.Sizeof(c.words) || size&7 != 0)
	switch {
	case size == 8 && uintptr(p)&7 == 0:
		c.words[0] = atomic.LoadUint64((*uint64)(p))
	case size == 4 && uintptr(p)&3 == 0:
		c.words[0] = uint64(atomic.LoadUint32((*uint32)(p)))
	case size == 2 && uintptr(p)&1 == 0:
		c.words[0] = uint64(*(*uint16)(p))
	case size == 1:
		c.words[0] = uint64(*(*uint8)(p))
	case size > 8 && uintptr(p)&7 == 0:
		for i := range c.words {
			if uintptr(i)*8+8 <= size {
				c.words[i] = atomic.LoadUint64((*uint64)(unsafe.Add(p, 8*i)))
			}
		}
	default:
		c.known = false
	}
	return c
}

// contentsOfLength stands for a whole map.
func contentsOfLength(n int) contents {
	return contents{known: true, part: true, present: true, size: 8, words: [watchedWords]uint64{uint64(n)}}
}
