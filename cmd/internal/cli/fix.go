package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/testflags"
	"github.com/interlock-go/interlock/cmd/internal/testrun"
	"github.com/interlock-go/interlock/cmd/internal/trial"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

var fixCommand = command{
	name: "fix", args: "[flags] [packages] [-- go test flags]",
	short: "print patches for confirmed findings, or write them",
	long: `Fix checks the packages, runs their tests under the monitor as "interlock test" does, and makes a
patch for each cause of confirmed findings, which corrects all findings on a variable at once. Suspected
findings whose fault is visible in the source are patched too:
` + codesInSource() + `and other suspected ones with -suspected. If a package's tests fail in each of at least
five runs, and without noise too, suspected findings of IL2002 in it are tried as well, and patched
if all runs then pass. With -from, the findings are read from a file that "check", "test" or "fix"
has written by -o jsonl:file, and no test is run to find more.

A patch is tried on a copy of the module in a temporary folder: files that tests write there are lost. It is
offered only if it compiles, does what its strategy promises, adds no cycle to the order of locks and
no wait under a lock. With -verify=quick, go vet and the tests must pass too: those of the run, and all
others of the package and of the packages that import it, whatever -run says. With -verify=full, the
default, the runs are made again as well: the finding must not come back, and no race on another field of
the same object may be left in the same function, unless it has a patch too. Tests that hang with a patch are
ended after several times what they take without noise; -- -timeout=10m gives them longer. The verdict is
    verified   a run has shown the bug, or the tests failed because of it, and with the patch all checks pass
    manual     the checks pass, but no run has shown the bug, or -verify skipped checks: read the patch
    draft      it builds, the tests pass as before, and the runs do not show the bug any more, but something could
               not be shown: each doubt is printed, and the diff behind #|, which git apply passes over
    withheld   no edit was found, or each is known to be wrong; each strategy's reason is printed

-drafts treats drafts as patches: they are in the diff, and -w writes them. Read each doubt first. The best of
several drafts has the fewest and lightest doubts, then the fewest lines.

The diff goes to standard output, with what was checked above it, to be read and applied in the
module's root, or in the folder of go.work if one is in force:

    interlock fix ./... | git apply

Patches take five minutes of processor time for each package with findings, or what -budget says; then, and
when the command is interrupted, those made so far are printed.

Findings, and the reasons why a patch is withheld, go to standard error. Only -w writes to your
files, all patches or none; where that fails, the patches are printed. Links are followed; permissions and
line ends stay. The runs before the patches are made where go test makes them, in the folder of the
package.`,
	examples: [][2]string{
		{"interlock fix ./...", "print the patches"},
		{"interlock fix -w ./...", "write them to your files"},
		{"interlock fix -drafts ./... | git apply", "apply drafts too, whose doubts you have read"},
		{"interlock fix -suspected ./... | git apply", "patch suspected findings too"},
		{"interlock check -o jsonl:f.jsonl ./...; interlock fix -from f.jsonl -verify=quick ./...",
			"patch what check has found"},
	},
	tests:   true,
	own:     []string{"budget"},
	fails:   "findings that are left in your files: all, or with `-w` those without a patch" + testsFail,
	options: func() runner { return new(fixOptions) },
}

// codesInSource lists the codes that need no run to be patched, a line each.
func codesInSource() string {
	var b strings.Builder
	for _, code := range trial.CodesInSource() {
		fmt.Fprintf(&b, "    %s  %s\n", code, code.Title())
	}
	return b.String()
}

type fixOptions struct {
	acceptFlags
	campaignFlags
	planFlags // none of them is declared
	out       report.Outputs
	write     bool
	drafts    bool
	suspected bool
	from      string
	codes     []finding.Code
	verify    trial.Depth
	time      time.Duration // of patches
	cut       bool          // there was not enough of it
}

func (o *fixOptions) declare(fs *flag.FlagSet) {
	fs.Var(&o.out, "o", "write a report, with the patches, to a file as well, as `format:path`; may be given several "+
		"times")
	o.acceptFlags.declare(fs, finding.Suspected)
	o.campaignFlags.declareNoise(fs)
	// Of the other commands -budget is a percentage for noise: a patch is tried with the default one.
	fs.DurationVar(&o.time, "budget", defaultFixTime, "let patches take about this much processor `time` for each "+
		"package with\nfindings, and three times as long by the clock, such as 90s or 1h: those made by then are printed")
	refuse(fs, "budget", func() error {
		if o.time <= 0 {
			return errors.New("want a time above 0, such as 5m")
		}
		return nil
	})
	fs.BoolVar(&o.write, "w", false, "write the patches to the files instead of printing them")
	fs.BoolVar(&o.drafts, "drafts", false, "treat patches with doubts as patches: print them in the diff, or write them "+
		"with -w")
	fs.BoolVar(&o.suspected, "suspected", false, "make patches for suspected findings too")
	fs.StringVar(&o.from, "from", "", "patch the findings of a `file` of JSON Lines, and look for no others; without\n"+
		"[packages], in all packages that they are in")
	fs.Func("code", "patch only findings of these `codes`, with commas between", func(s string) error {
		for word := range strings.SplitSeq(s, ",") {
			code := finding.Code(word)
			if !code.Known() {
				return fmt.Errorf("unknown code %q: `interlock explain` lists them", word)
			}
			o.codes = append(o.codes, code)
		}
		return nil
	})
	declareVerify(fs, &o.verify)
}

