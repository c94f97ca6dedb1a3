package cli

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/invariants"
	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/cmd/internal/driver"
	"github.com/interlock-go/interlock/dynamic/build"
)

// static is what the static side says of the packages.
type static struct {
	root     string // of the main module
	findings []*finding.Finding
	skips    []atomicsets.SkipSite
	guarded  []plan.Key // may be skipped as well, but for a part
	sections []invariants.Section
	problems []string
	gaveUp   []string // which passes did not finish which functions
	// uncompiled is what the compiler said where some packages do not compile
	// and others do
	uncompiled string
}

// vet runs the static checks on the packages, as seen from dir.
func (c *call) vet(p *progress, dir string, buildFlags []string) (*static, error) {
	defer p.working("checking the packages")()
	still, err := c.still()
	if err != nil {
		return nil, err
	}
	o := driver.Options{Dir: dir, Patterns: c.packages, BuildFlags: buildFlags, Invariants: c.wants(fromInvariants), Env: still.Vars, Work: still.Work}
	o.Progress = func(done, total int) { p.at(done, total, "packages checked") }
	if tmp, remove, err := build.TempDir(os.Environ()); err == nil {
		defer remove()
		o.Env = append(slices.Clip(o.Env), "GOTMPDIR="+tmp)
	}
	res, err := driver.Vet(c.ctx, o)
	if err != nil {
		return nil, err
	}
	if !c.hints {
		res.Findings = slices.DeleteFunc(res.Findings, func(f *finding.Finding) bool { return f.Level == finding.Hint })
	}
	st := &static{root: res.Root, findings: res.Findings, sections: res.Sections, problems: res.Problems, gaveUp: res.GaveUp, uncompiled: res.Uncompiled}
	for _, s := range res.Skips {
		st.skips = append(st.skips, atomicsets.SkipSite{Key: siteKey(s), Reason: plan.Reason(s.Reason)})
	}
	for _, s := range res.Guarded {
		st.guarded = append(st.guarded, siteKey(s))
	}
	return st, nil
}

func siteKey(s driver.Skip) plan.Key {
	return plan.Key{File: s.File, Line: s.Line, Column: s.Column, Mode: plan.Mode(s.Mode), Map: s.Map}
}

// planned is a plan, and what it was made from.
type planned struct {
	static *static
	module *build.Module
	plan   *plan.Plan
	stale  []atomicsets.Stale // what the repository file says in vain
}

// uncompiled is what the compiler said where some packages do not compile and
// others do, or "".
func (p *planned) uncompiled() string { return cmp.Or(p.module.Uncompiled, p.static.uncompiled) }

// makePlan makes the plan of the packages, as seen from dir, with the atomic
// sections that the repository file leaves in it.
func (c *call) makePlan(p *progress, dir string, buildFlags []string) (*planned, error) {
	pl, err := c.makeInferred(p, dir, buildFlags)
	if err != nil {
		return nil, err
	}
	if pl.stale, err = c.reviewSections(pl); err != nil {
		return nil, err
	}
	if c.whole && !c.namesPlaces() {
		atomicsets.PruneGuarded(pl.plan, pl.static.guarded, c.seed)
	}
	return pl, nil
}

// makeInferred loads the packages, as seen from dir, finds the sites, and asks
// the static side. Nobody has reviewed the sections of its plan.
func (c *call) makeInferred(p *progress, dir string, buildFlags []string) (*planned, error) {
	loaded := p.working("loading the packages")
	still, err := c.still()
	if err != nil {
		return nil, err
	}
	m, err := build.Load(c.ctx, build.Options{Dir: dir, Patterns: c.packages, BuildFlags: buildFlags, Still: still, Deps: c.deps, NoTests: !c.runsTests})
	loaded()
	if err != nil {
		return nil, err
	}
	c.closers = append(c.closers, m)
	if deps := m.Deps(); len(deps) > 0 {
		p.line("dependencies monitored too: %s", strings.Join(deps, ", "))
	}
	st, err := c.vet(p, dir, buildFlags)
	if err != nil {
		return nil, err
	}
	c.prune(p, st, dir, buildFlags, false)
	if c.ctx.Err() != nil {
		return nil, c.ctx.Err()
	}
	pl, err := atomicsets.Build(m.Path, sites.All(m.Packages), st.skips, atomicsets.Suspicions(st.findings))
	if err != nil {
		return nil, fmt.Errorf("making the plan: %w", err)
	}
	made := &planned{static: st, module: m, plan: pl}
	if err := c.inferSections(made); err != nil {
		return nil, err
	}
	return made, nil
}
