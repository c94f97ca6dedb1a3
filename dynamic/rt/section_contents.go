package rt

import (
	"sync/atomic"
	"unsafe"
)

// watchedWords is how many words of a variable are compared.
const watchedWords = 4

// contents is what a variable held: its first words. Two that are equal and in part only
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

// same reports whether a and b are known to be equal, all of them.
func same(a, b contents) bool { return a.known && !a.part && a == b }

// differ reports whether a and b are known to differ.
func differ(a, b contents) bool { return a.known && b.known && a != b }

// contentsOfLength stands for a whole map.
func contentsOfLength(n int) contents {
	return contents{known: true, part: true, present: true, size: 8, words: [watchedWords]uint64{uint64(n)}}
}

// test is what a test-and-use section tests of the value of its entry: one of the
// Test constants, or 0 where that is not known.
type test struct {
	kind    uint32
	operand int64
}

// differs reports whether the test has another outcome for b than for a.
func (t test) differs(a, b contents) bool {
	return t.kind != 0 && a.known && b.known && t.outcome(a) != t.outcome(b)
}

// isEmptiness reports whether the test of a length only tells 0 from more.
func (t test) isEmptiness() bool {
	outcome := func(n int) bool { return t.outcome(contentsOfLength(n)) }
	return outcome(0) != outcome(1) && outcome(1) == outcome(2)
}

// outcome makes the test of c.
func (t test) outcome(c contents) bool {
	v := c.words[0]
	if t.kind&TestLength != 0 {
		v = c.words[1]
	} else if t.kind&TestUnsigned == 0 { // as a number of its size
		shift := 64 - 8*min(c.size, 8)
		v = uint64(int64(v<<shift) >> shift)
	}
	switch t.kind &^ (TestUnsigned | TestLength) {
	case TestZero:
		return v == 0
	case TestPresent:
		return c.present
	case TestEqual:
		return v == uint64(t.operand)
	case TestLess:
		return t.kind&TestUnsigned == 0 && int64(v) < t.operand || t.kind&TestUnsigned != 0 && v < uint64(t.operand)
	case TestLessEqual:
		return t.kind&TestUnsigned == 0 && int64(v) <= t.operand || t.kind&TestUnsigned != 0 && v <= uint64(t.operand)
	}
	return false
}
