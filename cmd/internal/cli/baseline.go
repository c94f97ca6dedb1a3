package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/cmd/internal/accept"
	"github.com/interlock-go/interlock/cmd/internal/driver"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/upward"
)

const baselineLong = `A baseline is a file that lists accepted findings by their ids, which survive edits elsewhere.
With it, check, test, fix and report leave out what is there today, and fail on what is new. Commit it
as ` + accept.BaselineName + ` at the module's root, where every command finds it. A suspicion that
was accepted is reported again once a run confirms it, or a check finds it in one more function.

Other ways to accept a finding: a comment on its line or the line above, with the reason,

    //interlock:ignore IL1001 why
    //nolint:interlock // why
    //lint:ignore IL1001 why

or -new-from-rev REV, which reports only what touches a line that has changed.`

var baselineCommand = command{
	name: "baseline", args: "write|check [flags] [packages]",
	short: "accept the findings that are there today, so that only new ones fail",
	long: baselineLong + `

Write lists the findings in the file, check finds what is new and which entries are stale. Each has
its own help: "interlock help baseline write".`,
	examples: baselineWriteCommand.examples,
	options:  func() runner { return flagless(runBaseline) },
}

func runBaseline(c *call) int { return c.needsWord("baseline") }

var baselineWriteCommand = command{
	name: "baseline write", args: "[flags] [packages]", short: "list the findings of check, or of a report, as accepted",
	long: baselineLong + `

Write adds what check finds in the packages, or with -from what a report of check or test has, and removes
suspected entries that check no longer finds. Other entries stay: those that runs have shown, those
of packages that are not named, and with -from all of them. A line says what was added, removed and
kept. To begin anew, remove the file first. Its entries are sorted by id, so that its diffs are small.`,
	examples: [][2]string{
		{"interlock baseline write ./...", "accept the suspected findings of today"},
		{"interlock test -o jsonl:f.jsonl ./...; interlock baseline write -from f.jsonl ./...",
			"then the confirmed ones too"},
		{"interlock baseline check ./...", "in CI: nothing new, and nothing listed that is gone"},
	},
	options: func() runner { return new(baselineOptions) },
}

var baselineCheckCommand = command{
	name: "baseline check", args: "[flags] [packages]", short: "find what is new, and stale entries",
	long: `Check reads the packages as "interlock check" does, and reports findings that the baseline does not list,
and entries whose finding is gone: the file may only shrink. With -w it takes these entries out of the file.
Entries that runs have shown stay, since reading the code does not show that they are gone; remove them by
hand. So do entries of packages that are not named or do not compile.`,
	examples: [][2]string{
		{"interlock baseline check ./...", "in CI"},
		{"interlock baseline check -w ./...", "after mending something"},
	},
	fails:   "findings that the baseline does not list, or, without `-w`, entries whose finding is gone",
	options: func() runner { return &baselineOptions{checks: true} },
}

type baselineOptions struct {
	reportFlags
	planFlags
	checks bool // the command is check
	file   string
	from   string
	write  bool
}

func (o *baselineOptions) declare(fs *flag.FlagSet) {
	fs.StringVar(&o.file, "baseline", "", "the `file` (default: "+accept.BaselineName+" here or in a folder above,\n"+
		"or at the module's root)")
	o.declareWhole(fs, "findings that it refutes are withdrawn")
	if o.checks {
		o.reportFlags.declare(fs)
		fs.BoolVar(&o.write, "w", false, "remove entries from the file whose finding is gone")
		return
	}
	fs.StringVar(&o.from, "from", "", "add the findings in this `file` of -o jsonl:file instead of those of check")
}

func (o *baselineOptions) run(c *call) int {
	p, err := o.planner(c)
	if err != nil {
		return c.failed(err)
	}
	p.Programs, p.Sources = true, atomicsets.Sources{}
	res, err := planner.Check(c.ctx, p)
	c.progress.Clear()
	if err != nil {
		return c.failed(err)
	}
	// Then the file is compared, or written.
	if o.file == "" {
		if o.file, err = upward.Find(".", accept.BaselineName); err != nil {
			return c.failed(err)
		}
	}
	if o.file == "" {
		o.file = filepath.Join(res.Root, accept.BaselineName)
	}
	r := c.newReport("check", res.Root, res.Path)
	r.Findings, r.Problems, r.GaveUp, r.LeftOut = res.Findings, res.Problems, res.GaveUp, res.LeftOut
	if o.checks {
		return o.compare(c, r, res)
	}
	// What check does not show is not accepted: it may come to be shown by another version.
	r.Findings = slices.DeleteFunc(slices.Clone(r.Findings), (*finding.Finding).Minor)
	return o.accept(c, r, res)
}

