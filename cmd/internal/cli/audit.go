package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/accept"
	"github.com/interlock-go/interlock/cmd/internal/audit"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/testflags"
	"github.com/interlock-go/interlock/cmd/internal/testrun"
	"github.com/interlock-go/interlock/cmd/internal/trial"
	"github.com/interlock-go/interlock/dynamic/campaign"
)

var auditCommand = command{
	name: "audit", args: "[flags] [packages] [-- go test flags]",
	short: "check, test and fix within a time limit, into one folder",
	long: `Audit does what check, test and fix do, for a release: it reads the packages and the whole program, runs
the tests of one package after the other under the monitor, and tries a patch for each cause of confirmed
findings, and of suspected ones whose fault is visible in the source. The folder of -o holds the results:

    index.html         each finding in full, what was not covered, what has changed
    summary.md         a page for the ticket of a release
    findings.jsonl     for programs, and for "interlock fix -from"
    interlock.sarif    for code scanning; accepted findings are in it, as suppressed
    patches/*.diff     each applies by itself; the summary names those that conflict

The next audit in the same folder says what is new, what was fixed and what persists. An audit that was
interrupted or killed, or whose budget has ended, resumes when the same command runs again on
the same source; completed runs are not repeated, and count once.

A package that fails is named in the report and does not stop the others. Only the folder is written,
and patches are tried in a copy of the module.`,
	examples: [][2]string{
		{"interlock audit ./...", "the whole module, in at most half an hour, into interlock-audit"},
		{"interlock audit -budget 8h -runs 100 -o /srv/audits/shop ./...", "overnight"},
		{"interlock audit -budget 5m ./cache -- -short", "one package, its short tests"},
	},
	tests:   true,
	own:     []string{"o", "budget"},
	fails:   confirmedFails + testsFail,
	options: func() runner { return new(auditOptions) },
}

type auditOptions struct {
	acceptFlags
	campaignFlags
	planFlags
	dir    string
	time   time.Duration
	verify trial.Depth
}

// defaultAudit is the folder of an audit.
const defaultAudit = "interlock-audit"

func (o *auditOptions) declare(fs *flag.FlagSet) {
	fs.StringVar(&o.dir, "o", defaultAudit, "write the results into this `folder`, which holds nothing else")
	fs.DurationVar(&o.time, "budget", 30*time.Minute, "take about this much `time`, such as 90s or 2h; of what remains "+
		"once\nthe tests are built, three quarters go to their runs and the rest to patches")
	refuse(fs, "budget", func() error {
		if o.time <= 0 {
			return errors.New("want a time above 0, such as 30m")
		}
		return nil
	})
	o.acceptFlags.declare(fs, finding.Confirmed)
	o.declareRuns(fs)
	o.declareSections(fs, defaultSections)
	o.declareDeps(fs)
	o.whole = true
	o.declareWhole(fs, wholeSkips)
	declareVerify(fs, &o.verify)
}

func (o *auditOptions) run(c *call) int {
	asked := o.set.Seed // 0 unless the command line has it
	o.choose(c)
	if err := o.acceptFlags.check(c); err != nil {
		return c.usageOf(err)
	}
	flags, code := c.testFlagsOf()
	if code != exitClean {
		return code
	}
	if len(flags.Cover) > 0 {
		return c.usage("audit measures no coverage: leave %s out", flags.Cover[0])
	}
	a, err := audit.Open(o.dir)
	if err != nil {
		return c.usage("%v", err)
	}
	defer c.closeLater(a)
	if before := a.Seed(); asked == 0 && before != 0 {
		o.set.Seed = before // the plan depends on it
	}
	return (&auditing{
		auditOptions: o, call: c, audit: a, flags: flags, asked: asked, deadline: time.Now().Add(o.time),
	}).run()
}

