package rt

import (
	"sync"
	"testing"
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

func TestOnStack(t *testing.T) {
	var local [64]byte
	shared := new([64]byte)
	keepShared = shared
	if !onStack(getg(), addrOf(&local[0])) || !onStack(getg(), addrOf(&local[63])) {
		t.Error("a local variable is not taken to be on the stack")
	}
	if onStack(getg(), addrOf(&shared[0])) || onStack(getg(), addrOf(&goidOffset)) {
		t.Error("a shared variable is taken to be on the stack")
	}
}
