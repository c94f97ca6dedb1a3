package hidden

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/testbin"
)

// RunReplays measures whether replay commands show the findings of campaigns again at the rate that they state. It
// reports whether every command that states a rate of 3 in 4 or more shows its finding.
func RunReplays(ctx context.Context, args []string) (held bool, err error) {
	t := matrix.New("replays")
	dir := t.Flags.String("dir", filepath.Join("testdata", "hidden"), "module with the programs")
	match := t.Flags.String("match", "", "take programs whose name contains this `text` only")
	tries := t.Flags.Int("tries", 10, "tries of each replay command")
	return t.Run(args, func(tmp string) (string, bool, error) {
		programs, err := findPrograms(*dir, *match)
		if err != nil {
			return "", false, err
		}
		b := newBuilds(*dir, tmp, programs)
		defer b.close()
		watch, err := b.binaryWith(ctx, testbin.Watch)
		if err != nil {
			return "", false, err
		}
		r := &replays{watch: watch, tries: *tries, held: true}
		for _, p := range programs {
			if p.isClean() {
				continue
			}
			t.Say("%s", p)
			if err := r.addProgram(ctx, p); err != nil {
				return "", false, err
			}
		}
		return r.markdown(), r.held, nil
	})
}

// replays has the rates of the replay commands.
type replays struct {
	watch *testbin.Monitored
	tries int
	held  bool

	rows                  [][]string
	reliable, lower, none int // commands, by the rate that they state
	stated, of            int // tries that the commands state, and those that showed the finding
	again                 int // of as many tries as there are rows times tries
}

const replaysLegend = `
Each confirmed finding of a campaign of 10 runs states how many of %d tries of its replay command have shown it. The
command is then made %d times more, by itself. Of %d findings, %d state a rate of 3 in 4 or more, %d a lower one and %d
that no try has shown it. Stated: %d of %d tries; made again: %d of %d.
`

func (r *replays) markdown() string {
	var b strings.Builder
	b.WriteString(page.Head("Replays", "replays", ". The programs are those of `testdata/hidden`, "+
		"campaigns as `interlock test -engine=watch`\nmakes them."))
	fmt.Fprintf(&b, replaysLegend, r.tries, r.tries, len(r.rows), r.reliable, r.lower, r.none, r.stated, r.of,
		r.again, r.tries*len(r.rows))
	page.Table(&b, "Rates", []string{"test", "finding", "stated", "again"}, r.rows)
	return b.String()
}

// addProgram makes a campaign of a program, and the replays of each confirmed finding.
func (r *replays) addProgram(ctx context.Context, p *program) error {
	found, _, err := r.watch.Run(ctx, testbin.Request{
		Folder: p.folder, Function: p.function, Runs: 10, Seed: 1, Timeout: timeout, Auto: true, Replays: r.tries,
	})
	if err != nil {
		return err
	}
	for _, f := range found.Findings {
		e := f.Evidence
		if f.Status != finding.Confirmed || e.ReplayRuns == 0 {
			continue
		}
		// The command itself, beside the rate that it states.
		hits, err := r.countReplays(ctx, f)
		if err != nil {
			return err
		}
		r.stated, r.of, r.again = r.stated+e.ReplayHits, r.of+e.ReplayRuns, r.again+hits
		switch {
		case e.ReplayHits == 0:
			r.none++
		case 4*e.ReplayHits >= 3*e.ReplayRuns:
			r.reliable++
			r.held = r.held && hits > 0
		default:
			r.lower++
		}
		r.rows = append(r.rows, []string{p.String(), string(f.Code), fmt.Sprintf("%d of %d", e.ReplayHits, e.ReplayRuns),
			fmt.Sprintf("%d of %d", hits, r.tries)})
	}
	return ctx.Err()
}

// countReplays returns in how many tries the replay command of f shows it.
func (r *replays) countReplays(ctx context.Context, f *finding.Finding) (hits int, err error) {
	replay, err := testbin.ParseReplay(f.Evidence.Replay)
	if err != nil {
		return 0, err
	}
	for range r.tries {
		shown, err := r.watch.Replay(ctx, replay, timeout)
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