// auditing is an audit that goes on.
type auditing struct {
	*auditOptions
	*call
	audit    *audit.Audit
	flags    testflags.Flags
	asked    uint64 // the seed, where the user has chosen one
	deadline time.Time

	plan planner.Options
	ran  *audit.Ran
	done *testrun.Done
	cut  []string // sentences about work that the budget left undone
}

func (a *auditing) run() int {
	// The static side, and the state of an earlier audit in the folder.
	pl, err := a.begin()
	a.progress.Clear()
	if err != nil {
		return a.failed(err)
	}
	r := a.newReport("audit", pl.Module.Root, pl.Module.Path)
	r.Problems, r.LeftOut = a.audit.Damaged, pl.Vet.LeftOut
	// Then runs and patches. Where they fail, the static findings are not lost.
	err = a.tests(pl)
	a.progress.Clear()
	if a.done != nil && a.done.Built != nil {
		defer a.closeLater(a.done)
	}
	if err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	shown := a.fill(r, pl)
	accepted, err := a.sort(a.call, r, pl.Vet)
	if err != nil {
		return a.failed(err)
	}
	r.TimeOuts = append(r.TimeOuts, a.cut...)
	a.patch(r, pl, shown)
	// Then the reports.
	for _, f := range accepted {
		r.Suppressed = append(r.Suppressed, report.Suppressed{Finding: f.Finding, InSource: f.InSource, Why: f.Why})
	}
	a.settle(r)
	if err := a.write(r, accepted); err != nil {
		return a.unwritten(err)
	}
	a.print(r)
	return a.uncompiled(pl.Uncompiled(), verdict(r, a.failing(r.Findings), a.done != nil && a.testsFail(a.done)))
}

// begin makes the plan, and goes on with the audit in the folder or begins a new one.
func (a *auditing) begin() (*planner.Planned, error) {
	p, err := a.planner(a.call)
	if err != nil {
		return nil, err
	}
	p.Programs = true // a finding that tests cannot reach may still concern a main function
	p.Tests, p.Turn, p.BuildFlags = true, a.set.Seed, append(p.BuildFlags, a.flags.Build...)
	a.plan = p
	ctx, cancel := context.WithDeadlineCause(a.ctx, a.deadline, errBudget)
	defer cancel()
	pl, err := planner.Make(ctx, p)
	if pl != nil {
		a.closers = append(a.closers, pl.Module)
	}
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errBudget) {
			return nil, cause
		}
		return nil, err
	}
	for _, s := range pl.Stale {
		a.progress.Line("%s", s)
	}
	in := audit.InputsOf(pl.Module, version(), fmt.Sprint(a.packages, a.buildFlags(), a.flags, a.planFlags, a.asked))
	unfinished := a.audit.Seed() != 0
	resumed, err := a.audit.Begin(in, a.set.Seed, time.Now())
	switch {
	case err != nil:
		return nil, err
	case resumed:
		a.progress.Line("going on with the audit in %s", a.dir)
	case unfinished:
		a.progress.Line("the source, the flags or interlock have changed: the audit in %s begins anew", a.dir)
	}
	return pl, nil
}

var errBudget = errors.New("the budget ended before the first run: name fewer packages, or a larger -budget")

// tests builds the tests and runs them.
func (a *auditing) tests(pl *planner.Planned) error {
	ctx, cancel := context.WithDeadline(a.ctx, a.deadline)
	defer cancel()
	s := a.set
	s.Vet, s.First = a.flags.Vet, true
	s.Tests.Flags, s.Tests.Timeout = a.flags.Binary, a.flags.Timeout
	s.Replay = campaign.Replays{OnlyFlag: "-only", HoldFlag: "-hold", Flags: a.replayFlags(), Tries: defaultReplays}
	built, err := testrun.Build(ctx, a.progress, pl, s)
	if built != nil {
		a.done = &testrun.Done{Built: built, Result: new(campaign.Result)}
	}
	if err != nil {
		switch {
		case a.ctx.Err() != nil:
			a.cut = append(a.cut, "no test was run: the audit was interrupted while they were built")
		case ctx.Err() != nil:
			return errBudget
		default:
			return err
		}
		return nil
	}
	// The rest of the time is for patches.
	left := time.Until(a.deadline)
	a.progress.Line("at most about %s for the tests of all packages, and at least %s for patches",
		testrun.InWords(left*3/4), testrun.InWords(left/4))
	a.ran, err = a.audit.Runs(a.ctx, audit.RunOptions{
		Built: built, Settings: s, Progress: a.progress, Deadline: a.deadline.Add(-left / 4),
	})
	if err != nil {
		return err
	}
	a.done.Result = a.ran.Result
	a.cut = append(a.cut, a.ran.Cut...)
	return nil
}

