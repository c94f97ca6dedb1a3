package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/patchgen"
)

var fixCommand = command{
	name: "fix", args: "[flags] [packages] [-- go test flags]", short: "print patches for confirmed findings, or write them",
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
	flags: func(fs *flag.FlagSet, o *options) {
		o.format = "text"
		fs.Var(&o.out, "o", "write a report, with the patches, to a file as well, as `format:path`; may be given several times")
		campaignFlags(fs, o)
		fs.BoolVar(&o.write, "w", false, "write the patches to the files instead of printing them")
		fs.BoolVar(&o.suspected, "suspected", false, "make patches for suspected findings too")
	},
	tests: true,
	run:   runFix,
}

func runFix(c *call) int {
	if err := c.checkCampaign(); err != nil {
		return c.usage("%v", err)
	}
	still, err := c.still()
	if err != nil {
		return c.failed(err)
	}
	flags, err := splitTestFlags(still.Flags, c.testFlags)
	if err != nil {
		return c.usage("%v", err)
	}
	if len(flags.cover) > 0 {
		return c.usage("fix measures no coverage: leave %s out", flags.cover[0])
	}
	p := newProgress(c.stderr)
	m, err := c.monitored(p, flags, c.stderr)
	if m != nil {
		defer m.close(c)
	}
	p.clear()
	if err != nil {
		return c.failed(err)
	}
	r := c.newReport("fix", m.plan.module.Root)
	m.fill(c, r)
	patches, err := c.mend(p, m, flags, r)
	p.clear()
	if err != nil && c.ctx.Err() == nil {
		r.Problems = append(r.Problems, fmt.Sprintf("making patches: %v", err))
	}
	if err := c.hand(patches, r); err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	return c.uncompiled(m.plan.uncompiled(), c.finishFix(r, m.result.Failed()))
}

// hand returns the patches to the user: into the files, or as one diff.
func (c *call) hand(d *mender, r *report.Report) error {
	if d == nil || len(d.last) == 0 {
		return nil
	}
	if c.write {
		err := patchgen.Apply(r.Root, d.first, d.last)
		if err == nil {
			return nil
		}
		c.write = false // no patch is in a file, and none is lost
		return errors.Join(fmt.Errorf("nothing was written, so the patches are printed: %w", err), c.print(d))
	}
	return c.print(d)
}

// print writes the patches to standard output, as one diff.
func (c *call) print(d *mender) error {
	diff, err := d.diff()
	if err == nil {
		_, err = io.WriteString(c.stdout, diff)
	}
	if err != nil {
		return fmt.Errorf("printing the patches: %w", err)
	}
	return nil
}

// finishFix reports what became of each finding, and gives the exit code.
func (c *call) finishFix(r *report.Report, testsFailed bool) int {
	c.settle(r)
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
		if f.Fix == nil || f.Fix.Diff == "" || !c.write {
			left++
		}
		fmt.Fprintf(c.stderr, "%s\n    %s\n", r.Line(f), fate)
	}
	switch {
	case r.Interrupted && len(r.Findings) == 0:
		c.tell("interrupted, with no finding so far")
	case r.Interrupted:
		c.tell("interrupted: patches may be missing")
	case len(r.Findings) == 0:
		c.tell("no findings, so there is nothing to patch")
	}
	if err := c.out.write(r); err != nil {
		c.tell(err.Error())
		return exitIncomplete
	}
	return verdict(r, left, testsFailed)
}