// defaultFixTime is the -budget of fix.
const defaultFixTime = 5 * time.Minute

// declareVerify declares -verify.
func declareVerify(fs *flag.FlagSet, depth *trial.Depth) {
	*depth = trial.Full
	fs.Func("verify", "which `checks` a patch has to pass besides those of the source: full, quick or none (default full)",
		func(s string) error {
			*depth = trial.Depth(s)
			if !slices.Contains([]trial.Depth{trial.Full, trial.Quick, trial.None}, *depth) {
				return errors.New("use full, quick or none")
			}
			return nil
		})
}

func (o *fixOptions) fit() error { return o.campaignFlags.fit() }

func (o *fixOptions) probe() error { return probe(o.out) }

func (o *fixOptions) run(c *call) int {
	o.choose(c)
	if err := cmp.Or(o.probe(), o.acceptFlags.check(c)); err != nil {
		return c.usageOf(err)
	}
	flags, code := c.testFlagsOf()
	if code != exitClean {
		return code
	}
	if len(flags.Cover) > 0 {
		return c.usage("fix measures no coverage: leave %s out", flags.Cover[0])
	}
	p, err := o.planner(c)
	if err != nil {
		return c.failed(err)
	}
	p.KeepGuarded = o.choosesPlaces()
	// Findings first.
	found, err := o.find(c, p, flags)
	defer found.close(c)
	c.progress.Clear()
	if err != nil {
		return c.failed(err)
	}
	r := found.report
	if err := o.apply(c, r, found.planned.Vet); err != nil {
		return c.failed(err)
	}
	if len(o.codes) > 0 {
		r.Findings = slices.DeleteFunc(r.Findings, func(f *finding.Finding) bool { return !slices.Contains(o.codes, f.Code) })
	}
	// Then the patches, each tried with a plan made as the first one was.
	p.Tests, p.Turn, p.BuildFlags = true, o.set.Seed, append(p.BuildFlags, flags.Build...)
	patches, err := trial.Patch(c.ctx, trial.Options{
		Plan: p, Settings: o.set, Flags: flags, Module: found.planned.Module, Before: found.before,
		Findings: r.Findings, Known: found.known, Dir: r.Dir, Depth: o.verify, Drafts: o.drafts, Budget: o.time,
	})
	c.progress.Clear()
	o.cut = errors.Is(err, trial.ErrBudget)
	if err != nil && c.ctx.Err() == nil && !o.cut {
		r.Problems = append(r.Problems, fmt.Sprintf("making patches: %v", err))
	}
	if found.tried != nil {
		r.Findings = slices.DeleteFunc(r.Findings, func(f *finding.Finding) bool {
			return found.tried(f) && (f.Fix == nil || f.Fix.Verdict != finding.Verified)
		})
	}
	if err := o.deliver(c, patches, r); err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	return c.uncompiled(found.planned.Uncompiled(), o.finish(c, r, found.testsFail))
}

// found holds the findings to patch, and their source.
type found struct {
	report    *report.Report
	planned   *planner.Planned
	before    *campaign.Result   // of the runs; nil if the findings were read from a file
	known     []*finding.Finding // all of them, whether reported or not
	testsFail bool
	done      io.Closer
	// tried reports whether a finding counts only if the tests pass with its patch; nil if none is such.
	tried func(*finding.Finding) bool
}

func (f *found) close(c *call) {
	if f != nil && f.done != nil {
		c.closeLater(f.done)
	}
}