// accept writes a baseline that covers the findings: those of this call, or those in the report of -from. Old entries
// that this command cannot judge stay.
func (o *baselineOptions) accept(c *call, r *report.Report, res *driver.Result) int {
	b, err := accept.ReadBaseline(o.file)
	if accept.IsMissing(err) {
		b = accept.NewBaseline()
	} else if err != nil {
		return c.usage("%v", err)
	}
	isGone := func(e accept.Entry) bool { return o.isGone(r, res, e) }
	if o.from != "" {
		isGone = func(accept.Entry) bool { return false } // the report may have left it out
		var interrupted bool
		if r.Findings, interrupted, err = report.ReadFindings(o.from); err != nil {
			return c.usage("-from: %v", err)
		}
		if interrupted {
			c.warn("-from: " + interruptedFindings(o.from))
		}
	}
	c.settle(r)
	update := b.Accept(r.Findings, res.Findings, isGone)
	if err := report.WriteFile(o.file, b.Format()); err != nil {
		return c.unwritten(fmt.Errorf("writing the baseline: %w", err))
	}
	c.warn(o.describe(b, update))
	return c.uncompiled(res.Uncompiled, verdict(r, 0, false))
}

// describe returns one line about the changes to the baseline.
func (o *baselineOptions) describe(b *accept.Baseline, u accept.Update) string {
	s := fmt.Sprintf("%s listed in %s", report.Count(len(b.Entries), "finding"), o.file)
	switch n := len(u.Added); {
	case n == 0 && len(b.Entries) > 0:
		s += ", none of them new"
	case n < len(b.Entries):
		s += fmt.Sprintf(", %d of them new", n)
	}
	if len(u.Raised) > 0 {
		s += fmt.Sprintf("; accepted with a stronger status than before: %s", idsOfEntries(u.Raised))
	}
	if len(u.Removed) > 0 {
		s += fmt.Sprintf("; removed, as check no longer finds them: %s", idsOfEntries(u.Removed))
	}
	if len(u.Kept) > 0 {
		why := "check cannot tell whether they are still there"
		if o.from != "" {
			why = "a report does not show that they are gone"
		}
		s += fmt.Sprintf("; kept, as %s: %s", why, idsOfEntries(u.Kept))
	}
	return s
}

// idsOfEntries lists the first entries, and says how many there are.
func idsOfEntries(entries []accept.Entry) string {
	const most = 5
	var ids []string
	for _, e := range entries[:min(most, len(entries))] {
		ids = append(ids, e.ID)
	}
	s := strings.Join(ids, ", ")
	if n := len(entries) - most; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

// isGone reports whether reading the code has shown that the finding of an entry, which check does not report, is
// not there any more.
func (o *baselineOptions) isGone(r *report.Report, res *driver.Result, e accept.Entry) bool {
	return e.ByReading() && len(r.Problems) == 0 && res.Uncompiled == "" && analysed(r.Root, res, e.File)
}

// compare reports new findings, and stale entries.
func (o *baselineOptions) compare(c *call, r *report.Report, res *driver.Result) int {
	b, err := accept.ReadBaseline(o.file)
	if accept.IsMissing(err) {
		return c.usage("there is no %s: `interlock baseline write` writes it", o.file)
	} else if err != nil {
		return c.usage("%v", err)
	}
	// An entry is gone if no finding at all needs it; a finding is new if no entry covers it.
	gone, rest := b.Without(r.Findings, func(e accept.Entry) bool { return o.isGone(r, res, e) })
	flags := acceptFlags{baseline: o.file, given: b}
	if err := flags.apply(c, r, res); err != nil {
		return c.failed(err)
	}
	r.Accepted.Comments = obeyed(res.Ignores)
	for _, e := range gone {
		c.warn(fmt.Sprintf("gone, but listed in the baseline: %s: %s %s [%s]", e.File, e.Code, e.Title, e.ID))
	}
	stale := len(gone)
	switch {
	case stale > 0 && o.write:
		if err := report.WriteFile(o.file, rest.Format()); err != nil {
			return c.unwritten(fmt.Errorf("writing the baseline: %w", err))
		}
		c.warn(fmt.Sprintf("%s removed from %s", entriesOf(stale), o.file))
		stale = 0
	case stale > 0:
		command := strings.Join(append([]string{"interlock baseline check -w"}, c.packages...), " ")
		c.warn(fmt.Sprintf("`%s` removes %s from the file; commit it then", command, entriesOf(stale)))
	}
	c.settle(r)
	if err := c.emit(r, o.reportFlags); err != nil {
		return c.unwritten(err)
	}
	return c.uncompiled(res.Uncompiled, verdict(r, r.Left()+stale, false))
}

// entriesOf returns how many stale entries there are.
func entriesOf(n int) string {
	if n == 1 {
		return "the stale entry"
	}
	return fmt.Sprintf("the %d stale entries", n)
}

// analysed reports whether the packages named have the file, or it is not there any more.
func analysed(root string, res *driver.Result, file string) bool {
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil {
		return true
	}
	dir := res.Path
	if at := filepath.ToSlash(filepath.Dir(file)); at != "." {
		dir += "/" + at
	}
	return slices.Contains(res.Packages, dir) || slices.Contains(res.Packages, dir+"_test")
}
