package rt

import "unsafe"

// The operations below access a part of a slice: copy as many elements as the
// shorter operand has, append those behind the end.

// RN stands before an operation that reads the first n elements of s, or all
// if it has fewer. It gives s back.
//
//go:norace
func RN[S ~[]E, E any](s S, n int, site uint32) S {
	if filter.bits != 0 {
		beforeFirst(*(*unsafe.Pointer)(unsafe.Pointer(&s)), unsafe.Sizeof(s[0]), n, len(s), site, 0)
	}
	return s
}

// WN stands before an operation that writes the first n elements of s, or all
// if it has fewer. It gives s back.
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
// It gives s back.
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
