package campaign

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/crossing"
)

// A test that fails under noise alone, and that no finding explains, is run again with one pause at a time, until a
// place is found at which a goroutine has to be held for the test to fail. The steps of such a run show which accesses
// of other goroutines split its operation (package crossing). Then runs of three kinds decide whether the split is why
// the test fails, see [explained]. Tests that have not failed are tried as well, for a shorter time: noise at
// random may never have come into a section that a pause of this length finds at once.

const (
	// pauseLength is for how long a goroutine is held: long enough for whole operations of the others.
	pauseLength = 10 * time.Millisecond
	// orders is how many orders of the goroutines there are, by which of them begin late, see dynamic/rt. The search goes
	// through the places with each.
	orders = 4
	// fewFailures is in how many runs a test has to fail where it does so in the first one, and in each second one.
	fewFailures = 2
	// mostUnclear is how often a place is tried at which the test fails and nothing crosses.
	mostUnclear = 2
	// mostCrossings is how many are tried of one place.
	mostCrossings = 4
)

// isolation is the search for why the tests of a package fail.
type isolation struct {
	*campaign
	pkg     *PackageResult
	binary  build.Binary
	test    string // as a pattern: "" is all
	end     time.Time
	cpu     cpuLimit
	uses    map[uint64]LockUse
	runs    int
	tried   int
	unclear map[arm.Visit]int         // how often the test has failed by a pause there, and nothing crosses
	seenAt  map[arm.Visit]*failuresAt // of each place with a failing run
	visits  map[arm.Place]int         // the latest visit that a goroutine has made, in an order of the goroutines
}

// search goes through the places.
func (s *isolation) search(ctx context.Context) (*explained, error) {
	plain, err := s.run(ctx, "until=a0", 0)
	if err != nil || plain.failed {
		return nil, err
	}
	places := s.places(plain.reached)
	// One run of each place is made, and then another one of each, in another order of the goroutines.
	for round := range orders {
		s.visits = map[arm.Place]int{}
		for i, at := range places {
			if ctx.Err() != nil || s.isOver() {
				return nil, nil
			}
			s.progress(Event{Kind: Isolating, Run: round*len(places) + i + 1, Runs: orders * len(places),
				Package: s.pkg.Package})
			if s.unclear[at] >= mostUnclear || at.Nth > s.visits[at.Place]+1 {
				continue
			}
			crossings, err := s.failsAt(ctx, at, round)
			if err != nil {
				return nil, err
			}
			for _, x := range crossings {
				found, err := s.try(ctx, at, x, round)
				if found != nil || err != nil {
					return found, err
				}
			}
		}
	}
	return nil, nil
}

// isOver reports whether the search has used up its time.
func (s *isolation) isOver() bool { return time.Now().After(s.end) || s.cpu.isReached() }

// places lists where a goroutine may have to be held: first the acquisitions of locks, then the accesses, in the
// packages that the test has reached, and then later visits of these, as a function that is called twice in a section
// begins it and splits it at one place.
func (s *isolation) places(reached map[uint32]bool) (all []arm.Visit) {
	places := s.reachedPlaces(reached)
	for _, nth := range [...]int{0, 2, 3} {
		for _, p := range places {
			all = append(all, arm.Visit{Place: p, Nth: nth})
		}
	}
	return all
}

// reachedPlaces lists the places, those of static findings first.
func (s *isolation) reachedPlaces(reached map[uint32]bool) (all []arm.Place) {
	packages := map[string]bool{}
	sites := maps.Clone(s.seen.reached) // by other runs, in other orders
	maps.Copy(sites, reached)
	for id := range sites {
		if at := s.cfg.Plan.Site(id); at != nil {
			packages[at.Package] = true
		}
	}
	// Locks come first: few places are before one, and many bugs.
	for id, u := range s.uses {
		if acquires := u.Method == "Lock" || u.Method == "RLock"; acquires && packages[u.Package] && !isTestFile(u.File) {
			all = append(all, arm.Place{Use: id})
		}
	}
	slices.SortFunc(all, func(a, b arm.Place) int {
		p, q := s.uses[a.Use].Position, s.uses[b.Use].Position
		return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
	})
	for _, id := range slices.Sorted(maps.Keys(sites)) {
		if at := s.cfg.Plan.Site(id); at != nil && !isTestFile(at.File) {
			all = append(all, arm.Place{Site: id})
		}
	}
	// The functions of static findings are the most likely ones.
	suspected := s.suspectedFunctions()
	slices.SortStableFunc(all, func(a, b arm.Place) int {
		return cmp.Compare(suspected[s.functionAt(b)], suspected[s.functionAt(a)])
	})
	return all
}

