// Package testbin builds test binaries for the tools that measure detection, and
// runs single functions of them: under the watch engine, with every site
// monitored and no help from the static side or by the default plan, and under the
// race detector of the Go distribution.
package testbin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
)

// Monitored has the instrumented test binaries of a module's packages. Several
// goroutines may run functions of them.
type Monitored struct {
	Plan *plan.Plan

	workspace *build.Workspace
	binaries  []build.Binary
	evidence  string
	campaigns atomic.Int64 // made so far
	detector  Detector
}

// Detector finds races in a test binary, beside the monitor.
type Detector int

// The detectors.
const (
	Watch   Detector = iota // the monitor itself
	HB                      // the happens-before engine
	Shipped                 // the race detector of the Go distribution
)

// BuildMonitored builds the tests of the module in dir. The caller closes the
// result.
func BuildMonitored(ctx context.Context, dir string) (*Monitored, error) {
	loaded, err := build.Load(ctx, build.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	p, err := atomicsets.Build(loaded.Path, sites.All(loaded.Packages), nil, nil)
	if err != nil {
		return nil, err
	}
	return buildWith(ctx, loaded, p, Watch)
}

// BuildPlanned is BuildMonitored with the plan that `interlock test` makes by default, from
// the facts of the static side. tool is the program, built.
func BuildPlanned(ctx context.Context, dir string, packages []string, tool string, d Detector) (*Monitored, error) {
	p, err := planner.Make(ctx, planner.Options{
		Dir: dir, Patterns: packages, Tests: true, Sources: atomicsets.Sources{Inferred: true, User: true}, Tool: tool,
	})
	if err != nil {
		return nil, err
	}
	return buildWith(ctx, p.Module, p.Plan, d)
}

// buildWith builds the tests of a module by a plan.
func buildWith(ctx context.Context, loaded *build.Module, p *plan.Plan, d Detector) (*Monitored, error) {
	ws, err := [...]func(context.Context, *build.Module, *plan.Plan) (*build.Workspace, error){
		build.Prepare, build.PrepareScheduled, build.PrepareRace,
	}[d](ctx, loaded, p)
	if err != nil {
		return nil, err
	}
	m := &Monitored{Plan: p, workspace: ws, evidence: filepath.Join(ws.Dir, "evidence"), detector: d}
	if m.binaries, err = ws.BuildTests(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	for _, l := range ws.LeftAlone() {
		fmt.Fprintf(os.Stderr, "%s is not monitored: %s\n", l.File, l.Why)
	}
	return m, nil
}

// Close removes the folders of the build.
func (m *Monitored) Close() error { return m.workspace.Close() }

// Request is how to run a function.
type Request struct {
	Folder   string // of the package, below that of the module; "" is all
	Function string // "" is all
	Runs     int
	Seed     uint64        // of the first run
	Timeout  time.Duration // of one run, before it is stretched for noise
	Strength int           // of the noise, in microseconds; 0 is the default of campaigns
	FirstHit bool          // stop at the run that shows a race
	Auto     bool          // plan runs by the results of earlier ones, as campaigns do by default
	Where    arm.Heuristic // where noise is made, unless Auto
	Replays  int           // how often the replay command of each finding is tried
}

// Replay holds the flags of a finding's replay command: one run of one test.
type Replay struct {
	Function string // "" is all
	Seed     uint64
	Strength int
	Only     string // as the flags -only and -hold have it
	Hold     string
	Quiet    bool // -prob=0
}

// ParseReplay reads the command line of a replay.
func ParseReplay(command string) (r Replay, err error) {
	for word := range strings.FieldsSeq(command) {
		name, value, _ := strings.Cut(strings.Trim(word, "'"), "=")
		switch name {
		case "-seed":
			r.Seed, err = strconv.ParseUint(value, 10, 64)
		case "-strength":
			r.Strength, err = strconv.Atoi(value)
		case "-prob":
			r.Quiet = value == "0"
		case "-only":
			r.Only = value
		case "-hold":
			r.Hold = value
		case "-run":
			r.Function = strings.Trim(value, "^$")
		}
		if err != nil {
			return r, fmt.Errorf("reading the replay command %s: %w", command, err)
		}
	}
	return r, nil
}

// Replay makes the run of a replay command, and returns its findings.
func (m *Monitored) Replay(ctx context.Context, r Replay, timeout time.Duration) (_ *campaign.Result, err error) {
	cfg := m.config(Request{
		Function: r.Function, Runs: 1, Seed: r.Seed, Timeout: timeout, Strength: r.Strength, Auto: true,
	})
	cfg.Replay.OnlyFlag, cfg.Replay.HoldFlag = "-only", "-hold"
	if r.Quiet {
		cfg.Noise.Prob = -1
	}
	if r.Only != "" {
		at := func(place string) ([]uint32, error) { return arm.SitesAt(m.Plan, place) }
		if cfg.Noise.Only, cfg.Noise.Windows, err = arm.WindowsAt(r.Only, at); err != nil {
			return nil, err
		}
	}
	if r.Hold != "" {
		if cfg.Noise.Hold, err = arm.LocksAt(m.workspace.Module.Packages, r.Hold); err != nil {
			return nil, err
		}
	}
	return campaign.Run(ctx, cfg)
}

// Run makes a campaign of one test function. It returns also how many runs began.
func (m *Monitored) Run(ctx context.Context, q Request) (r *campaign.Result, runs int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cfg := m.config(q)
	cfg.Progress = func(e campaign.Event) {
		if e.Kind == campaign.RunStarted {
			runs = max(runs, e.Run)
		}
		if q.FirstHit && e.Kind == campaign.Caught {
			cancel()
		}
	}
	if m.detector == Watch {
		r, err = campaign.Run(ctx, cfg)
	} else {
		r, err = campaign.Exact(ctx, campaign.ExactConfig{
			Program: cfg.Program, Tests: cfg.Tests, Engine: campaign.Engine{Race: m.detector == Shipped},
			Where: cfg.Noise.Where, Strength: cfg.Noise.Strength, Series: cfg.Series,
		})
	}
	if err != nil {
		err = fmt.Errorf("running %s: %w", q.Function, err)
	}
	return r, runs, err
}

// config describes a campaign of one test function.
func (m *Monitored) config(q Request) campaign.Config {
	cfg := campaign.Config{
		Program: campaign.Program{Workspace: m.workspace, Plan: m.Plan},
		Tests: campaign.Tests{
			Binaries: m.binariesOf(q.Folder), Timeout: q.Timeout,
			// The monitor appends, so that each campaign has a folder that no other has written to.
			Dir: filepath.Join(m.evidence, fmt.Sprint(m.campaigns.Add(1))),
		},
		Noise:  campaign.Noise{Strength: q.Strength, Repeat: !q.Auto, Where: q.Where},
		Series: campaign.Series{Runs: q.Runs, Seed: q.Seed},
	}
	if q.Replays > 0 {
		cfg.Replay = campaign.Replays{Tries: q.Replays, OnlyFlag: "-only", HoldFlag: "-hold"}
	}
	if q.Function != "" {
		cfg.Tests.Flags = []string{"-test.run=^" + q.Function + "$"}
	}
	return cfg
}

// binariesOf returns the binary of the package in a folder of the module, or those of all that have tests.
func (m *Monitored) binariesOf(folder string) []build.Binary {
	return slices.DeleteFunc(slices.Clone(m.binaries), func(b build.Binary) bool {
		return b.Path == "" || folder != "" && !strings.HasSuffix(b.Package, "/"+folder)
	})
}

// Quiet runs no function at all, takes the sites that race even so, while the
// package is initialised, out of the plan, and returns how many those are.
func (m *Monitored) Quiet(ctx context.Context, runs int) (sites int, err error) {
	const why plan.Reason = "races while the package is initialised, whatever function runs"
	r, _, err := m.Run(ctx, Request{Function: "none", Runs: runs, Seed: 1, Timeout: time.Minute})
	if err != nil {
		return 0, err
	}
	for _, f := range r.Findings {
		for _, a := range f.Accesses {
			for i := range m.Plan.Sites {
				p := &m.Plan.Sites[i]
				if p.Decision == plan.Monitor && p.File == a.File && p.Line == a.Line && p.Column == a.Column {
					p.Decision, p.Reason = plan.Skip, why
					sites++
				}
			}
		}
	}
	return sites, nil
}
