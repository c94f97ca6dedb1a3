package rt_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/dynamic/evidence"
)

// split is what a record of one holds.
type split = evidence.SplitSection

// splits returns the splits that a program's runs with the seeds 1 to n leave, and
// in how many of the runs there was one that meets the condition.
func splits(t *testing.T, program string, n int, condition func(*split) bool) (all []*split, runs int) {
	t.Helper()
	for seed := 1; seed <= n; seed++ {
		r := (&run{program: program, seed: seed, env: []string{"INTERLOCK_SECTIONS=1"}}).do(t)
		r.expectClean(t)
		if len(r.races()) != 0 {
			t.Errorf("%s, seed %d: a race under a lock", program, seed)
		}
		met := false
		for _, rec := range r.records {
			if rec.Kind == evidence.Split {
				all = append(all, rec.Split)
				met = met || condition(rec.Split)
			}
		}
		if met {
			runs++
		}
	}
	return all, runs
}

// Race-free lost updates and tests that no longer hold are caught, with what
// they changed.
func TestSplitChanged(t *testing.T) {
	for program, pattern := range map[string]string{
		"splitLostUpdate": "R-w-W", "splitTestAndUse": "R-w-R", "splitRecursive": "R-w-W",
		"splitKey": "R-w-W", "splitCallees": "R-w-W", "splitLength": "R-w-W", "splitPanics": "R-w-R",
		"splitLazily": "R-w-W", "splitReturned": "R-w-W", "splitInOne": "R-w-W",
		"splitEntry": "R-w-W", "splitEntryAbsent": "R-w-W",
	} {
		all, runs := splits(t, program, 10, func(s *split) bool { return s.Changed })
		if runs < 4 {
			t.Errorf("%s: caught with a changed outcome in %d of 10 runs, want 4", program, runs)
		}
		for _, s := range all {
			stores := slices.Contains([]string{"splitLostUpdate", "splitKey", "splitLazily", "splitCallees", "splitLength",
				"splitInOne", "splitEntry", "splitEntryAbsent"}, program)
			if s.Changed && stores && (s.Stored == nil || slices.Equal(s.Replaced, s.Stored)) {
				t.Errorf("%s: changed, but %v was there, and %v is stored", program, s.Replaced, s.Stored)
			}
			if s.Pattern() != pattern || s.Section != 1 || s.Entry.Site != 1 || s.End.Site != 2 {
				t.Errorf("%s: %s of section %d from site %d to %d", program, s.Pattern(), s.Section, s.Entry.Site, s.End.Site)
			}
			// Where the end is in a callee, its stack shows that.
			if callee := map[string]string{"splitInOne": "store(", "splitCallees": "put("}[program]; !strings.Contains(
				s.End.Stack, callee) {
				t.Errorf("%s: the stack of the end lacks %s:\n%s", program, callee, s.End.Stack)
			}
			for side, name := range map[*evidence.Side]string{s.Entry: "main.(*", s.Remote: "main.", s.End: "main.(*"} {
				header := "goroutine " + strconv.FormatInt(side.GID, 10) + " "
				if !strings.Contains(side.Stack, header) || !strings.Contains(side.Stack, name) {
					t.Errorf("%s: the stack of goroutine %d lacks %s:\n%s", program, side.GID, name, side.Stack)
				}
			}
		}
	}
}

// Where goroutines take turns at a section, nobody splits it.
func TestTurns(t *testing.T) {
	for seed := 1; seed <= 3; seed++ {
		env := []string{"INTERLOCK_SECTIONS=1", "INTERLOCK_TURNS=2,1+3"}
		r := (&run{program: "splitLostUpdate", seed: seed, env: env}).do(t)
		r.expectClean(t)
		if s := r.stats(); len(s.Ended) == 0 || len(s.OutOfTurn) != 0 {
			t.Errorf("seed %d: ended %+v, out of turn %+v", seed, s.Ended, s.OutOfTurn)
		}
		for _, rec := range r.records {
			if rec.Kind == evidence.Split {
				t.Errorf("seed %d: %+v", seed, rec.Split)
			}
		}
	}
}

// Sections that are entered more often than the monitor can watch are counted.
func TestUnwatched(t *testing.T) {
	r := (&run{program: "splitLostUpdate", seed: 1, env: []string{"INTERLOCK_SECTIONS=1"}}).do(t)
	r.expectClean(t)
	s := r.stats()
	if len(s.Ended) != 1 || len(s.Unwatched) != 1 || s.Unwatched[0].Section != 1 {
		t.Fatalf("ended %+v, unwatched %+v", s.Ended, s.Unwatched)
	}
	if all := s.Ended[0].Times + s.Unwatched[0].Times; s.Ended[0].Times > 400 || all < 300 {
		t.Errorf("%d ended and %d unwatched of 400 entries", s.Ended[0].Times, s.Unwatched[0].Times)
	}
}

