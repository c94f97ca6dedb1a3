package racesuite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/exact"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/dynamic/hb"
)

// verdict is that of a detector on a function of the suite.
type verdict int

const (
	silent verdict = iota
	reported
	skipped
)

// suiteBinaries are the suite built under the happens-before engine and, where there is a C compiler for it, under the
// race detector; race is "" elsewhere.
type suiteBinaries struct{ dir, exact, race string }

func buildExact(ctx context.Context, testdata, tmp string) (b suiteBinaries, err error) {
	// The suite is built where it lies: one of its files imports an internal package.
	b.dir = testdata
	sources, err := filepath.Glob(filepath.Join(testdata, "*_test.go"))
	if err != nil {
		return b, err
	}
	sources = slices.DeleteFunc(sources, func(file string) bool { return strings.HasPrefix(filepath.Base(file), "cgo_") })
	flags, err := exact.Flags(ctx, tmp)
	if err != nil {
		return b, err
	}
	build := func(name, cgo string, flags ...string) (string, error) {
		binary := filepath.Join(tmp, name)
		args := slices.Concat([]string{"test", "-c", "-vet=off", "-o", binary}, flags, sources)
		_, err := command.Go(ctx, testdata, []string{"CGO_ENABLED=" + cgo}, args...)
		return binary, err
	}
	fmt.Fprintln(os.Stderr, "racesuite: building the suite, and the standard library under the engine")
	if b.exact, err = build("exact.test", "0", flags...); err != nil {
		return b, err
	}
	if race, err := build("race.test", "1", "-race"); err == nil {
		b.race = race
	}
	return b, nil
}

// runExact runs the suite under the happens-before engine, o.runs times, and beside it under the
// race detector, where there is a C compiler for it: all functions in one process, one processor, and no
// pair of places reported once only, as the distribution does. It reports whether the engine is right
// about every function in every run, or about the clean ones where it samples.
func runExact(ctx context.Context, testdata, tmp string, files *files, o options) (text string, held bool, err error) {
	b, err := buildExact(ctx, testdata, tmp)
	if err != nil {
		return "", false, err
	}
	var runs []map[string]verdict
	for range o.runs {
		env := append(o.sampling.Env(), oneProcessor, "INTERLOCK_HB=repeats")
		verdicts, err := suiteVerdicts(ctx, b.exact, testdata, nil, env...)
		if err != nil {
			return "", false, err
		}
		runs = append(runs, verdicts)
	}

	// The race detector's column stays empty where it cannot be built.
	var race map[string]verdict
	if b.race != "" {
		race, err = suiteVerdicts(ctx, b.race, testdata, nil, oneProcessor,
			"GORACE=suppress_equal_stacks=0 suppress_equal_addresses=0")
		if err != nil {
			return "", false, err
		}
	}
	text, held = reportExact(matching(files.functions, o.match), runs, race, files.leftOut, o.sampling)
	return text, held, nil
}

// ownEnds are ends of a process that say nothing of the engine. TestRaceWaitGroupReuse sleeps 50 ms between its
// steps, which is too little on a busy machine. Where two racy accesses of a map are made at the same moment on two
// processors, the runtime notices. TestRaceChanCloseSend sends on a channel that another goroutine may have closed.
var ownEnds = []string{
	"panic: send on closed channel",
	"panic: sync: WaitGroup is reused before previous Wait has returned",
	"fatal error: concurrent map ",
}

const ownEndsTries = 10

// oneProcessor is how the distribution runs the suite.
const oneProcessor = "GOMAXPROCS=1"

// suiteVerdicts runs functions of the suite, all if no arguments choose some, and returns the verdict on each.
func suiteVerdicts(
	ctx context.Context, binary, dir string, args []string, env ...string,
) (map[string]verdict, error) {
	var out []byte
	for n := range ownEndsTries {
		cmd := exec.CommandContext(ctx, binary, append(args, "-test.v")...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), env...)
		var err error
		out, err = cmd.CombinedOutput()
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			return nil, err
		}
		if !slices.ContainsFunc(ownEnds, func(end string) bool { return strings.Contains(string(out), end) }) {
			break
		}
		fmt.Fprintf(os.Stderr, "racesuite: a function ended the process itself in try %d\n", n+1)
	}
	if !strings.Contains(string(out), "ALL TESTS COMPLETE") {
		return nil, fmt.Errorf("the suite did not run to its end: %.2000s", out[max(0, len(out)-2000):])
	}
	return verdictsOf(string(out)), nil
}

// raceFailure is how package testing fails a test in which a race was reported.
const raceFailure = "race detected during execution of test"

