package cli

import (
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/accept"
	"github.com/interlock-go/interlock/cmd/internal/driver"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/upward"
)

// acceptFlags say which findings a team has accepted, and which of the others fail the build.
type acceptFlags struct {
	baseline string // a file, noBaseline, or empty: that at the module's root, if it is there
	newFrom  string // a revision
	failOn   failOn

	given *accept.Baseline // read by check, if there is one
}

// noBaseline is the value of -baseline by which no baseline is read.
const noBaseline = "off"

// declare declares the flags; findings of the status or better fail the build unless -fail-on says else.
func (o *acceptFlags) declare(fs *flag.FlagSet, status finding.Status) {
	fs.StringVar(&o.baseline, "baseline", "", "leave out findings that this `file` lists; off for none (default:\n"+
		accept.BaselineName+" here or in a folder above, within the repository)")
	fs.StringVar(&o.newFrom, "new-from-rev", "", "report only findings with a place on a line that differs from\n"+
		"this git `revision`")
	o.failOn = failOn{status: status}
	fs.Var(&o.failOn, "fail-on", "exit with 1 on findings of this `status` or of a stronger one: suspected, predicted,\n"+
		"confirmed, or none; with ,noise also where tests fail only under noise")
}

// check finds faults before the long work starts.
func (o *acceptFlags) check(c *call) (err error) {
	file := o.baseline
	if file == "" {
		if file, err = upward.Find(".", accept.BaselineName); err != nil {
			return fmt.Errorf("looking for %s: %w", accept.BaselineName, err)
		}
	}
	if file != "" && file != noBaseline {
		if o.given, err = accept.ReadBaseline(file); err != nil {
			if o.baseline == "" {
				return fmt.Errorf("reading the baseline: %w", err)
			}
			return misfit("baseline", "cannot be read: %v", err)
		}
	}
	if o.newFrom == "" {
		return nil
	}
	cmd := exec.CommandContext(c.ctx, "git", "rev-parse", "--quiet", "--verify", "--end-of-options", o.newFrom+"^{commit}")
	if err := cmd.Run(); errors.As(err, new(*exec.ExitError)) {
		return misfit("new-from-rev", "%s: git knows no such revision here; in CI, fetch it first", o.newFrom)
	} else if err != nil {
		return fmt.Errorf("-new-from-rev: %w", err)
	}
	return nil
}

// apply takes accepted findings out of the report and counts them there.
func (o *acceptFlags) apply(c *call, r *report.Report, vet *driver.Result) error {
	_, err := o.sort(c, r, vet)
	return err
}

// sort is apply that returns the accepted findings.
func (o *acceptFlags) sort(c *call, r *report.Report, vet *driver.Result) ([]accept.Accepted, error) {
	f := accept.Filter{Ignores: vet.Ignores, Baseline: o.given}
	if o.newFrom != "" {
		var err error
		if f.Changed, err = accept.ChangesSince(c.ctx, r.Root, o.newFrom); err != nil {
			return nil, fmt.Errorf("-new-from-rev %s: %w", o.newFrom, err)
		}
	}
	s := f.Sort(r.Findings)
	r.Findings = s.Left
	r.Accepted = report.Accepted{InSource: s.InSource, InBaseline: s.InBaseline, Unchanged: s.Unchanged}
	return s.Accepted, nil
}

// obeyed returns how many comments kept a check from reporting something. A file of several packages, as a package
// and its tests have it, counts once.
func obeyed(ignores []accept.Ignore) int {
	type line struct {
		file string
		n    int
	}
	all := map[line]bool{}
	for _, ig := range ignores {
		if ig.Used {
			all[line{ig.File, ig.Line}] = true
		}
	}
	return len(all)
}

// failing returns how many of the findings fail the build.
func (o *acceptFlags) failing(findings []*finding.Finding) int {
	n := 0
	for _, f := range findings {
		if o.failOn.counts(f) {
			n++
		}
	}
	return n
}

// failOn is the value of -fail-on.
type failOn struct {
	status finding.Status // empty: no finding fails the build
	noise  bool           // tests that fail only under noise do
}

// String returns nothing: the help of the flag names no default, which depends on the command.
func (*failOn) String() string { return "" }

// Set takes a status or none, and noise, with commas between.
func (o *failOn) Set(s string) error {
	*o = failOn{status: o.status}
	for word := range strings.SplitSeq(s, ",") {
		switch status := finding.Status(word); {
		case word == "noise":
			o.noise = true
		case word == "none":
			o.status = ""
		case slices.Contains([]finding.Status{finding.Suspected, finding.Predicted, finding.Confirmed}, status):
			o.status = status
		default:
			return fmt.Errorf("unknown status %q: use suspected, predicted, confirmed or none, and noise", word)
		}
	}
	return nil
}

// counts reports whether f fails the build.
func (o *failOn) counts(f *finding.Finding) bool {
	return !f.Minor() && o.status != "" && accept.AtLeast(f.Status, o.status)
}
