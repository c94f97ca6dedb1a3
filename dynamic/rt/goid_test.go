package rt

import (
	"sync"
	"testing"
	"unsafe"
)

func TestGoid(t *testing.T) {
	findGoid()
	if goidOffset == 0 {
		t.Fatal("no offset was found at which runtime.g keeps the goroutine id")
	}
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			if got, want := goid(getg()), parsedGoid(); got != want {
				t.Errorf("goid = %d, runtime.Stack says %d", got, want)
			}
		})
	}
	wg.Wait()
}

// What two goroutines can reach is on the stack of neither.
func TestAddressOfAnother(t *testing.T) {
	var captured, sent int
	numbers, pointers := make(chan uintptr), make(chan *int)
	go func() {
		numbers <- address(unsafe.Pointer(&captured))
		numbers <- address(unsafe.Pointer(<-pointers))
	}()
	if there, here := <-numbers, address(unsafe.Pointer(&captured)); here == 0 || there != here {
		t.Errorf("a captured variable is at %#x here and at %#x in the other goroutine", here, there)
	}
	pointers <- &sent
	if there, here := <-numbers, address(unsafe.Pointer(&sent)); here == 0 || there != here {
		t.Errorf("a variable whose address was sent is at %#x here and at %#x in the other goroutine", here, there)
	}
}

// An address on the running goroutine's stack is no number, all others are theirs.
func TestAddress(t *testing.T) {
	var local [64]byte
	shared := new([64]byte)
	keepShared = shared
	if address(unsafe.Pointer(&local[0])) != 0 || address(unsafe.Pointer(&local[63])) != 0 {
		t.Error("a local variable is not taken to be on the stack")
	}
	if address(unsafe.Pointer(&shared[7])) != addrOf(&shared[7]) ||
		address(unsafe.Pointer(&goidOffset)) != addrOf(&goidOffset) {
		t.Error("a shared variable is taken to be on the stack")
	}
}

// With a release of Go that nobody has tried, every goroutine may be in a bubble.
func TestShowsBubbles(t *testing.T) {
	for release, want := range map[string]bool{
		"go1.21": true, "go1.26.8": true, "go1.27rc1": true, "go1.27.3 X:leakprofile": true, "devel go1.27-0a1b2c3": true,
		"go1.28": false, "go1.28rc1": false, "devel go1.28-0a1b2c3": false, "go1.100": false, "devel +0a1b2c3": false,
		"": false,
	} {
		if got := showsBubbles(release); got != want {
			t.Errorf("%q: %v, want %v", release, got, want)
		}
	}
}
