package campaign

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// frail is a module with a race and, beside it, a test that cannot stand noise.
const frail = `
-- go.mod --
module m

go 1.22
-- m.go --
package m

var n int

func Inc() { n++ }
-- m_test.go --
package m

import (
	"os"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"
)

func TestRace(t *testing.T) {
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			Inc()
		}()
	}
	wg.Wait()
}

func TestFrail(t *testing.T) {
	noise := regexp.MustCompile("strength=([0-9]+)").FindStringSubmatch(os.Getenv("INTERLOCK_NOISE"))
	if noise == nil {
		return
	}
	strength, _ := strconv.Atoi(noise[1])
	began := time.Now()
	for strength > 30 {
		HANG
	}
	_ = began
}
`

// A test that hangs under noise, or fails by a limit of its own, does not keep others
// from being tested: it runs by itself, with noise that it stands.
func TestFrailTestsAreSpared(t *testing.T) {
	for _, tt := range []struct {
		name, hang string
		cut        int
	}{
		{"hangs", "time.Sleep(time.Millisecond); time.Sleep(time.Hour)", 1}, // not runnable when it is stopped
		{"fails", `t.Fatalf("took too long: %v", time.Since(began))`, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			archive := strings.ReplaceAll(frail, "HANG", tt.hang)
			cfg := config(t, archive, nil)
			cfg.Runs, cfg.Seed, cfg.Tests.Floor = 8, 1, time.Second
			r := campaignOf(t, cfg)
			p := r.Packages[0]
			if !slices.Equal(p.Spared, []string{"TestFrail"}) || p.NotCompleted > 0 || p.Strength > 0 || p.Repeats != tt.cut {
				t.Errorf("%+v", p)
			}
			if len(r.Findings) != 1 {
				t.Errorf("%d findings, want the race in the other test", len(r.Findings))
			}
			if p.SparedStrength > 30 {
				t.Errorf("noise of %d us in runs of the spared test, which hangs or fails above 30", p.SparedStrength)
			}
		})
	}
}

// Flags of the user's say which tests there are, and a test that is alone is not spared.
func TestChosenTests(t *testing.T) {
	pkg := &run.Package{
		NotIn: run.NotIn{LeftOut: []string{"TestC"}},
		State: run.State{InSource: run.InSource{AllTests: []string{"TestA", "TestB", "TestC"}}},
	}
	for _, tt := range []struct {
		flags  []string
		want   []string
		spared bool
	}{
		{nil, []string{"TestA", "TestB"}, true},
		{[]string{"-test.run=A|C"}, []string{"TestA"}, false},
		{[]string{"-test.run=TestA/sub"}, []string{"TestA"}, false},
		{[]string{"-test.skip=B"}, []string{"TestA"}, false},
		{[]string{"-test.skip=B/sub", "-test.v=true"}, []string{"TestA", "TestB"}, true},
	} {
		c := &campaign{cfg: &settings{Settings: run.Settings{Tests: run.Tests{Flags: tt.flags}}, Series: Series{Runs: 8}}}
		if got := c.chosenTests(pkg); !slices.Equal(got, tt.want) {
			t.Errorf("with %q: %q, want %q", tt.flags, got, tt.want)
		}
		one := *pkg
		if late := one; c.spare(&late, 8, []string{"TestA"}, 100) {
			t.Error("TestA is spared although no run of it is left")
		}
		if got := c.spare(&one, 3, []string{"TestA"}, 100); got != tt.spared || len(one.Spared) > 0 != tt.spared {
			t.Errorf("with %q: TestA is spared: %v, want %v", tt.flags, got, tt.spared)
		}
	}
}