// find reads the findings, or makes them as test does. The result must be closed,
// also if there is an error.
func (o *fixOptions) find(c *call, p planner.Options, flags testflags.Flags) (*found, error) {
	if o.from != "" {
		return o.read(c, p)
	}
	run := o.campaignFlags
	run.set.Replay.Flags = o.replayFlags()
	d, err := run.carryOut(c, p, flags, nil, c.stderr)
	if d == nil || err != nil {
		if d == nil {
			return nil, err
		}
		return &found{done: d}, err
	}
	r := c.newReport("fix", d.Planned.Module.Root, d.Planned.Module.Path)
	// Tests that always fail show a suspected bug if they pass with its patch.
	mayFail := func(f *finding.Finding) bool { return o.verify == trial.Full && trial.MayFailTests(f, d.Result) }
	shown := &testrun.Results{Done: d, Suspected: o.suspected, Runs: o.set.Runs, NoiseFails: o.failOn.noise,
		Always: func(f *finding.Finding) bool { return trial.StandsInSource(f) || mayFail(f) }}
	c.warn(shown.Fill(c.ctx, r)...)
	return &found{report: r, planned: d.Planned, before: d.Result, known: shown.Joined, testsFail: o.testsFail(d),
		done: d, tried: func(f *finding.Finding) bool { return !o.suspected && !trial.StandsInSource(f) && mayFail(f) }}, nil
}

// read takes the findings from a file.
func (o *fixOptions) read(c *call, p planner.Options) (*found, error) {
	known, interrupted, err := report.ReadFindings(o.from)
	if err != nil {
		return nil, gocmd.Refuse("-from: "+err.Error(), "name a file that -o jsonl:file has written")
	}
	if interrupted {
		c.warn("-from: " + interruptedFindings(o.from))
	}
	if len(p.Patterns) == 0 {
		p.Patterns = packagesWith(known)
	}
	pl, err := c.makePlan(p) // of packages without tests too
	if err != nil {
		return nil, err
	}
	if err := o.refuseOthers(known, pl.Module.Root, pl.Module.Path); err != nil {
		pl.Module.Close()
		return nil, err
	}
	// A file may hold the reports of several runs. An earlier fix says nothing of the source as it is now.
	seen := map[string]bool{}
	known = slices.DeleteFunc(known, func(f *finding.Finding) bool {
		again := seen[f.ID]
		f.Fix, seen[f.ID] = nil, true
		return again
	})
	r := c.newReport("fix", pl.Module.Root, pl.Module.Path)
	r.Findings, r.Problems = slices.Clone(known), pl.Vet.Problems
	return &found{report: r, planned: pl, known: known, done: pl.Module}, nil
}

// refuseOthers refuses the findings of another module: no file and no package of theirs is in this one.
func (o *fixOptions) refuseOthers(known []*finding.Finding, root, path string) error {
	for _, f := range known {
		for _, a := range f.Accesses {
			_, err := os.Stat(filepath.Join(root, filepath.FromSlash(a.File)))
			if err == nil || a.Package == path || strings.HasPrefix(a.Package, path+"/") {
				return nil
			}
		}
	}
	if len(known) == 0 || len(known[0].Accesses) == 0 {
		return nil
	}
	return gocmd.Refuse(fmt.Sprintf("-from: %s is about %s, and this module is %s", o.from, known[0].Accesses[0].Package,
		path), "run fix in the module that the findings are of")
}

// deliver writes the patches into the files, or prints them as one diff. Those that
// cannot be written are printed, and o.write is false from then on.
func (o *fixOptions) deliver(c *call, made *trial.Patches, r *report.Report) error {
	if made.Empty() || o.write {
		var err error
		if !made.Empty() {
			err = made.Apply(r.Root)
		}
		if err == nil {
			return c.printText(o.draftsOf(r))
		}
		o.write = false // no patch is in a file, and none is lost
		return errors.Join(fmt.Errorf("nothing was written, so the patches are printed: %w", err), o.printPatches(c, made, r))
	}
	return o.printPatches(c, made, r)
}

// printPatches prints the drafts and then the patches, each below a comment that lists the checks it has passed.
func (o *fixOptions) printPatches(c *call, made *trial.Patches, r *report.Report) error {
	diff, err := made.Diff()
	if err != nil {
		return fmt.Errorf("printing the patches: %w", err)
	}
	var b strings.Builder
	for _, group := range trial.ByFix(r.Findings) {
		if o.isTaken(group[0].Fix) {
			commentOn(&b, group)
		}
	}
	return c.printText(o.draftsOf(r) + b.String() + diff)
}

// printText writes to standard output.
func (c *call) printText(text string) error {
	if _, err := io.WriteString(c.stdout, text); err != nil {
		return fmt.Errorf("printing the patches: %w", err)
	}
	return nil
}

// isTaken reports whether a fix is in the diff, or is written with -w.
func (o *fixOptions) isTaken(fix *finding.Fix) bool {
	return fix != nil && fix.Diff != "" && (o.drafts || fix.Verdict != finding.Draft)
}

