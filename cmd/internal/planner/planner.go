// Package planner makes the plan of a user's module: it loads the packages, has
// the static checks and, on request, the whole program judge them, and hands
// the results to package atomicsets. The commands and the measuring tools
// share it; it writes nothing but progress.
package planner

import (
	"cmp"
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/summary"
	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/repository"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/cmd/internal/driver"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/scratch"
	"github.com/interlock-go/interlock/pointsto"
	"github.com/interlock-go/interlock/pointsto/load"
)

// Options are the options of [Make] and [Gather].
type Options struct {
	Dir        string   // where the user stands; "" is the current folder
	Patterns   []string // packages, as the go command takes them; none means "."
	BuildFlags []string // of the go command
	Still      *build.Still
	Deps       []string // patterns of dependencies that are monitored too
	Tests      bool     // the tests of the packages will run
	Leads      bool     // have Check keep leads; a plan always has them
	Thorough   bool     // look for endless waits in all of a large package

	// Whole has the whole program withdraw findings and skip sites. With
	// Programs it holds main functions too, and whatever may import the packages.
	Whole, Programs bool

	Sources    atomicsets.Sources // of atomic sections
	Unreviewed bool               // leave the sections as the code shows them
	// KeepGuarded leaves no site out for being always guarded: the user may name
	// any of them.
	KeepGuarded bool
	Turn        uint64 // chooses the tenth of always guarded variables that is monitored

	Tool     string // the vet tool; "" is this program
	Verbose  bool
	Progress *progress.Reporter
}

// Planned is a plan, with its sources.
type Planned struct {
	Vet    *driver.Result // without the findings that were withdrawn
	Module *build.Module
	Plan   *plan.Plan
	Stale  []atomicsets.Stale // entries of the repository file without a site
	// Beside are suspected findings of packages that were not named, as far as [Planned.Consult] was asked for them:
	// a run may show one of them.
	Beside []*finding.Finding

	options   Options
	consulted map[string]bool // packages of Beside
}

// Make makes the plan. The module of the result is to be closed; it is returned
// with an error too, where there is one.
func Make(ctx context.Context, o Options) (*Planned, error) {
	o = o.complete()
	m, err := o.load(ctx)
	if err != nil {
		return nil, err
	}
	p := &Planned{Module: m, options: o}
	in, err := p.gather(ctx, &o)
	if err != nil {
		return p, err
	}
	if !o.Unreviewed {
		if in.Reviewed, err = LoadSections(m.Root); err != nil {
			return p, err
		}
	}
	made, err := atomicsets.Make(*in)
	if err != nil {
		return p, err
	}
	p.Plan, p.Stale, p.Vet.Findings = made.Plan, made.Stale, made.Findings
	o.reportWithdrawn(made.Withdrawn)
	return p, nil
}

// Gather returns the facts of the static side about the module m, which the caller
// has loaded, for one plan or several. The sections are not reviewed.
func Gather(ctx context.Context, m *build.Module, o Options) (*atomicsets.Inputs, error) {
	o = o.complete()
	return (&Planned{Module: m}).gather(ctx, &o)
}

// reasons are the plan's words for the facts of the passes.
var reasons = map[summary.Reason]plan.Reason{summary.Fresh: plan.Fresh, summary.Stationary: plan.Stationary}

func (p *Planned) gather(ctx context.Context, o *Options) (*atomicsets.Inputs, error) {
	var err error
	if p.Vet, err = o.vet(ctx); err != nil {
		return nil, err
	}
	p.Vet.GaveUp = append(p.Vet.GaveUp, sites.Unfinished(p.Module.Packages)...)
	verdicts, err := o.judge(ctx, p.Vet)
	if err != nil {
		return nil, err
	}
	in := &atomicsets.Inputs{
		Module: p.Module.Path, Packages: p.Module.Packages,
		Findings: p.Vet.Findings, Declared: p.Vet.Sections, Verdicts: verdicts, Sources: o.Sources, Turn: o.Turn,
	}
	for _, s := range p.Vet.Skips {
		in.Skips = append(in.Skips, atomicsets.SkipSite{Key: key(s), Reason: reasons[s.Reason]})
	}
	if o.Whole && !o.KeepGuarded {
		for _, s := range p.Vet.Guarded {
			in.Guarded = append(in.Guarded, key(s))
		}
	}
	return in, nil
}

// complete returns o with defaults for nil fields.
func (o Options) complete() Options {
	if o.Still == nil {
		o.Still = new(build.Still)
	}
	if o.Progress == nil {
		o.Progress = progress.New(io.Discard)
	}
	return o
}