// fill puts the findings into the report.
func (a *auditing) fill(r *report.Report, pl *planner.Planned) *testrun.Results {
	if a.done == nil { // the tests could not be built
		r.Findings, r.Problems = pl.Vet.Findings, append(r.Problems, pl.Vet.Problems...)
		return &testrun.Results{Joined: pl.Vet.Findings}
	}
	shown := &testrun.Results{Done: a.done, Suspected: true, Runs: a.set.Runs, NoiseFails: a.failOn.noise}
	a.warn(shown.Fill(a.ctx, r)...)
	if a.ran != nil {
		r.Problems = append(r.Problems, a.ran.Problems...)
	}
	if out := pl.Uncompiled(); out != "" {
		r.Problems = append(r.Problems, "packages that do not compile were left out: "+strings.Join(strings.Fields(out), " "))
	}
	return shown
}

// patch tries patches as long as there is time.
func (a *auditing) patch(r *report.Report, pl *planner.Planned, shown *testrun.Results) {
	ctx, cancel := context.WithDeadline(a.ctx, a.deadline)
	defer cancel()
	p := a.plan
	p.Whole = false // a patch concerns one variable
	o := trial.Options{
		Plan: p, Settings: a.set, Flags: a.flags, Module: pl.Module, Findings: r.Findings, Known: shown.Joined,
		Dir: r.Dir, Depth: a.verify,
	}
	if a.ran != nil {
		o.Before = a.ran.Result
	}
	cut, err := a.audit.Patch(ctx, o, a.progress)
	a.progress.Clear()
	if err != nil {
		r.Problems = append(r.Problems, fmt.Sprintf("making patches: %v", err))
	}
	r.Untried, a.cut = cut, append(a.cut, cut...)
}

// write writes the folder. The audit is finished if nothing is left to do.
func (a *auditing) write(r *report.Report, accepted []accept.Accepted) error {
	var known []*finding.Finding
	for _, f := range accepted {
		known = append(known, f.Finding)
	}
	c, err := a.audit.Compare(r.Findings, known)
	if err != nil {
		return err
	}
	r.Earlier = c
	if err := a.audit.Write(r); err != nil {
		return fmt.Errorf("writing the audit: %w", err)
	}
	if !r.Interrupted && len(a.cut) == 0 && a.ran != nil && a.ran.Complete {
		return a.audit.Finish()
	}
	return nil
}

// print prints the findings in a few lines, and the files with the rest.
func (a *auditing) print(r *report.Report) {
	for _, f := range r.Findings {
		if f.Status != finding.Suspected {
			fmt.Fprintln(a.stdout, report.Clean(r.Line(f)))
		}
	}
	fmt.Fprintln(a.stdout, r.Verdict()+r.Unended())
	if r.Earlier != nil {
		fmt.Fprintf(a.stdout, "since the audit before: %s\n", r.Earlier)
	}
	for _, s := range a.cut {
		fmt.Fprintln(a.stdout, report.Clean("not done: "+s))
	}
	if len(a.cut) > 0 || r.Interrupted {
		fmt.Fprintln(a.stdout, "the same command goes on with this audit")
	}
	fmt.Fprintf(a.stdout, "read %s\n", filepath.Join(a.dir, audit.Index))
}
