package testrun

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/campaign/merge"
	"github.com/interlock-go/interlock/dynamic/campaign/record"
)

// Stop is when a campaign ends before its last run.
type Stop struct {
	// Rate of new findings a run below which it ends; 0 is never.
	Rate float64
	// Fails reports whether the findings so far end the campaign at once; nil never does.
	Fails func(*campaign.Result) bool

	stopped bool // by the rate
}

// leastWindow is how many runs a rate is taken over at least: the first run of a campaign only measures, and every
// fourth looks around.
const leastWindow = 4

// watcher returns the function that decides after each run whether a campaign goes on, and prints why it does not.
// Findings of the earlier campaigns are not new.
func (s *Stop) watcher(p *progress.Reporter, earlier []*campaign.Result) func(*campaign.Result) campaign.Next {
	known, fresh := map[string]bool{}, []int(nil)
	count := func(r *campaign.Result) (n int) {
		for _, f := range r.Findings {
			if !known[f.ID] {
				known[f.ID] = true
				n++
			}
		}
		return n
	}
	for _, r := range earlier {
		count(r)
	}
	// The rate is that of a window: the lower it is asked for, the longer.
	window := leastWindow
	if s.Rate > 0 {
		window = max(window, int(math.Ceil(1/s.Rate)))
	}
	return func(r *campaign.Result) campaign.Next {
		fresh = append(fresh, count(r))
		if s.Fails != nil && s.Fails(r) {
			p.Line("-failfast: stopped after run %d", r.Runs)
			return campaign.Enough
		}
		if s.Rate == 0 || len(fresh) < window {
			return campaign.GoOn
		}
		last := 0
		for _, n := range fresh[len(fresh)-window:] {
			last += n
		}
		if float64(last) >= s.Rate*float64(window) {
			return campaign.GoOn
		}
		p.Line("-stop-when: stopped after run %d, because the last %d runs have shown %s", r.Runs, window,
			progress.Count(last, "new finding"))
		s.stopped = true
		return campaign.Enough
	}
}

// making makes the runs of a campaign.
type making func(context.Context, Settings) (*campaign.Result, error)

// recorded makes the runs that the record of the settings does not have yet, and sets in d the results of all campaigns
// of the same build and settings. Without a record it makes all runs.
func (d *Done) recorded(ctx context.Context, p *progress.Reporter, s Settings, run making) (err error) {
	d.Asked = s.Runs
	if s.Keep.Record == nil {
		if s.Stop.Rate > 0 || s.Stop.Fails != nil {
			s.AfterRun = s.Stop.watcher(p, nil)
		}
		if d.Result, err = run(ctx, s); s.Stop.stopped {
			d.Asked = d.Result.Runs
		} else if d.Result != nil {
			d.Asked = max(d.Asked-d.Result.Unmade, d.Result.Runs) // short runs go on while they have shown nothing
		}
		return err
	}
	sum, err := d.checksum()
	if err != nil {
		return err
	}
	now, past, err := s.Keep.Record.Begin(record.Description{
		Module: d.Planned.Module.Path, Build: sum, Settings: s.Keep.Settings, Seed: s.Seed, Runs: s.Runs,
	})
	if err != nil {
		return err
	}
	// The campaigns of the past are made again from their records.
	k := keeping{dir: d.Workspace.Dir, settings: s, run: run, results: map[string]*campaign.Result{}}
	k.shown = func(r *campaign.Result) []*finding.Finding {
		joined, _ := Join(ctx, d.Planned, r) // the report has the error
		return slices.DeleteFunc(joined, func(f *finding.Finding) bool { return f.Evidence == nil })
	}
	d.Asked = now.Runs
	for _, c := range past {
		r, err := k.again(ctx, c)
		if err != nil {
			return err
		}
		d.Asked += r.Runs
	}
	p.Line("the record has %s of earlier campaigns of this build", progress.Count(d.Asked-now.Runs, "run"))
	// Then this one goes on, or begins.
	r, err := k.goOn(ctx, now, s.Stop.watcher(p, k.earlier))
	if r == nil {
		return err
	}
	if s.Stop.stopped {
		d.Asked -= now.Runs - r.Runs
	}
	d.Result = merge.Results(append(k.earlier, r))
	d.Unkept = now.Unkept
	d.Result.Interrupted, d.Result.Sampled, d.Result.Dir = r.Interrupted, r.Sampled, r.Dir
	return err
}

// keeping is the campaigns of a record that are of one build and settings.
type keeping struct {
	dir      string // for the evidence of all
	settings Settings
	run      making
	shown    func(*campaign.Result) []*finding.Finding // the findings of runs, as reports have them
	results  map[string]*campaign.Result               // of those that were made again, by id
	earlier  []*campaign.Result                        // the same, in order
}

// make makes the runs of a campaign of the settings, as far as these do not depend on c.
func (k *keeping) make(ctx context.Context, c *record.Campaign, s Settings) (*campaign.Result, error) {
	s.Seed, s.Runs = c.Seed, c.Runs
	s.Tests.Record, s.Tests.Dir = c, filepath.Join(k.dir, "evidence", c.ID)
	for _, id := range c.Earlier {
		if r := k.results[id]; r != nil {
			s.Before = append(s.Before, r)
		}
	}
	return k.run(ctx, s)
}

// again returns the result of a campaign of the past.
func (k *keeping) again(ctx context.Context, c *record.Campaign) (*campaign.Result, error) {
	s := k.settings
	s.Tests.Stdout, s.Progress = nil, nil
	s.AfterRun = func(r *campaign.Result) campaign.Next {
		if r.Runs == c.Made {
			return campaign.Enough
		}
		return campaign.GoOn
	}
	r, err := k.make(ctx, c, s)
	if err != nil {
		return nil, err
	}
	k.results[c.ID], k.earlier = r, append(k.earlier, r)
	return r, nil
}

// goOn makes the runs that c does not have yet.
func (k *keeping) goOn(
	ctx context.Context, c *record.Campaign, next func(*campaign.Result) campaign.Next,
) (*campaign.Result, error) {
	s := k.settings
	s.AfterRun = func(r *campaign.Result) campaign.Next {
		if c.Unkept == nil {
			c.Unkept = c.Found(r.Runs, k.shown(r))
		}
		return next(r)
	}
	r, err := k.make(ctx, c, s)
	// What the last runs and the searches behind them have shown is kept, after an interrupt as well.
	if r == nil || c.Unkept != nil {
		return r, err
	}
	if isOver := err == nil && !r.Interrupted; !isOver {
		c.Unkept = c.Found(max(r.Runs, r.Counted), k.shown(r))
	} else if c.Unkept = c.Settle(r.Runs, k.shown(r)); c.Unkept == nil {
		c.Unkept = c.Finish(r.Runs)
	}
	return r, err
}

// checksum returns the checksum of the build: of the test binaries of both engines, and of the plan.
func (b *Built) checksum() (string, error) {
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(b.Planned.Plan); err != nil {
		return "", fmt.Errorf("reading the plan: %w", err)
	}
	for _, bin := range slices.Concat(b.Binaries, b.Exact) {
		fmt.Fprintln(sum, bin.Package)
		if bin.Path == "" {
			continue
		}
		if err := addFile(sum, bin.Path); err != nil {
			return "", fmt.Errorf("reading the tests of %s: %w", bin.Package, err)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

func addFile(sum hash.Hash, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(sum, f)
	return err
}
