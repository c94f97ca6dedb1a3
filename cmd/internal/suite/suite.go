// Package suite runs single test functions of a module under the watch engine,
// with every site monitored and no help from the static side. The tools that
// measure detection use it.
package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Suite is the instrumented test binary of a module's root package. Several
// goroutines may run functions of it.
type Suite struct {
	Plan *plan.Plan

	workspace *build.Workspace
	binary    build.Binary
	evidence  string
}

// Build builds the tests of the module in dir. The caller closes the suite.
func Build(ctx context.Context, dir string) (*Suite, error) {
	m, err := build.Load(ctx, build.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	p, err := atomicsets.Build(m.Path, sites.All(m.Packages), nil, nil)
	if err != nil {
		return nil, err
	}
	ws, err := build.Prepare(ctx, m, p)
	if err != nil {
		return nil, err
	}
	s := &Suite{Plan: p, workspace: ws, evidence: filepath.Join(ws.Dir, "evidence")}
	binaries, err := ws.BuildTests(ctx)
	if err == nil && (len(binaries) != 1 || binaries[0].Path == "") {
		err = errors.New("the module is to be one package with tests")
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.binary = binaries[0]
	for _, l := range ws.LeftAlone() {
		fmt.Fprintf(os.Stderr, "%s is not monitored: %s\n", l.File, l.Why)
	}
	return s, nil
}

// Close removes what the build has laid out.
func (s *Suite) Close() error { return s.workspace.Close() }

// Request is how to run a function.
type Request struct {
	Function string
	Runs     int
	Seed     uint64        // of the first run
	Timeout  time.Duration // of one run, before it is stretched for noise
	Strength int           // of the noise, in microseconds; 0 is what campaigns do by default
	FirstHit bool          // stop at the run that shows a race
}

// Run makes a campaign of one test function. runs is how many runs began.
func (s *Suite) Run(ctx context.Context, q Request) (r *campaign.Result, runs int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err = campaign.Run(ctx, campaign.Config{
		Workspace: s.workspace, Plan: s.Plan, Binaries: []build.Binary{s.binary},
		Runs: q.Runs, Seed: q.Seed, Timeout: q.Timeout, Strength: q.Strength, Repeat: true,
		TestFlags: []string{"-test.run=^" + q.Function + "$"},
		Dir:       filepath.Join(s.evidence, q.Function),
		Progress: func(e campaign.Event) {
			runs = max(runs, e.Run)
			if q.FirstHit && e.Kind == campaign.Caught {
				cancel()
			}
		},
	})
	if err != nil {
		err = fmt.Errorf("running %s: %w", q.Function, err)
	}
	return r, runs, err
}

// Hits returns how many runs of a campaign caught a race.
func Hits(r *campaign.Result) (hits int, err error) {
	names, err := filepath.Glob(filepath.Join(r.Dir, "*.jsonl"))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return 0, err
		}
		records, _, err := evidence.Read(f)
		f.Close()
		if err != nil {
			return 0, err
		}
		if slices.ContainsFunc(records, func(r evidence.Record) bool { return r.Kind == evidence.Race }) {
			hits++
		}
	}
	return hits, nil
}

// Quiet runs no function at all, and takes the sites that race even so, while
// the package is initialised, out of the plan. It gives how many those are.
func (s *Suite) Quiet(ctx context.Context, runs int) (sites int, err error) {
	const why plan.Reason = "races while the package is initialised, whatever function runs"
	r, _, err := s.Run(ctx, Request{Function: "none", Runs: runs, Seed: 1, Timeout: time.Minute})
	if err != nil {
		return 0, err
	}
	for _, f := range r.Findings {
		for _, a := range f.Accesses {
			for i := range s.Plan.Sites {
				p := &s.Plan.Sites[i]
				if p.Decision == plan.Monitor && p.File == a.File && p.Line == a.Line && p.Column == a.Column {
					p.Decision, p.Reason = plan.Skip, why
					sites++
				}
			}
		}
	}
	return sites, nil
}
