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