// draftsOf returns the drafts that are not in the diff, each line behind a #: git apply and patch pass over them.
func (o *fixOptions) draftsOf(r *report.Report) string {
	var b strings.Builder
	for _, group := range trial.ByFix(r.Findings) {
		fix := group[0].Fix
		if fix == nil || fix.Diff == "" || o.isTaken(fix) {
			continue
		}
		commentOn(&b, group)
		for line := range strings.Lines(fix.Diff) {
			fmt.Fprintf(&b, "#| %s\n", harmless(strings.TrimRight(line, "\r\n")))
		}
	}
	return b.String()
}

// commentOn writes a few lines on a patch, which git apply and patch pass over.
func commentOn(b *strings.Builder, group []*finding.Finding) {
	fix := group[0].Fix
	fmt.Fprintf(b, "# %s %s: %s by %s; checked: %s\n", group[0].Code, commented(group[0].Title), fix.Verdict,
		fix.Strategy, strings.Join(fix.Checked, ", "))
	if len(group) > 1 {
		fmt.Fprintf(b, "#   corrects %d findings: %s\n", len(group), strings.Join(idsOf(group), ", "))
	}
	for _, d := range fix.Doubts {
		fmt.Fprintf(b, "#   doubt: %s\n", commented(d.Text))
	}
	for _, n := range fix.Notes {
		fmt.Fprintf(b, "#   note: %s\n", commented(n))
	}
	for _, why := range fix.Rejected {
		fmt.Fprintf(b, "#   not %s\n", commented(why))
	}
}

// commented returns a text that holds names of the source as it may stand behind a #: no line of it is read as a part
// of a patch, and nothing in it acts on a terminal.
func commented(text string) string { return strings.ReplaceAll(harmless(text), "\n", "\n#     ") }

func idsOf(group []*finding.Finding) []string {
	var ids []string
	for _, f := range group {
		ids = append(ids, f.ID)
	}
	return ids
}

// fateOf returns what became of a finding, in lines.
func (o *fixOptions) fateOf(f *finding.Finding) string {
	fix := f.Fix
	switch {
	case fix == nil && o.cut:
		return fmt.Sprintf("no patch was made in the budget of %v a package: more needs a larger -budget", o.time)
	case fix == nil:
		return "no patch was made"
	case fix.Withheld != "":
		return "no patch:\n    " + strings.ReplaceAll(fix.Withheld, "\n", "\n    ") + notesOf(fix)
	}
	fate := fmt.Sprintf("patched by %s, %s; checked: %s", fix.Strategy, fix.Verdict, strings.Join(fix.Checked, ", "))
	if !o.isTaken(fix) {
		fate = fmt.Sprintf("draft by %s, not applied; checked: %s", fix.Strategy, strings.Join(fix.Checked, ", "))
	}
	for _, d := range fix.Doubts {
		fate += "\n    doubt: " + d.Text
	}
	fate += notesOf(fix)
	for _, why := range fix.Rejected {
		fate += "\n    not " + strings.ReplaceAll(why, "\n", "\n        ")
	}
	return fate
}

// notesOf returns the notes of a fix, each a line.
func notesOf(fix *finding.Fix) (lines string) {
	for _, n := range fix.Notes {
		lines += "\n    note: " + n
	}
	return lines
}

// finish reports the outcome of each finding, and returns the exit code.
func (o *fixOptions) finish(c *call, r *report.Report, testsFailed bool) int {
	c.settle(r)
	// One line a finding, and below those of one cause that have one fate, this fate.
	left := 0
	for _, cause := range r.Causes() {
		for i, f := range cause {
			if o.failOn.counts(f) && !(o.write && o.isTaken(f.Fix)) {
				left++
			}
			fmt.Fprintln(c.stderr, report.Clean(r.Line(f)))
			if i+1 == len(cause) || cause[i+1].Fix != f.Fix {
				fmt.Fprintf(c.stderr, "    %s\n", harmless(o.fateOf(f)))
			}
		}
	}
	// Short output needs a sentence about its meaning.
	switch {
	case r.Interrupted && len(r.Findings) == 0:
		c.warn("interrupted, with no finding so far")
	case r.Interrupted:
		c.warn("interrupted: patches may be missing")
	case len(r.Findings) == 0 && o.from != "" && o.suspected:
		c.warn(o.from + " has no findings, so there is nothing to patch; `interlock test -suspected -o jsonl:file` writes " +
			"suspected ones too")
	case len(r.Findings) == 0:
		c.warn("no findings, so there is nothing to patch")
	}
	if not := r.Accepted.String(); not != "" {
		c.warn("not patched: " + not)
	}
	if err := o.out.Write(r); err != nil {
		return c.unwritten(err)
	}
	return verdict(r, left, testsFailed)
}
