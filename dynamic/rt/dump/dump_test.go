package dump

import "testing"

const text = "goroutine 1 [running]:\nmain.main()\n\t/x/main.go:3 +0x1\n\n" +
	"goroutine 7 gp=0x1 m=nil [chan send (leaked), 2 minutes]:\np.f(...)\n\t/x/p.go:9\n" +
	"testing.tRunner(0x1, 0x2)\n\t/go/testing.go:1\n\n" +
	"goroutine 8 [sync.RWMutex.RLock]:\np.g(...)\n\t/x/p.go:12\n\nno goroutine\n"

func TestGoroutines(t *testing.T) {
	all := Goroutines(text)
	if len(all) != 3 {
		t.Fatalf("%d goroutines, want 3: %v", len(all), all)
	}
	if g := all[0]; g.ID != "1" || g.State != "running" || g.IsTest() || !g.Wakes() || g.InLock() {
		t.Errorf("first: %+v", g)
	}
	if g := all[1]; g.ID != "7" || g.State != "chan send (leaked), 2 minutes" || !g.IsTest() || g.Wakes() || g.InLock() {
		t.Errorf("second: %+v", g)
	}
	if g := all[2]; g.Wakes() || !g.InLock() {
		t.Errorf("third: %+v", g)
	}
}

func TestParentAndListens(t *testing.T) {
	all := Goroutines("goroutine 7 [IO wait]:\ninternal/poll.runtime_pollWait(0x1)\n\t/go/netpoll.go:3\n" +
		"net.(*netFD).accept(0x2)\n\t/go/fd.go:9\ncreated by m.Serve in goroutine 5\n\t/src/a.go:4\n\n" +
		"goroutine 8 [IO wait]:\nos.(*File).Read(0x1)\n\t/go/file.go:3\nm.read()\n\t/src/a.go:9\n\n" +
		"goroutine 9 [chan receive]:\nnet.(*netFD).accept(0x2)\n\t/go/fd.go:9\ncreated by m.init.0\n\t/src/a.go:4")
	for i, want := range []struct {
		parent  string
		listens bool
	}{{"5", true}, {"", false}, {"", false}} {
		if g := &all[i]; g.Parent() != want.parent || g.Listens() != want.listens {
			t.Errorf("%s: parent %q, listens: %v, want %v", g.ID, g.Parent(), g.Listens(), want)
		}
	}
}
