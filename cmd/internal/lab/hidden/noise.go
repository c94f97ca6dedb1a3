package hidden

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/testbin"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
)

// noiseOptions are those of `lab replays`.
type noiseOptions struct {
	dir, match, out            string
	every, runs, longer, tries int
	silent                     int
}

// RunReplays measures, over the same programs, how many bugs each kind of noise finds by probability, strength and
// number of processors (as Table 2 of Letko, Vojnar and Křena, AtomRace, 2008), how findings add up over runs (as
// Figure 4.1 of Letko's thesis), whether replays show findings again at the rate that they state, and whether correct
// programs stay silent. It reports whether they do, and whether every replay that states a rate shows its finding.
func RunReplays(ctx context.Context, args []string) (held bool, err error) {
	var o noiseOptions
	flags := flag.NewFlagSet("lab replays", flag.ExitOnError)
	flags.StringVar(&o.dir, "dir", filepath.Join("testdata", "hidden"), "module with the programs")
	flags.StringVar(&o.match, "match", "", "take tests whose name contains this `text` only")
	flags.IntVar(&o.every, "every", 6, "take one of so many programs for the tables of noise and of accumulated runs")
	flags.IntVar(&o.runs, "runs", 3, "runs of each program with each kind of noise; 0 makes no table")
	flags.IntVar(&o.longer, "accumulate", 20, "runs that add up; 0 makes no table")
	flags.IntVar(&o.tries, "replays", 10, "tries of each replay command; 0 makes no table")
	flags.IntVar(&o.silent, "silent", 0, "runs of each correct program; 0 makes none")
	flags.StringVar(&o.out, "o", "", "write the figures to this `file` too, as JSON")
	flags.Parse(args)

	programs, err := findPrograms(o.dir, o.match)
	if err != nil {
		return false, err
	}
	tmp, err := os.MkdirTemp("", "interlock-replays-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	tool, err := buildTool(ctx, tmp)
	if err != nil {
		return false, err
	}
	watch, err := testbin.BuildPlanned(ctx, o.dir, tool, testbin.Watch)
	if err != nil {
		return false, err
	}
	defer watch.Close()

	// Each table stands by itself.
	l := &noiseLab{noiseOptions: o, watch: watch, held: true}
	for _, p := range programs {
		if p.kind == clean {
			l.cleans = append(l.cleans, p)
		} else {
			l.bugs = append(l.bugs, p)
		}
	}
	for i := 0; i < len(l.bugs); i += max(o.every, 1) {
		l.chosen = append(l.chosen, l.bugs[i])
	}
	document := page.Head("Noise and replays", "replays", ". The programs are those of `testdata/hidden`, "+
		"campaigns as `interlock test -engine=watch`\nmakes them, with the flags that are named.")
	for _, table := range []struct {
		make func(context.Context) (string, error)
		of   int // 0 makes none
	}{{l.makeKindsTable, o.runs}, {l.accumulated, o.longer}, {l.replays, o.tries}, {l.silence, o.silent}} {
		if table.of == 0 {
			continue
		}
		text, err := table.make(ctx)
		if err != nil {
			return false, err
		}
		document += text
	}
	return l.held, page.Write(o.out, document)
}

// noiseLab has the programs and the options that the tables of noise are made from.
type noiseLab struct {
	noiseOptions
	watch        *testbin.Monitored
	bugs, cleans []*program
	chosen       []*program // of the bugs
	held         bool
}

// runProgram makes a campaign of a program.
func (l *noiseLab) runProgram(
	ctx context.Context, p *program, schedule string, q testbin.Request,
) ([]*finding.Finding, error) {
	where, err := arm.ParseHeuristic(l.watch.Plan, schedule, nil)
	if err != nil {
		return nil, err
	}
	q.Function, q.Timeout, q.Where, q.Auto = p.function(), timeout, where, where.Text == ""
	q.Seed = max(q.Seed, 1)
	r, _, err := l.watch.Run(ctx, q)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return r.Findings, nil
}

const kindsLegend = `
## Kinds of noise

In how many of %d runs (%d of each of %d programs, every %d. of the corpus) each kind of noise shows the bug.
random holds goroutines at accesses that are due, and contest lets them wait or yield at events; the probability is
that of -prob, of 1000, the strength that of -strength in microseconds. The right columns are numbers of processors.

| noise | probability | strength | 1 | 2 | 4 |
|---|---|---|---|---|---|
`

// makeKindsTable makes the table of AtomRace.
func (l *noiseLab) makeKindsTable(ctx context.Context) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, kindsLegend, l.runs*len(l.chosen), l.runs, len(l.chosen), l.every)
	for _, schedule := range []string{"random", "contest"} {
		for _, prob := range []int{100, 1000} {
			for _, strength := range []int{200, 2000, 20000} {
				fmt.Fprintf(&b, "| %s | %d | %d |", schedule, prob, strength)
				for _, cpus := range []int{1, 2, 4} {
					fmt.Fprintf(os.Stderr, "replays: %s, probability %d, strength %d, %d processors\n", schedule, prob, strength, cpus)
					n := 0
					for _, p := range l.chosen {
						found, err := l.runProgram(ctx, p, schedule,
							testbin.Request{Runs: l.runs, Prob: prob, Strength: strength, CPUs: cpus})
						if err != nil {
							return "", err
						}
						most := 0 // of its findings, the one that most runs show
						for _, f := range found {
							if p.isBug(f) {
								most = max(most, f.Evidence.Hits, 1)
							}
						}
						n += most
					}
					fmt.Fprintf(&b, " %d |", n)
				}
				b.WriteString("\n")
			}
		}
	}
	return b.String(), nil
}

