//go:build (amd64 || arm64) && !plan9

package rt

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// Linger waits for goroutines that the tests have left behind, no longer than it has to
// and not for ever, and changes no result.
func TestLinger(t *testing.T) {
	withEngine(t)
	out.path = filepath.Join(t.TempDir(), "evidence")
	defer func() { out.path = "" }()
	start -= int64(time.Minute) // as if the tests had taken so long
	const limit = 100 * time.Millisecond
	linger := func(before int) (took time.Duration) {
		begin := time.Now()
		if code := Linger(before, 3); code != 3 {
			t.Errorf("Linger returns %d, want the 3 that the tests returned", code)
		}
		return time.Since(begin)
	}
	before := Goroutines()
	for range 10 { // those of other tests may be about to end
		time.Sleep(5 * time.Millisecond)
		before = min(before, Goroutines())
	}

	shortest := time.Hour // the machine may be busy
	for range 10 {
		shortest = min(shortest, linger(before))
	}
	if shortest >= limit/2 {
		t.Errorf("took %v where no goroutine was left", shortest)
	}

	ended := make(chan bool, 1)
	go func() {
		time.Sleep(5 * time.Millisecond)
		ended <- true
	}()
	if linger(before); len(ended) != 1 {
		t.Error("Linger has not waited for a goroutine that ends soon")
	}

	release := make(chan bool)
	go func() { <-release }()
	if took := linger(before); took < limit || took > 50*limit {
		t.Errorf("took %v where a goroutine stays, want about %v", took, limit)
	}
	close(release)
	for runtime.NumGoroutine() > before {
		runtime.Gosched()
	}
}
