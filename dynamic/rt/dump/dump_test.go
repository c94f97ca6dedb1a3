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