const accumulatedLegend = `
## Accumulated runs

How many different confirmed findings the same %d programs have shown together, up to a run of each. New ones come less
and less often; what is flat has nothing more to show.

| up to run | %s |
|---|%s
`

// accumulated makes the table of the thesis.
func (l *noiseLab) accumulated(ctx context.Context) (string, error) {
	schedules := []string{"auto", "random", "contest"}
	known := make([][]int, len(schedules)) // findings that are first shown in each run, from 1
	for s, schedule := range schedules {
		known[s] = make([]int, l.longer+1)
		for _, p := range l.chosen {
			fmt.Fprintf(os.Stderr, "replays: %d runs of %s with %s\n", l.longer, p.function(), schedule)
			found, err := l.runProgram(ctx, p, schedule, testbin.Request{Runs: l.longer})
			if err != nil {
				return "", err
			}
			for _, f := range found {
				if f.Status == finding.Confirmed {
					known[s][min(max(f.Evidence.Run, 1), l.longer)]++
				}
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, accumulatedLegend, len(l.chosen), strings.Join(schedules, " | "),
		strings.Repeat("---|", len(schedules)))
	sums := make([]int, len(schedules))
	for run := 1; run <= l.longer; run++ {
		fmt.Fprintf(&b, "| %d |", run)
		for s := range schedules {
			sums[s] += known[s][run]
			fmt.Fprintf(&b, " %d |", sums[s])
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

const replaysLegend = `
## Replays

Each confirmed finding of a campaign of 10 runs states how many of %d tries of its replay command have shown it. The
command is then made %d times more, by itself. Of %d findings, %d state a rate of 3 in 4 or more, %d a lower one and %d
that no try has shown it. Stated: %d of %d tries; made again: %d of %d.

| test | finding | stated | again |
|---|---|---|---|
`

// replays makes the table of replay rates. A finding that states a rate in its command and never shows again is
// a miss.
func (l *noiseLab) replays(ctx context.Context) (string, error) {
	var rows strings.Builder
	var all, reliable, lower, none, stated, of, again, made int
	for _, p := range l.bugs {
		fmt.Fprintf(os.Stderr, "replays: replays of %s\n", p.function())
		found, err := l.runProgram(ctx, p, "auto", testbin.Request{Runs: 10, Replays: l.tries})
		if err != nil {
			return "", err
		}
		for _, f := range found {
			e := f.Evidence
			if f.Status != finding.Confirmed || e.ReplayRuns == 0 {
				continue
			}
			// The command once more, and the rates of both.
			hits, err := l.countReplays(ctx, f)
			if err != nil {
				return "", err
			}
			all, stated, of = all+1, stated+e.ReplayHits, of+e.ReplayRuns
			again, made = again+hits, made+l.tries
			switch {
			case e.ReplayHits == 0:
				none++
			case 4*e.ReplayHits >= 3*e.ReplayRuns:
				reliable++
				l.held = l.held && hits > 0
			default:
				lower++
			}
			fmt.Fprintf(&rows, "| %s | %s | %d of %d | %d of %d |\n",
				p.function(), f.Code, e.ReplayHits, e.ReplayRuns, hits, l.tries)
		}
	}
	head := fmt.Sprintf(replaysLegend, l.tries, l.tries, all, reliable, lower, none, stated, of, again, made)
	return head + rows.String(), nil
}

// countReplays returns in how many tries the replay command of f shows it.
func (l *noiseLab) countReplays(ctx context.Context, f *finding.Finding) (hits int, err error) {
	r, err := testbin.ParseReplay(f.Evidence.Replay)
	if err != nil {
		return 0, err
	}
	for range l.tries {
		shown, err := l.watch.Replay(ctx, r, timeout)
		if err != nil {
			return 0, err
		}
		if slices.ContainsFunc(shown.Findings, func(s *finding.Finding) bool {
			return s.Status == finding.Confirmed && s.Code == f.Code && sameLines(s, f)
		}) {
			hits++
		}
	}
	return hits, ctx.Err()
}

// sameLines reports whether two findings are about the same lines, whichever side each run has seen first.
func sameLines(a, b *finding.Finding) bool {
	lines := func(f *finding.Finding) []string {
		set := map[string]bool{}
		for _, x := range f.Accesses {
			set[fmt.Sprintf("%s:%d", x.File, x.Line)] = true
		}
		return slices.Sorted(maps.Keys(set))
	}
	return slices.Equal(lines(a), lines(b))
}

// silence runs the correct programs.
func (l *noiseLab) silence(ctx context.Context) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Correct programs\n\nFindings in %d runs of each, as interlock test makes them by default.\n\n"+
		"| test | findings |\n|---|---|\n", l.silent)
	for _, p := range l.cleans {
		fmt.Fprintf(os.Stderr, "replays: %d runs of %s\n", l.silent, p.function())
		found, err := l.runProgram(ctx, p, "auto", testbin.Request{Runs: l.silent})
		if err != nil {
			return "", err
		}
		for _, f := range found {
			fmt.Fprintf(os.Stderr, "replays: false alarm: %s %s: %s\n", f.Status, f.Code, f.Title)
		}
		l.held = l.held && len(found) == 0
		fmt.Fprintf(&b, "| %s | %d |\n", p.function(), len(found))
	}
	return b.String(), nil
}