// Goroutines that overwrite a value with the same split the section, but change
// nothing after the first time.
func TestSplitIdempotent(t *testing.T) {
	all, runs := splits(t, "splitIdempotent", 10, func(*split) bool { return true })
	if runs < 4 {
		t.Errorf("split in %d of 10 runs, want 4", runs)
	}
	for _, s := range all {
		if s.Changed {
			t.Errorf("a store of the same value is said to change the outcome: %+v", s)
		}
		if s.Stored == nil || !slices.Equal(s.Replaced, s.Stored) {
			t.Errorf("%v was there, and %v is stored; want the same", s.Replaced, s.Stored)
		}
	}
}

// A read-modify-write loses nothing that came in between, nor does a store that
// builds on another read. A caller that tests something else than what its callee has
// read tests nothing of the variable.
func TestSplitUpdate(t *testing.T) {
	for _, program := range []string{"splitUpdate", "splitAgain", "splitNotReturned"} {
		all, runs := splits(t, program, 10, func(*split) bool { return true })
		if runs < 4 {
			t.Errorf("%s: split in %d of 10 runs, want 4", program, runs)
		}
		for _, s := range all {
			if s.Changed {
				t.Errorf("%s: an update in between is said to change the outcome: %+v", program, s)
			}
		}
	}
}

// The counters say which ends the owners have come to.
func TestEnded(t *testing.T) {
	r := (&run{program: "wholeOneRegion", seed: 1, env: []string{"INTERLOCK_SECTIONS=1-3"}}).do(t)
	r.expectClean(t)
	ended := r.stats().Ended
	if len(ended) != 1 || ended[0].Section != 1 || ended[0].Site != 2 || ended[0].Times == 0 {
		t.Errorf("ended %+v, want section 1 at site 2", ended)
	}
}

// The access that ends a circular section begins it again.
func TestSplitCircular(t *testing.T) {
	for _, program := range []string{"splitCircular", "splitCircularCallee"} {
		all, runs := splits(t, program, 10, func(s *split) bool { return s.Pattern() == "R-w-R" })
		if runs < 4 {
			t.Errorf("%s: split in %d of 10 runs, want 4", program, runs)
		}
		for _, s := range all {
			if s.Entry.Site != 1 || s.End.Site != 1 || s.Remote.Site != 3 {
				t.Errorf("%s: %+v", program, s)
			}
		}
	}
}

// Two variables are one section: what comes to the first before the second is
// read splits it.
func TestSplitTwoFields(t *testing.T) {
	all, runs := splits(t, "splitTwoFields", 10, func(s *split) bool { return s.Pattern() == "R-w-R" && s.Between })
	if runs < 4 {
		t.Errorf("split in %d of 10 runs, want 4", runs)
	}
	for _, s := range all {
		if s.Entry.Addr == s.End.Addr || s.Remote.Addr != s.Entry.Addr || s.Changed {
			t.Errorf("%+v", s)
		}
	}
}

// A test of the length that comes out the same all along has not changed.
func TestSplitWithRoom(t *testing.T) {
	all, _ := splits(t, "wholeRoom", 5, func(*split) bool { return true })
	for _, s := range all {
		if s.Changed {
			t.Errorf("there was room all along, and yet the outcome is said to be another: %+v", s)
		}
	}
}

// What is tested alone, and is taken farther from another result in between, is as good as one step; what comes nearer
// to it is not, although the test would not have come out otherwise yet.
func TestSplitHarmless(t *testing.T) {
	for program, serial := range map[string]bool{"splitHarmless": true, "splitShared": false} {
		all, runs := splits(t, program, 10, func(*split) bool { return true })
		if runs < 4 {
			t.Errorf("%s: split in %d of 10 runs, want 4", program, runs)
		}
		for _, s := range all {
			if s.Serial != serial || s.Changed {
				t.Errorf("%s: serial %v, changed %v, want %v and false", program, s.Serial, s.Changed, serial)
			}
		}
	}
}

