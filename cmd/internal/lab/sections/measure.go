package sections

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/testbin"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
)

// measure fills in the findings on each pair.
func measure(ctx context.Context, o options, pairs []pair) error {
	// All pairs are checked and built at once.
	var patterns []string
	for i := range pairs {
		patterns = append(patterns, "./"+pairs[i].name+"/...")
	}
	static, err := findSuspected(ctx, o, patterns)
	if err != nil {
		return err
	}
	b, err := instrument(ctx, o, patterns)
	if err != nil {
		return err
	}
	defer b.workspace.Close()
	tmp, err := os.MkdirTemp("", "interlock-sections-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	// Each pair: the findings of the check on both programs, then the runs.
	for i := range pairs {
		p := &pairs[i]
		fmt.Fprintf(os.Stderr, "sections: %s, %d of %d\n", p.name, i+1, len(pairs))
		wrong, right := within(static, p.name, violating), within(static, p.name, fixed)
		p.static = slices.ContainsFunc(wrong, p.showsBug)
		p.suspected = len(right)
		if err := p.runWrong(ctx, o, b, wrong); err != nil {
			return err
		}
		if err := p.runRight(ctx, o, b); err != nil {
			return err
		}
		if p.race, err = raceHits(ctx, o, p.name, tmp); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// output runs interlock in the module with the pairs.
func output(ctx context.Context, o options, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, o.bin, args...)
	cmd.Dir, cmd.Stderr = o.dir, os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // there are findings
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("interlock %s: %w", args[0], err)
	}
	return out, nil
}

// findSuspected returns the suspected findings about atomicity.
func findSuspected(ctx context.Context, o options, patterns []string) (all []*finding.Finding, err error) {
	out, err := output(ctx, o, append([]string{"check", "-format", "jsonl"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(out) {
		f := new(finding.Finding)
		if err := json.Unmarshal(line, f); err != nil {
			return nil, fmt.Errorf("reading a finding: %w", err)
		}
		if atomicity(f) { // the end has no code
			all = append(all, f)
		}
	}
	return all, nil
}

func atomicity(f *finding.Finding) bool { return strings.HasPrefix(string(f.Code), "IL2") }

// within returns the findings about one half of a pair.
func within(all []*finding.Finding, name, half string) (found []*finding.Finding) {
	for _, f := range all {
		if strings.HasSuffix(f.Accesses[0].Package, "/"+path.Join(name, half)) {
			found = append(found, f)
		}
	}
	return found
}

// built is the module with the pairs, instrumented.
type built struct {
	workspace *build.Workspace
	plan      *plan.Plan
	binaries  []build.Binary
}

func instrument(ctx context.Context, o options, patterns []string) (*built, error) {
	out, err := output(ctx, o, append([]string{"plan", "-format", "json"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	b := &built{plan: new(plan.Plan)}
	if err := json.Unmarshal(out, b.plan); err != nil {
		return nil, fmt.Errorf("reading the plan: %w", err)
	}
	m, err := build.Load(ctx, build.Options{Dir: o.dir, Patterns: patterns, NoTests: true})
	if err != nil {
		return nil, err
	}
	if b.workspace, err = build.Prepare(ctx, m, b.plan); err != nil {
		return nil, err
	}
	if b.binaries, err = b.workspace.BuildTests(ctx); err != nil {
		return nil, errors.Join(err, b.workspace.Close())
	}
	return b, nil
}

// timeout is that of one run; no program takes a tenth of a second.
const timeout = 10 * time.Second

// campaign runs one half of a pair. Each run opens all sections.
func (b *built) campaign(ctx context.Context, name, half string, runs int) (*campaign.Result, error) {
	cfg := campaign.Config{
		Workspace: b.workspace, Plan: b.plan, Runs: runs, Seed: 1, Timeout: timeout, Repeat: true,
		Dir: filepath.Join(b.workspace.Dir, "evidence", name, half),
	}
	for _, bin := range b.binaries {
		if strings.HasSuffix(bin.Package, "/"+path.Join(name, half)) {
			cfg.Binaries = append(cfg.Binaries, bin)
		}
	}
	return campaign.Run(ctx, cfg)
}

// runWrong runs the wrong program.
func (p *pair) runWrong(ctx context.Context, o options, b *built, static []*finding.Finding) error {
	r, err := b.campaign(ctx, p.name, violating, o.runs)
	if err != nil {
		return err
	}
	for _, f := range campaign.Join(static, nil, r) {
		if f.Status == finding.Confirmed && f.Evidence.Hits > p.watch && p.showsBug(f) {
			p.watch, p.pattern, p.harmful = f.Evidence.Hits, f.Evidence.Pattern, f.Evidence.Harmful
		}
	}
	return nil
}

// runRight runs the right program.
func (p *pair) runRight(ctx context.Context, o options, b *built) error {
	r, err := b.campaign(ctx, p.name, fixed, o.clean)
	if err != nil {
		return err
	}
	for _, f := range r.Findings {
		if f.Status == finding.Confirmed {
			p.alarms++
			fmt.Fprintf(os.Stderr, "sections: false alarm in %s: %s %s\n", p.name, f.Title, f.Message)
		}
	}
	return nil
}

// raceHits counts the runs of the wrong program in which the race detector of the
// Go distribution reports anything; -1 if it does not run.
func raceHits(ctx context.Context, o options, name, tmp string) (int, error) {
	if !o.race {
		return -1, nil
	}
	r, err := testbin.BuildRace(ctx, filepath.Join(o.dir, name, violating), tmp)
	if err != nil || r.Missing != "" {
		return -1, err
	}
	return r.Hits(ctx, "", o.runs, timeout), nil
}
