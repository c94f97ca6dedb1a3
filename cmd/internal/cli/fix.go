package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/trial"
)

var fixCommand = command{
	name: "fix", args: "[flags] [packages] [-- go test flags]",
	short: "print patches for confirmed findings, or write them",
	long: `Fix checks the packages, runs their tests under the monitor as "interlock test" does, and makes a
patch for each variable with a confirmed finding. A patch is offered only if it compiles, closes
no cycle in the order of locks, go vet and the tests pass with it, and the finding does not come
back when the runs are made again. The diff goes to standard output, to be read and applied in
the module's root, or in the folder of go.work if one is in force:

    interlock fix ./... | git apply

Findings, and the reasons why a patch is withheld, go to standard error. Only -w writes to your
files, all of the patches or none, through links where a file is one; permissions and line ends stay.
If they cannot be written, they are printed. Patches are tried on a copy of the module in a temporary
folder: what tests write there is lost. The runs before that are made where go test makes them, in the
folder of the package.

The exit code is 1 while findings are left in your files: all that were reported, or with -w those
without a patch.`,
	examples: [][2]string{
		{"interlock fix ./...", "print the patches"},
		{"interlock fix -w ./...", "write them to your files"},
		{"interlock fix -suspected ./... | git apply", "patch suspected findings too"},
	},
	tests:   true,
	options: func() runner { return new(fixOptions) },
}

type fixOptions struct {
	acceptFlags
	campaignFlags
	planFlags // none of them is declared
	out       report.Outputs
	write     bool
	suspected bool
}

func (o *fixOptions) declare(fs *flag.FlagSet) {
	fs.Var(&o.out, "o", "write a report, with the patches, to a file as well, as `format:path`; may be given several "+
		"times")
	o.acceptFlags.declare(fs, finding.Suspected)
	o.campaignFlags.declare(fs)
	fs.BoolVar(&o.write, "w", false, "write the patches to the files instead of printing them")
	fs.BoolVar(&o.suspected, "suspected", false, "make patches for suspected findings too")
}

func (o *fixOptions) run(c *call) int {
	if err := errors.Join(o.campaignFlags.check(), o.out.Probe(), o.acceptFlags.check(c)); err != nil {
		return c.usage("%v", err)
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
	// Findings first, as test makes them.
	m := monitored{campaignFlags: o.campaignFlags, flags: flags, replayFlags: o.replayFlags()}
	d, err := m.run(c, p, c.stderr)
	if d != nil {
		defer c.closeLater(d)
	}
	c.progress.Clear()
	if err != nil {
		return c.failed(err)
	}
	r := c.newReport("fix", d.Planned.Module.Root)
	shown := &results{Done: d, suspected: o.suspected, runs: o.runs}
	shown.fill(c, r)
	if err := o.apply(c, r, d.Planned.Vet); err != nil {
		return c.failed(err)
	}
	// Then the patches, each tried with a plan made as the first one was.
	p.Tests, p.Turn, p.BuildFlags = true, o.seed, append(p.BuildFlags, flags.Build...)
	patches, err := trial.Patch(c.ctx, trial.Options{
		Plan: p, Settings: o.settings(c), Flags: flags, Done: d, Findings: r.Findings, Known: shown.joined, Dir: r.Dir,
	})
	c.progress.Clear()
	if err != nil && c.ctx.Err() == nil {
		r.Problems = append(r.Problems, fmt.Sprintf("making patches: %v", err))
	}
	if err := o.deliver(c, patches, r.Root); err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	return c.uncompiled(d.Planned.Uncompiled(), o.finish(c, r, o.testsFail(d)))
}

// deliver writes the patches into the files, or prints them as one diff. Those that
// cannot be written are printed, and o.write is false from then on.
func (o *fixOptions) deliver(c *call, made *trial.Patches, root string) error {
	if made.Empty() {
		return nil
	}
	if o.write {
		err := made.Apply(root)
		if err == nil {
			return nil
		}
		o.write = false // no patch is in a file, and none is lost
		return errors.Join(fmt.Errorf("nothing was written, so the patches are printed: %w", err), c.printPatches(made))
	}
	return c.printPatches(made)
}

func (c *call) printPatches(made *trial.Patches) error {
	diff, err := made.Diff()
	if err == nil {
		_, err = io.WriteString(c.stdout, diff)
	}
	if err != nil {
		return fmt.Errorf("printing the patches: %w", err)
	}
	return nil
}

// finish reports what became of each finding, and returns the exit code.
func (o *fixOptions) finish(c *call, r *report.Report, testsFailed bool) int {
	c.settle(r)
	// One line a finding, and its fate below it.
	left := 0
	for _, f := range r.Findings {
		fate := "no patch was made"
		switch fix := f.Fix; {
		case fix == nil:
		case fix.Withheld != "":
			fate = "no patch:\n    " + strings.ReplaceAll(fix.Withheld, "\n", "\n    ")
		default:
			fate = fmt.Sprintf("patched by %s; checked: %s", fix.Strategy, strings.Join(fix.Checked, ", "))
			for _, n := range fix.Notes {
				fate += "\n    note: " + n
			}
		}
		if o.failOn.counts(f) && (f.Fix == nil || f.Fix.Diff == "" || !o.write) {
			left++
		}
		fmt.Fprintf(c.stderr, "%s\n    %s\n", r.Line(f), fate)
	}
	// What the silence means where there is little to print.
	switch {
	case r.Interrupted && len(r.Findings) == 0:
		c.warn("interrupted, with no finding so far")
	case r.Interrupted:
		c.warn("interrupted: patches may be missing")
	case len(r.Findings) == 0:
		c.warn("no findings, so there is nothing to patch")
	}
	if err := o.out.Write(r); err != nil {
		return c.unwritten(err)
	}
	return verdict(r, left, testsFailed)
}