// Check runs the static checks alone, without the findings that the whole
// program refutes, if it is asked.
func Check(ctx context.Context, o Options) (*driver.Result, error) {
	o = o.complete()
	res, err := o.vet(ctx)
	if err != nil {
		return nil, err
	}
	if !o.Leads {
		res.Findings = slices.DeleteFunc(res.Findings, (*finding.Finding).IsLead)
	}
	verdicts, err := o.judge(ctx, res)
	if err != nil {
		return nil, err
	}
	var withdrawn []*finding.Finding
	res.Findings, withdrawn = atomicsets.Withdraw(res.Findings, verdicts)
	o.reportWithdrawn(withdrawn)
	return res, nil
}

// load type-checks the packages.
func (o *Options) load(ctx context.Context) (*build.Module, error) {
	defer o.Progress.Working("loading the packages")()
	m, err := build.Load(ctx, build.Options{
		Dir: o.Dir, Patterns: o.Patterns, BuildFlags: o.BuildFlags, Still: o.Still, Deps: o.Deps, NoTests: !o.Tests,
	})
	if err != nil {
		return nil, err
	}
	if deps := m.Deps(); len(deps) > 0 {
		o.Progress.Line("dependencies monitored too: %s", strings.Join(deps, ", "))
	}
	return m, nil
}

// vet runs the static checks on the packages.
func (o *Options) vet(ctx context.Context) (*driver.Result, error) {
	defer o.Progress.Working("checking the packages")()
	d := driver.Options{
		Dir: o.Dir, Patterns: o.Patterns, BuildFlags: o.BuildFlags, Tool: o.Tool,
		Invariants: o.Sources.Invariants, Thorough: o.Thorough,
		Env: o.Still.Vars, Work: o.Still.Work,
		Progress: o.Progress.At,
	}
	if tmp, remove, err := scratch.TempDir(os.Environ()); err == nil {
		defer remove()
		d.Temp = tmp
	}
	res, err := driver.Vet(ctx, d)
	if err != nil {
		return nil, err
	}
	return res, nil
}

// judge returns the verdicts of the whole program on the packages' sites, if Whole
// is set. A program that cannot be loaded is a problem of the result, which then
// has fewer skips; the error is that of ctx alone.
func (o *Options) judge(ctx context.Context, res *driver.Result) ([]plan.Verdict, error) {
	if !o.Whole {
		return nil, nil
	}
	verdicts, err := o.analyseWhole(ctx, res.Root)
	if err != nil && ctx.Err() == nil {
		res.Problems = append(res.Problems, err.Error())
	}
	return verdicts, ctx.Err()
}

func (o *Options) analyseWhole(ctx context.Context, root string) ([]plan.Verdict, error) {
	l := load.Options{
		Dir: o.Dir, Patterns: o.Patterns, BuildFlags: o.BuildFlags, Env: o.Still.Env(os.Environ()),
		Root: root, Tests: true, Programs: o.Programs,
	}
	if tmp, remove, err := scratch.TempDir(os.Environ()); err == nil {
		defer remove()
		l.Env = append(l.Env, "GOTMPDIR="+tmp)
	}
	loaded := o.Progress.Working("loading the whole program")
	prog, err := load.Load(ctx, l)
	loaded()
	if err != nil {
		return nil, err
	}
	defer o.Progress.Working("analysing the whole program")()
	r := pointsto.Analyze(prog, pointsto.Options{Open: o.Programs && prog.Library})
	if o.Verbose {
		o.Progress.Line("whole program: %d lines of %d files, %s", prog.Lines, prog.Files, r)
	}
	return r.Verdicts(), nil
}

func (o *Options) reportWithdrawn(withdrawn []*finding.Finding) {
	if !o.Verbose && len(withdrawn) > 0 {
		o.Progress.Line("%s withdrawn: in the whole program no two goroutines can be there at the same time; -v lists them",
			progress.Count(len(withdrawn), "finding"))
		return
	}
	for _, f := range withdrawn {
		o.Progress.Line("withdrawn, by the whole program: %s %s", f.Code, f.Title)
	}
}

func key(s driver.Skip) plan.Key {
	return plan.Key{File: s.File, Line: s.Line, Column: s.Column, Mode: plan.Mode(s.Mode), Map: s.Map}
}

// LoadSections reads the repository file of the module at root.
func LoadSections(root string) (*repository.File, error) {
	f, err := repository.Load(root)
	if err != nil {
		next := "fix the file; docs/atomic-sections.md of interlock describes it"
		return nil, gocmd.Refuse(err.Error(), next)
	}
	return f, nil
}

// Uncompiled returns the compiler's errors if some packages do not compile and
// others do, or "".
func (p *Planned) Uncompiled() string { return cmp.Or(p.Module.Uncompiled, p.Vet.Uncompiled) }

// Covers reports whether the plan has the sites of the package.
func (p *Planned) Covers(path string) bool {
	return slices.ContainsFunc(p.Module.Packages, func(pkg *sites.Package) bool { return pkg.Path == path })
}