// Nothing is said of sections that nobody can split, that are left, or whose
// remote accesses are of other objects.
func TestNoSplit(t *testing.T) {
	for _, program := range []string{"wholeOneRegion", "wholeInOne", "wholeLeft", "wholePanics", "wholeExits",
		"wholeLeftBehind",
		"wholeTwoFields", "wholeOtherObjects", "wholeOtherKeys", "wholeLazily", "wholeNested",
		"wholeSameValue", "wholeChangedBack", "wholeReads", "wholeFailedCompareAndSwap", "wholeSwapSame", "wholeAddNothing",
		"wholeOrAnd", "wholeReturned",
		"wholeOtherEntries", "wholeEntryStoredSame", "wholeEntryFailedSwap", "wholeEntryThere", "wholeRange",
		"wholeStoreSame", "wholeDeleteAbsent", "wholeStoreThere", "wholeClearEmpty",
		"wholeDropped", "wholeForkJoin", "wholeForksNested", "wholePull", "wholeWorker",
		"wholeTurns",
	} {
		n := 2
		if os.Getenv("INTERLOCK_TEST_RUNS") != "" {
			n = runs(t)
		}
		if all, _ := splits(t, program, n, func(*split) bool { return false }); len(all) != 0 {
			t.Errorf("%s: %d splits, first %+v", program, len(all), all[0])
		}
	}
}

// A read between two writes sees what no order of the goroutines would show.
func TestSplitByRead(t *testing.T) {
	all, runs := splits(t, "splitReads", 10, func(s *split) bool { return s.Pattern() == "W-r-W" && s.Between })
	if runs < 4 {
		t.Errorf("split in %d of 10 runs, want 4", runs)
	}
	for _, s := range all {
		if s.Changed {
			t.Errorf("a read is said to change the outcome: %+v", s)
		}
	}
}

// What a key holds behind a section's first store is not known, so that nothing is
// known to have changed.
func TestSplitWriteKey(t *testing.T) {
	all, _ := splits(t, "splitWriteKey", 5, func(*split) bool { return true })
	for _, s := range all {
		if s.Between || s.Changed || s.Pattern() != "W-w-W" {
			t.Errorf("a store of the same value is said to come in between: %s, %+v", s.Pattern(), s)
		}
	}
}

// Of an entry of a sync.Map that cannot be compared, it is not known that another one has come.
func TestSplitEntryOfSlices(t *testing.T) {
	all, runs := splits(t, "splitEntryOfSlices", 3, func(*split) bool { return true })
	changed := 0 // the first store makes an entry
	for _, s := range all {
		if s.Changed && s.Replaced != nil {
			changed++
		}
	}
	if changed > 0 || runs == 0 {
		t.Errorf("%d of %d splits are said to have changed one slice into another; %d runs", changed, len(all), runs)
	}
}

// A text that is stored again lies elsewhere, and is the same.
func TestSplitText(t *testing.T) {
	all, runs := splits(t, "splitText", 3, func(*split) bool { return true })
	for _, s := range all {
		if s.Between || s.Changed {
			t.Errorf("a store of the same text is said to come in between: %+v", s)
		}
	}
	if runs == 0 {
		t.Error("no store has come")
	}
}

// A write counts while what it wrote is there.
func TestSplitAndChangedBack(t *testing.T) {
	between := func(s *split) bool { return s.Pattern() == "R-w-R" && s.Between }
	if _, runs := splits(t, "splitAndChangedBack", 10, between); runs < 4 {
		t.Errorf("split in %d of 10 runs, want 4", runs)
	}
}

// A planted violation makes a program wrong that is right.
func TestPlanted(t *testing.T) {
	for plant, code := range map[string]int{"": 0, "INTERLOCK_PLANT=2": 3} {
		r := (&run{program: "counts", seed: 1, env: []string{plant}}).do(t)
		if r.code != code || r.stderr != "" {
			t.Errorf("%q: exit code %d, want %d; %s", plant, r.code, code, r.stderr)
		}
	}
	r := (&run{program: "counts", seed: 1, env: []string{"INTERLOCK_PLANT=99999"}}).do(t)
	if r.code != 0 || !strings.Contains(r.stderr, "INTERLOCK_PLANT is no site") {
		t.Errorf("a site that is not there: exit code %d, %s", r.code, r.stderr)
	}
}

// Sections that were not asked for are not opened.
func TestSectionsNotWanted(t *testing.T) {
	for _, env := range []string{"", "INTERLOCK_SECTIONS=2"} {
		r := (&run{program: "splitLostUpdate", seed: 1, env: []string{env}}).do(t)
		r.expectClean(t)
		for _, rec := range r.records {
			if rec.Kind == evidence.Split {
				t.Errorf("%q: %+v", env, rec.Split)
			}
		}
	}
}
