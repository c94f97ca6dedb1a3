package campaign

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/crossing"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// search goes through the places.
func (s *isolation) search(ctx context.Context) (*judge.Explained, error) {
	plain, err := s.run(ctx, "until=a0", 0)
	if err != nil || plain.Failed {
		return nil, err
	}
	places := s.places(plain.Reached)
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
	sites := maps.Clone(s.seen.Reached) // by other runs, in other orders
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

// failsAt returns the crossings that may be why the test fails if goroutines are held at the place: none if it passes.
func (s *isolation) failsAt(ctx context.Context, at arm.Visit, order int) ([]crossing.Crossing, error) {
	failed, err := s.failure(ctx, at, order)
	if failed == nil || err != nil {
		return nil, err
	}
	later := &judge.IsolatedRun{}
	if failed.Panicked != 0 {
		if later, err = s.passing(ctx, at); err != nil {
			return nil, err
		}
	}
	source := crossing.Source{IsOurs: s.isOurs, Variable: func(site uint32) plan.Variable {
		return s.cfg.Plan.Site(site).Variable
	}}
	found := crossing.Find(failed.Steps, later.Steps, source)
	if failed.Panicked != 0 {
		found = append(found, crossing.FindEarly(failed.Steps, later.Steps, failed.Panicked, source)...)
	}
	if len(found) == 0 {
		s.unclear[at]++
		s.noteStore(at, failed)
	}
	return found[:min(len(found), mostCrossings)], nil
}

// failure returns a run with its steps in which the test fails as goroutines are held at the place, or nil. The first
// run of the place has no steps: these take time.
func (s *isolation) failure(ctx context.Context, at arm.Visit, order int) (*judge.IsolatedRun, error) {
	failures := 0
	for n := 0; failures < fewFailures || n < fewFailures; n++ {
		what := judge.PauseAt(at, run.PauseLength)
		if n > 0 {
			what += ",steps=1"
		}
		r, err := s.run(ctx, what, order)
		if err != nil {
			return nil, err
		}
		if r.Held {
			s.visits[at.Place] = max(s.visits[at.Place], at.Nth, 1)
		}
		s.countAt(at, r)
		if r.Failed {
			failures++
			if s.test == "" && len(r.Tests) > 0 && s.choosesTest() {
				s.test = r.Tests[0]
			}
		}
		switch {
		case r.Failed && n > 0:
			return r, nil
		case 4*failures <= n:
			return nil, nil
		}
	}
	return nil, nil
}

// passing returns a run with its steps, in which goroutines go on at once at the place. A run that ends while they are
// held has no steps behind the place.
func (s *isolation) passing(ctx context.Context, at arm.Visit) (r *judge.IsolatedRun, err error) {
	for order := range orders {
		if r, err = s.run(ctx, judge.PauseAt(at, 0)+",steps=1", order); err != nil || !r.Failed && !r.Unusable {
			break
		}
	}
	return r, err
}
