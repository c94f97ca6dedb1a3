package judge

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/blocked"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/deadlock"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// ReplayOf is the run that has shown f first, by a plan if it had windows at places. The tests waited
// did so for ever in it.
func ReplayOf(
	cfg *run.Settings, strength int, windows map[string]time.Duration, f *finding.Finding, waited ...string,
) run.Replay {
	r := run.Replay{Pkg: f.Evidence.Test, Seed: f.Evidence.Seed, Strength: strength}
	switch {
	case f.Evidence.Blocked != "":
		r.Only, r.Held = windowsAt(slices.Sorted(maps.Keys(windows)), windows), true
	case f.Evidence.Error == "":
		var places []string
		for _, a := range f.Accesses[:min(3, len(f.Accesses))] { // of a split section, the access in between as well
			if at := a.Position.String(); !slices.Contains(places, at) {
				places = append(places, at)
			}
		}
		r.Only = windowsAt(places, windows)
	}
	r.Hold = locksOf(f)
	// Where no stack leads to a test, that which waited in the process is the one.
	test := TestOf(f)
	if test == "" && len(waited) == 1 {
		test = waited[0]
	}
	switch {
	case test != "" && !strings.Contains(strings.Join(run.GoFlags(cfg), " "), "-run="):
		r.Test = test
	case f.Evidence.Blocked != "":
		r.Hangs = strings.Join(append(waited, test), "|")
	}
	return r
}

// windowsAt lists places with the windows that a plan had there, as the command line has them.
func windowsAt(places []string, windows map[string]time.Duration) string {
	var all []string
	for _, at := range places {
		if length := windows[at]; length > 0 {
			at += fmt.Sprintf("@%dus", length.Microseconds())
		}
		all = append(all, at)
	}
	return strings.Join(all, ",")
}

// locksOf lists the places of locks between which a replay of a deadlock holds goroutines: where each one has acquired
// the lock that it holds, and where it waits for the next one. A writer that keeps readers out holds none, and one
// goroutine alone needs no other to come.
func locksOf(f *finding.Finding) string {
	if f.Evidence.Blocked != deadlock.Blocked || len(f.Accesses) == 1 {
		return ""
	}
	var places []string
	for _, h := range f.Evidence.Holders {
		places = append(places, h.Position.String())
	}
	for _, a := range f.Accesses {
		if len(a.Locks) > 0 {
			places = append(places, a.Position.String())
		}
	}
	slices.Sort(places)
	return strings.Join(slices.Compact(places), ",")
}

// replays sets in f the command that makes the run again which has shown it first, see [ReplayOf].
func (t *Tally) replays(
	cfg *run.Settings, strength int, windows map[string]time.Duration, f *finding.Finding, again func(*Tally) bool,
	waited ...string,
) {
	r := ReplayOf(cfg, strength, windows, f, waited...)
	f.Evidence.Replay = r.Command(cfg)
	t.Shown = append(t.Shown, Shown{f, r, again})
}

// testFunction matches the name of a test behind its package, or of a function literal in it; a method, as a suite of
// tests has them, is no test of package testing.
var testFunction = regexp.MustCompile(`^(Test|Fuzz|Example)([A-Z_0-9][A-Za-z0-9_]*)?(\.func[0-9.]*)?$`)

// TestOf returns the test function that all sides come from, as their stacks and go statements show it, or "".
// Goroutines that wait for ever beside a test that does belong to that test.
func TestOf(f *finding.Finding) string {
	var all, tests []*finding.Goroutine
	for _, a := range f.Accesses {
		if a.Goroutine == nil {
			continue
		}
		all = append(all, a.Goroutine)
		if f.Evidence.Blocked != "" && blocked.OfTest(a.Goroutine) {
			tests = append(tests, a.Goroutine)
		}
	}
	return cmp.Or(commonTest(tests), commonTest(all))
}

// commonTest returns the test function that all goroutines come from, or "".
func commonTest(goroutines []*finding.Goroutine) (test string) {
	for _, g := range goroutines {
		of := ""
		for _, frame := range slices.Concat(g.Stack, g.Created) {
			_, function := stacktext.SplitName(frame.Function)
			if m := testFunction.FindStringSubmatch(function); m != nil && strings.HasSuffix(frame.File, "_test.go") {
				of = m[1] + m[2]
			}
		}
		if of == "" || test != "" && of != test {
			return ""
		}
		test = of
	}
	return test
}
