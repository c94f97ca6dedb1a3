package p

import "unsafe"

var copyOfN = N // want read N global:N in init skip

type header struct {
	data uintptr
	p    unsafe.Pointer
}

func unsafely(h *header) {
	_ = unsafe.Pointer(h.data)        // want read h.data field:header.data in unsafely skip
	_ = uintptr(h.p)                  // want read h.p field:header.p in unsafely skip
	h.data = uintptr(h.p)             // want write h.data field:header.data in unsafely skip; read h.p field:header.p in unsafely skip
	h.data = uintptr(len(h.bytes()))  // want write h.data field:header.data in unsafely
	h.p = unsafe.Pointer(h)           // want write h.p field:header.p in unsafely
	_ = func() int { return N }() + 1 // want read N global:N in unsafely.func1
}

func (h *header) bytes() []byte { return nil }
