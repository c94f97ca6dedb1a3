package locks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/interlock-go/interlock/dynamic/rt/dump"
)

const stacks = "goroutine 1 [chan receive]:\ntesting.(*T).Run(0x1)\n\t/go/src/testing/testing.go:9 +0x1\n" +
	"main.main()\n\t_testmain.go:45 +0x9b\n\n" +
	"goroutine 7 [sleep]:\ntime.Sleep(0x1)\n\t/go/src/runtime/time.go:9 +0x1\n" +
	"interlock.invalid/rt/locks.acquire(0x1)\n\t/cache/rt/locks/calls.go:1 +0x1\nm.F(...)\n\t/m/m.go:3 +0x1\n\n" +
	"goroutine 8 [sync.WaitGroup.Wait]:\nsync.runtime_SemacquireWaitGroup(0x1)\n\t/go/src/runtime/sema.go:9 +0x1\n" +
	"m.(*Cache[...]).Get(0x1, {0x2, 0x3})\n\t/m/m.go:9 +0x1\ncreated by m.F in goroutine 7\n\t/m/m.go:4 +0x1\n"

// begin has DrFinder schedule by what one run has shown, in this process.
func begin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "relations")
	if err := os.WriteFile(file, []byte("depth 2\nlock 10 1\ntrigger 1 m.(*Cache[...]).Get\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	readRelations(file)
	finder.standard, finder.monitor = "/go/src/", "interlock.invalid/rt"
	t.Cleanup(func() {
		finder.on, finder.classes, finder.functions = false, nil, nil
		finder.held = [mostWaiting]waiting{}
		finder.escorted.Store(0)
	})
	if !finder.on || finder.depth != 2 || finder.classes[10] != "1" || !finder.functions["1"]["m.(*Cache[...]).Get"] {
		t.Fatal("the relations are not read")
	}
}

// The current function is the user's own, below those of the standard library and of the monitor.
func TestCurrentFunction(t *testing.T) {
	begin(t)
	for i, want := range []string{"", "m.F", "m.(*Cache[...]).Get"} {
		if got := currentFunction(dump.Goroutines(stacks)[i].Stack()); got != want {
			t.Errorf("goroutine %d is in %q, want %q", i, got, want)
		}
	}
}

// Where no goroutine but those that are held can go on, one of these is released; so is the one that waits for a
// goroutine which has left the function.
func TestThrashing(t *testing.T) {
	all := dump.Goroutines(stacks)
	for _, c := range []struct {
		what     string
		escorted int64
		running  string // state of goroutine 8
		released bool
	}{
		{"nobody can go on", 8, "sync.WaitGroup.Wait", true},
		{"the escorted one is at work", 8, "running", false},
		{"the escorted one has ended", 9, "running", true},
	} {
		begin(t)
		w := place(0)
		*w = waiting{goid: 7}
		finder.class, finder.asker = "1", 7
		finder.escorted.Store(c.escorted)
		all[2].State = c.running
		if releaseIdle(all); w.released != c.released {
			t.Errorf("%s: released %t, want %t", c.what, w.released, c.released)
		}
		*w = waiting{}
	}
}

// The goroutine that is escorted is so until it has acquired a lock of the class.
func TestEscort(t *testing.T) {
	begin(t)
	finder.class = "1"
	finder.escorted.Store(7)
	acquired(8, 10)
	acquired(7, 12)
	if finder.escorted.Load() != 7 {
		t.Error("the escort has ended without an acquisition of the class")
	}
	if acquired(7, 10); finder.escorted.Load() != 0 {
		t.Error("the escort has not ended with the acquisition")
	}
}