// suspectedFunctions holds 1 for the functions, named with their package, in which a static finding has an access.
func (s *isolation) suspectedFunctions() map[string]int {
	suspected := map[string]int{}
	for i := range s.cfg.Plan.Sites {
		if at := &s.cfg.Plan.Sites[i]; at.Suspicious {
			suspected[at.Package+"."+at.Function] = 1
		}
	}
	return suspected
}

// functionAt returns the function that has a place, with its package.
func (s *isolation) functionAt(p arm.Place) string {
	if p.Use != 0 {
		return s.uses[p.Use].Package + "." + s.uses[p.Use].Function
	}
	at := s.cfg.Plan.Site(p.Site)
	return at.Package + "." + at.Function
}

func isTestFile(file string) bool { return strings.HasSuffix(file, "_test.go") }

// failsAt returns the crossings that may be why the test fails if goroutines are held at the place: none if it passes.
func (s *isolation) failsAt(ctx context.Context, at arm.Visit, order int) ([]crossing.Crossing, error) {
	failed, err := s.failure(ctx, at, order)
	if failed == nil || err != nil {
		return nil, err
	}
	later := &isolatedRun{}
	if failed.panicked != 0 {
		if later, err = s.passing(ctx, at); err != nil {
			return nil, err
		}
	}
	source := crossing.Source{IsOurs: s.isOurs, Variable: func(site uint32) plan.Variable {
		return s.cfg.Plan.Site(site).Variable
	}}
	found := crossing.Find(failed.steps, later.steps, source)
	if failed.panicked != 0 {
		found = append(found, crossing.FindEarly(failed.steps, later.steps, failed.panicked, source)...)
	}
	if len(found) == 0 {
		s.unclear[at]++
		s.noteStore(at, failed)
	}
	return found[:min(len(found), mostCrossings)], nil
}

// failure returns a run with its steps in which the test fails as goroutines are held at the place, or nil. The first
// run of the place has no steps: these take time.
func (s *isolation) failure(ctx context.Context, at arm.Visit, order int) (*isolatedRun, error) {
	failures := 0
	for n := 0; failures < fewFailures || n < fewFailures; n++ {
		what := pauseAt(at, pauseLength)
		if n > 0 {
			what += ",steps=1"
		}
		r, err := s.run(ctx, what, order)
		if err != nil {
			return nil, err
		}
		if r.held {
			s.visits[at.Place] = max(s.visits[at.Place], at.Nth, 1)
		}
		s.countAt(at, r)
		if r.failed {
			failures++
			if s.test == "" && len(r.tests) > 0 && s.choosesTest() {
				s.test = r.tests[0]
			}
		}
		switch {
		case r.failed && n > 0:
			return r, nil
		case 4*failures <= n:
			return nil, nil
		}
	}
	return nil, nil
}

// passing returns a run with its steps, in which goroutines go on at once at the place. A run that ends while they are
// held has no steps behind the place.
func (s *isolation) passing(ctx context.Context, at arm.Visit) (r *isolatedRun, err error) {
	for order := range orders {
		if r, err = s.run(ctx, pauseAt(at, 0)+",steps=1", order); err != nil || !r.failed && !r.unusable {
			break
		}
	}
	return r, err
}

// isOurs reports whether a file is one of the module, and not of its tests.
func (s *isolation) isOurs(file string) bool {
	return !isTestFile(file) && !filepath.IsAbs(userPath(&s.cfg.Settings, file))
}
