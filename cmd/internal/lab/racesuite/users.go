package racesuite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

// subset is a random part of the suite in a random order, on so many processors, with the verdicts on its functions.
type subset struct {
	seed       uint64
	processors int
	functions  []function
	exact      map[string]verdict
	race       []map[string]verdict
}

// raceRuns is how many runs of the race detector must report a function for the engine to have to.
const raceRuns = 3

// runAsUsers runs random subsets of the suite in random orders as users run tests: with several functions in one
// process, a race is reported once, and the test that runs then fails for it. Where each run of the race detector over
// the same subset reports a function, the engine must report it as well.
func runAsUsers(
	ctx context.Context, testdata, tmp string, files *files, o options,
) (text string, held bool, err error) {
	b, err := buildExact(ctx, testdata, tmp)
	if err != nil {
		return "", false, err
	}
	if b.race == "" {
		return "", false, errors.New(
			"-subsets compares the engine with -race, which does not build here: install a C compiler")
	}
	functions := matching(files.functions, o.match)
	var subsets []*subset
	for seed := range uint64(o.subsets) {
		for processors := 1; processors <= 2; processors++ {
			s := newSubset(functions, o.first+seed, processors)
			if err := s.runSubset(ctx, b); err != nil {
				return "", false, err
			}
			subsets = append(subsets, s)
			fmt.Fprintf(os.Stderr, "racesuite: subset %d of %d: %d functions, missed %q\n", len(subsets), 2*o.subsets,
				len(s.functions), s.missed())
		}
	}
	text, held = reportSubsets(subsets)
	return text, held, nil
}

// newSubset takes a share of the functions that differs from subset to subset.
func newSubset(functions []function, seed uint64, processors int) *subset {
	random := rand.New(rand.NewPCG(seed, 0))
	share := 0.1 + 0.9*random.Float64()
	return &subset{
		seed: seed, processors: processors,
		functions: slices.DeleteFunc(slices.Clone(functions), func(function) bool { return random.Float64() >= share }),
	}
}

// runSubset runs the subset under the engine once, and under the race detector.
func (s *subset) runSubset(ctx context.Context, b suiteBinaries) (err error) {
	names := make([]string, len(s.functions))
	for i, f := range s.functions {
		names[i] = f.name
	}
	args := []string{fmt.Sprintf("-test.run=^(%s)$", strings.Join(names, "|")), fmt.Sprintf("-test.shuffle=%d", s.seed)}
	processors := fmt.Sprintf("GOMAXPROCS=%d", s.processors)
	// The engine prints its reports, as the race detector does. A goroutine may make its access after its test has
	// returned, and the next test fails: the verdicts need the stacks of both sides.
	s.exact, err = suiteVerdicts(ctx, b.exact, b.dir, args, processors)
	for n := 0; n < raceRuns && err == nil; n++ {
		var race map[string]verdict
		race, err = suiteVerdicts(ctx, b.race, b.dir, args, processors)
		s.race = append(s.race, race)
	}
	return err
}

// countReported returns how many functions of a kind are reported by the engine, and by each run of the race detector.
func (s *subset) countReported(racy bool) (all, exact, race int) {
	for _, f := range s.functions {
		if f.racy != racy || s.exact[f.name] == skipped {
			continue
		}
		all++
		if s.exact[f.name] == reported {
			exact++
		}
		if s.inEachRace(f) {
			race++
		}
	}
	return all, exact, race
}

// inEachRace reports whether each run of the race detector has reported a function.
func (s *subset) inEachRace(f function) bool {
	return !slices.ContainsFunc(s.race, func(v map[string]verdict) bool { return v[f.name] != reported })
}

// missed returns the functions that the race detector reports each time and the engine does not.
func (s *subset) missed() []string {
	return s.namesOf(func(f function) bool { return s.inEachRace(f) && s.exact[f.name] != reported })
}

// alarms returns the clean functions that the engine reports and no run of the race detector does. In a process
// with others a clean function may fail for goroutines that an earlier one has left running.
func (s *subset) alarms() []string {
	return s.namesOf(func(f function) bool {
		inRace := slices.ContainsFunc(s.race, func(v map[string]verdict) bool { return v[f.name] == reported })
		return !f.racy && s.exact[f.name] == reported && !inRace
	})
}

func (s *subset) namesOf(is func(function) bool) (names []string) {
	for _, f := range s.functions {
		if is(f) {
			names = append(names, f.name)
		}
	}
	return names
}

// reportSubsets returns the document, and whether the engine has missed nothing and reported nothing clean.
func reportSubsets(subsets []*subset) (text string, held bool) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Random subsets of the race detector's own suite\n\nEach runs in a random order, in one process, "+
		"under the happens-before engine once and under `-race` %d times.\n", raceRuns)
	held = true
	var rows [][]string
	for _, s := range subsets {
		racy, exactRacy, raceRacy := s.countReported(true)
		clean, exactClean, _ := s.countReported(false)
		missed, alarms := s.missed(), s.alarms()
		held = held && len(missed)+len(alarms) == 0
		rows = append(rows, []string{
			fmt.Sprint(s.seed), fmt.Sprint(s.processors), fmt.Sprint(racy), fmt.Sprint(exactRacy), fmt.Sprint(raceRacy),
			strings.Join(missed, ", "), fmt.Sprint(clean), fmt.Sprint(exactClean), strings.Join(alarms, ", "),
		})
	}
	page.Table(&b, "Subsets", []string{
		"seed", "processors", "racy", "engine", "`-race` each time", "missed", "clean", "engine", "not by `-race`",
	}, rows)
	return b.String(), held
}