// verdictsOf returns the verdict of a run's output on each function. A report that names functions of the suite in its
// stacks is of those, wherever it stands: a goroutine may make the second access when its test has returned, so that
// the report is printed, and the next test fails.
func verdictsOf(out string) map[string]verdict {
	verdicts := map[string]verdict{}
	var named []string
	for _, part := range strings.Split(out, "=== RUN   ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		reports := strings.Split(text, "WARNING: DATA RACE")[1:]
		own := len(reports) == 0 && strings.Contains(text, raceFailure)
		for _, report := range reports {
			report, _, _ = strings.Cut(report, "\n==================")
			of := stackFunction.FindAllStringSubmatch(report, -1)
			for _, m := range of {
				named = append(named, m[1])
			}
			own = own || len(of) == 0
		}
		switch {
		case strings.Contains(text, "--- SKIP: "+name):
			verdicts[name] = skipped
		case own:
			verdicts[name] = reported
		default:
			verdicts[name] = silent
		}
	}
	for _, name := range named {
		verdicts[name] = reported
	}
	return verdicts
}

// stackFunction is a function of the suite in a stack, or a function literal in one.
var stackFunction = regexp.MustCompile(`\.(Test\w+)[.(]`)

// row is a file of the suite, or all: how many functions there are, and how many of them are
// reported, by the engine in all its runs (racy ones) or in some (clean ones), and by the race detector.
type row struct{ racy, exactRacy, raceRacy, clean, exactClean, raceClean, skipped int }

func (r *row) addRun(f function, exact []map[string]verdict, race map[string]verdict) {
	count := func(to *int, yes bool) {
		if yes {
			*to++
		}
	}
	hit := func(v map[string]verdict) bool { return v[f.name] == reported }
	switch {
	case exact[0][f.name] == skipped:
		r.skipped++
	case f.racy:
		r.racy++
		count(&r.exactRacy, !slices.ContainsFunc(exact, func(v map[string]verdict) bool { return !hit(v) }))
		count(&r.raceRacy, hit(race))
	default:
		r.clean++
		count(&r.exactClean, slices.ContainsFunc(exact, hit))
		count(&r.raceClean, hit(race))
	}
}

// formatCells returns the row as a line of the table.
func (r *row) formatCells(name string, raced bool) string {
	racy, clean := "-", "-"
	if raced {
		racy, clean = fmt.Sprint(r.raceRacy), fmt.Sprint(r.raceClean)
	}
	return fmt.Sprintf("| %s | %d | %d | %s | %d | %d | %s | %d |\n",
		name, r.racy, r.exactRacy, racy, r.clean, r.exactClean, clean, r.skipped)
}

func reportExact(
	functions []function, exact []map[string]verdict, race map[string]verdict, leftOut map[string]string, s hb.Sampling,
) (text string, held bool) {
	var b strings.Builder
	b.WriteString(page.Head("The race detector's own suite, under the happens-before engine", "hbsuite", fmt.Sprintf(
		`: the functions of
`+"`runtime/race/testdata`"+` in the Go distribution, run as the distribution runs them, with CGO_ENABLED=0:
all in one process with one processor, %d times. A racy function counts as reported where every run reports it, a clean
one where any run does. Beside it stands what the race detector reports in one run.`, len(exact))))
	if s != (hb.Sampling{}) {
		fmt.Fprintf(&b, "- the engine records %v, so that it misses races\n", s)
	}
	for _, name := range slices.Sorted(maps.Keys(leftOut)) {
		fmt.Fprintf(&b, "- left out: %s, which %s\n", name, leftOut[name])
	}
	b.WriteString("\n| file | racy | engine | `-race` | clean | engine | `-race` | skip themselves |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")

	// One line a file, in the order of the files, and one for all.
	var all row
	rows := map[string]*row{}
	var order []string
	for _, f := range functions {
		if rows[f.file] == nil {
			rows[f.file] = new(row)
			order = append(order, f.file)
		}
		rows[f.file].addRun(f, exact, race)
		all.addRun(f, exact, race)
	}
	for _, file := range order {
		b.WriteString(rows[file].formatCells(file, race != nil))
	}
	b.WriteString(all.formatCells("**all**", race != nil))

	// The functions that the engine is wrong about, by name.
	for _, f := range functions {
		var one row
		one.addRun(f, exact, race)
		if one.racy != one.exactRacy && s == (hb.Sampling{}) || one.exactClean > 0 {
			fmt.Fprintf(&b, "\nWrong: %s in %s.\n", f.name, f.file)
		}
	}
	return b.String(), (all.racy == all.exactRacy || s != (hb.Sampling{})) && all.exactClean == 0
}
