//go:build (amd64 || arm64) && !plan9

package rt

import "testing"

// Only what can be read in one piece has a value.
func TestValue(t *testing.T) {
	words := [3]uint64{0x1122334455667788, 7, 9}
	keepShared = &words
	at := addrOf(&words)
	for _, tt := range []struct {
		offset, size uintptr
		want         uint64
		ok           bool
	}{
		{0, 8, 0x1122334455667788, true},
		{0, 4, 0x55667788, true},
		{4, 4, 0x11223344, true},
		{6, 2, 0x1122, true},
		{7, 1, 0x11, true},
		{4, 8, 0, false},
		{1, 2, 0, false},
		{0, 16, 0, false},
		{0, 3, 0, false},
	} {
		a := access{addr: at + tt.offset, size: tt.size}
		if v, ok := a.value(); v != tt.want || ok != tt.ok {
			t.Errorf("%d bytes at %d: got %#x, %v", tt.size, tt.offset, v, ok)
		}
	}
}

// A test of a length that only asks whether there is anything has nothing to do with a limit.
func TestEmptiness(t *testing.T) {
	for _, tt := range []struct {
		test test
		want bool
	}{
		{test{TestEqual, 0}, true},
		{test{TestLess, 1}, true},
		{test{TestLessEqual, 0}, true},
		{test{TestEqual, 1}, false},
		{test{TestLess, 2}, false},
		{test{TestLessEqual, 5}, false},
		{test{}, false},
	} {
		if got := tt.test.isEmptiness(); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.test, got, tt.want)
		}
	}
}
