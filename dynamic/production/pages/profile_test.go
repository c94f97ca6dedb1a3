package pages

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/dynamic/production/status"
)

// pprof returns what pprof prints of the profile of some races, without the spaces at the ends of lines.
func pprof(t *testing.T, races []status.Race, flags ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds pprof")
	}
	f := off()
	f.races = races
	got := f.do("GET", Prefix+"pprof")
	if kind := got.Header().Get("Content-Type"); got.Code != 200 || kind != "application/octet-stream" {
		t.Fatalf("%d, %s", got.Code, kind)
	}
	file := filepath.Join(t.TempDir(), "races")
	if err := os.WriteFile(file, got.Body.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", append(append([]string{"tool", "pprof"}, flags...), file)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(string(out), "")
}

// both are the sides of a race: a read in g, called by h, and a write in f.
func both() []status.Side {
	read := side
	read.Labels = []status.Label{{Key: "job", Value: "<1>"}}
	read.Write, read.Goroutine = false, 8
	read.Frames = []status.Frame{{Function: "main.g", File: "b.go", Line: 9}, {Function: "main.h", File: "b.go", Line: 3}}
	return []status.Side{read, side}
}

// Both stacks of a race are samples, with what the other one is as a label; a change that a race explains is none.
func TestProfile(t *testing.T) {
	alone := side
	alone.Frames = []status.Frame{{Function: "main.h", File: "b.go", Line: 5}}
	got := pprof(t, []status.Race{
		{Count: 7, How: status.Clock, Sides: both()},
		{Count: 3, How: status.Changed, Sides: []status.Side{side}},
		{Count: 2, How: status.Changed, Sides: []status.Side{alone}},
	}, "-raw")
	const want = `Samples:
races/count accesses/count[dflt]
          7          7: 1 2
                access:[Read] job:[<1>] other:[Write at main.f a.go:3] side:[later]
          0          7: 3
                access:[Write] other:[Read at main.g b.go:9] side:[earlier]
          2          2: 4
                access:[Write] other:[not seen]
Locations
     1: 0x0 M=1 main.g b.go:9:0 s=0
     2: 0x0 M=1 main.h b.go:3:0 s=0
     3: 0x0 M=1 main.f a.go:3:0 s=0
     4: 0x0 M=1 main.h b.go:5:0 s=0
`
	if !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// The list of pprof has both places, and the sum of the later accesses is how often races were seen.
func TestProfileTop(t *testing.T) {
	races := []status.Race{{Count: 300, How: status.Clock, Sides: both()}}
	for values, want := range map[string][]string{
		"accesses": {" of 600 total$", "^ +300 .* main\\.g$", "^ +300 .* main\\.f$"},
		"races":    {" of 300 total$", "^ +300 .* main\\.g$"},
	} {
		got := pprof(t, races, "-top", "-sample_index="+values)
		for _, line := range want {
			if !regexp.MustCompile("(?m)" + line).MatchString(got) {
				t.Errorf("%s: no %q in %s", values, line, got)
			}
		}
		if values == "races" && strings.Contains(got, "main.f") {
			t.Errorf("the earlier access counts: %s", got)
		}
	}
}

// A watch that has found nothing has a profile without samples.
func TestProfileEmpty(t *testing.T) {
	if got := pprof(t, nil, "-raw"); !strings.Contains(got, "races/count accesses/count[dflt]\nLocations\n") {
		t.Errorf("got %s", got)
	}
}
