package leaks

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/rt/dump"
)

func FuzzQuote(f *testing.F) {
	f.Add("a\tb\n\"\\\x00é\xff\U0001F600\u2028")
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		err := json.Unmarshal(quote(nil, s), &got)
		if want := string([]rune(s)); err != nil || got != want {
			t.Errorf("%q: %q, %v", want, got, err)
		}
	})
}

// The test binary itself is the program under test, built with the profile.
func TestEnded(t *testing.T) {
	if os.Getenv("INTERLOCK_LEAKS") != "" {
		leave()
		Ended()
		return
	}
	dir := t.TempDir()
	binary, file := filepath.Join(dir, "leaks.test"), filepath.Join(dir, "leaks.jsonl")
	build := exec.Command("go", "test", "-c", "-o", binary, ".")
	build.Env = append(os.Environ(), "GOEXPERIMENT=goroutineleakprofile")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("this Go has no profile of leaked goroutines: %s", out)
	}
	run := exec.Command(binary, "-test.run=^TestEnded$")
	run.Env = append(os.Environ(), "INTERLOCK_LEAKS="+file, "INTERLOCK_RUN=3", "INTERLOCK_SEED=5")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, bad, err := evidence.Read(f)
	if err != nil || bad.Lines > 0 || len(records) != 1 {
		t.Fatalf("%d records, %d bad, %v", len(records), bad.Lines, err)
	}
	r := records[0]
	if r.Kind != evidence.Leak || r.Run != 3 || r.Seed != 5 || r.Leak.Hang ||
		!strings.Contains(r.Leak.Stack, "leave.func1") {
		t.Errorf("record %+v", r)
	}
}

// leave leaves one goroutine blocked for ever, one that a timer can wake, and one that
// the package can.
func leave() {
	never := make(chan int)
	go func() { never <- 1 }()
	soon := time.NewTimer(time.Hour)
	go func() { <-soon.C }()
	go func() { <-global }()
}

var global = make(chan int)

// Tests wait for each other where they and all that they have started are blocked, whatever the others do.
func TestAreIdle(t *testing.T) {
	const test = "goroutine 5 [chan receive]:\nm.TestX(0x1)\n\t/src/a_test.go:3\ntesting.tRunner(0x1)\n\t/go/t.go:1\n" +
		"created by testing.(*T).Run in goroutine 1\n\t/go/t.go:2\n\n"
	child := func(state, by string) string {
		return "goroutine 6 [" + state + "]:\nm.f()\n\t/src/a.go:3\ncreated by m.g in goroutine " + by + "\n\t/src/a.go:1\n\n"
	}
	for _, c := range []struct {
		name, dump string
		want       bool
	}{
		{"no test", child("sleep", "1"), false},
		{"alone", test, true},
		{"another one sleeps", test + child("sleep", "2"), true},
		{"its own sleeps", test + child("sleep", "5"), false},
		{"its own computes", test + child("runnable", "5"), false},
		{"its own reads", test + child("IO wait", "5"), false},
		{"its own waits for a lock", test + child("sync.Mutex.Lock", "5"), true},
		{"what its own has started sleeps",
			test + "goroutine 7 [sleep]:\nm.h()\n\t/src/a.go:8\ncreated by m.f in goroutine 6\n\t/src/a.go:3\n\n" +
				child("select", "5"), false},
		{"sleeps itself", strings.Replace(test, "chan receive", "sleep", 1), false},
	} {
		if got := areIdle(dump.Goroutines(c.dump)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// They are waited for as long again as all took before, and so much longer.
func TestWaitBeside(t *testing.T) {
	defer func(began time.Time, patience time.Duration) {
		state.began, state.patience, state.stood, state.waited = began, patience, stand{}, waiting{}
	}(state.began, state.patience)
	tests := map[string]string{"5": "m.TestX"}
	now := time.Now()
	state.began, state.patience = now.Add(-time.Minute), time.Second
	state.stood = stand{tests: tests, idle: true}
	stands := func(long time.Duration, looks, idle int) bool {
		state.waited = waiting{since: now.Add(-long), looks: looks, idle: idle}
		return waitBeside(tests)
	}
	switch {
	case stands(29*time.Second, 50, 50):
		t.Error("29 s of 60 are too few")
	case !stands(32*time.Second, 50, 50):
		t.Error("32 s of 60 are enough")
	case !stands(32*time.Second, 50, 46):
		t.Error("what a ticker wakes may be seen at work")
	case stands(32*time.Second, 50, 25):
		t.Error("what is at work half of the time may end the wait")
	}
	if state.patience = 0; stands(32*time.Second, 50, 50) {
		t.Error("nobody has asked")
	}
}
