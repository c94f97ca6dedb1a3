package rt_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// In a testing/synctest bubble the monitor neither moves the clock nor looks
// blocked, and still catches races.
func TestBubble(t *testing.T) {
	if err := os.CopyFS(filepath.Join(scratch, "bubble"), os.DirFS("testdata/bubble")); err != nil {
		t.Fatal(err)
	}
	binary, err := goCommand("bubble", "test", "-c", "-o", "bubble.test", ".")
	if err != nil {
		t.Fatal(err)
	}
	// A run may miss the race, so there are more of them until one has caught it.
	const most = 40
	hits, n := 0, 0
	for ; n < runs(t) || hits == 0 && n < most; n++ {
		seed := n
		r := &run{program: "-test.v", seed: seed}
		r.exec(t, binary)
		if r.code != 0 {
			t.Fatalf("seed %d: code %d\n%s%s", seed, r.code, r.stdout, r.stderr)
		}
		for _, rec := range r.races() {
			if rec.A.Site != 4 || rec.B.Site != 4 {
				t.Errorf("false race of sites %d and %d", rec.A.Site, rec.B.Site)
			}
			hits++
		}
	}
	t.Logf("caught in %d of %d runs", hits, n)
	if hits == 0 {
		t.Errorf("not caught in %d runs", n)
	}
}

// A sequential test holds no window: no other goroutine can reach it.
func TestSequentialTestIsLeftAlone(t *testing.T) {
	dir := filepath.Join(scratch, "sequential")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const source = `package sequential

import ("testing"; "interlock.invalid/rt")

var x int

func Test(t *testing.T) { for i := 0; i < 1000; i++ { *rt.W(&x, 1)++ } }

func TestMain(m *testing.M) { m.Run(); rt.Flush() }
`
	if err := os.WriteFile(filepath.Join(dir, "s_test.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	binary, err := goCommand("sequential", "test", "-c", "-o", "sequential.test", ".")
	if err != nil {
		t.Fatal(err)
	}
	r := &run{program: "-test.v"}
	r.exec(t, binary)
	if c := r.stats().Counters; c == nil || c.Slow == 0 || c.Windows != 0 {
		t.Errorf("counters %+v, want accesses and no window\n%s", c, r.stdout)
	}
}

// A module that is years old, and its toolchain's oldest language version,
// take the monitor.
func TestNoVetComplaint(t *testing.T) {
	cmd := exec.Command("go", "vet", ".")
	cmd.Dir = filepath.Join(scratch, "rt")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go vet of the module as delivered: %v\n%s", err, strings.TrimSpace(string(text)))
	}
}
