package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/patchgen"
)

// trial makes the checks of patches on one variable, in a copy of the module.
type trial struct {
	c      *call
	p      *progress
	tree   *copied
	dir    string // of the copy, where the user stands in the original
	flags  testFlags
	before *campaign.Result // what the runs of the original showed
	tests  []build.Test     // the packages of the request that compile
	// uncompiled: there are others
	uncompiled bool
	group      []*finding.Finding // what the patch is for, on one variable
	static     []*finding.Finding // suspected in the patched source of the last campaign
}

func (t *trial) variable() finding.Variable { return t.group[0].Variable }

func (t *trial) checks() patchgen.Checks {
	in := func(check func() error) patchgen.Check {
		return func(_ context.Context, c patchgen.Candidate) error { return t.tree.with(c.Files, check) }
	}
	return patchgen.Checks{
		Build:    in(t.build),
		Vet:      func(_ context.Context, c patchgen.Candidate) error { return t.vet(c.Files) },
		Test:     func(_ context.Context, c patchgen.Candidate) error { return t.test(c.Files) },
		Campaign: in(t.campaign),
		Static:   func(context.Context, patchgen.Candidate) error { return t.suspected() },
	}
}

// goCommand runs the go command in the copy. The error of a command that
// fails holds its output.
func (t *trial) goCommand(args ...string) error {
	cmd := exec.CommandContext(t.c.ctx, "go", args...)
	cmd.Dir = t.dir
	cmd.Env = append(t.c.kept.Env(os.Environ()), "PWD="+t.dir)
	// Interrupted, the go command ends the tests that it runs; killed, it
	// would leave them running.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case t.c.ctx.Err() != nil:
		return t.c.ctx.Err()
	case errors.As(err, &exit):
		return errors.New(strings.TrimSpace(t.tree.strip(out.String())))
	case err != nil:
		return fmt.Errorf("%w: %w", patchgen.ErrCannotCheck, err)
	}
	return nil
}

func (t *trial) buildFlags() []string { return append(t.c.buildFlags(), t.flags.build...) }

// args returns the words, the flags and the packages of a go command. What does
// not compile without a patch either is not asked for.
func (t *trial) args(words, flags []string) []string {
	packages := t.c.packages
	if t.uncompiled {
		packages = nil
		for _, test := range t.tests {
			packages = append(packages, test.Package)
		}
	}
	return slices.Concat(words, flags, packages)
}

func (t *trial) build() error {
	t.p.say("trying a patch: building")
	return t.goCommand(t.args([]string{"test", "-c", "-vet=off", "-o", os.DevNull}, t.buildFlags())...)
}

// vet accepts the complaints that the original has too.
func (t *trial) vet(files map[string][]byte) error {
	t.p.say("trying a patch: go vet")
	args := t.args([]string{"vet"}, t.buildFlags())
	patched := t.tree.with(files, func() error { return t.goCommand(args...) })
	if patched == nil || t.c.ctx.Err() != nil || errors.Is(patched, patchgen.ErrCannotCheck) {
		return patched
	}
	if before := t.goCommand(args...); before != nil && !newComplaint(before.Error(), patched.Error()) {
		return nil
	}
	return patched
}

var position = regexp.MustCompile(`^\S+:\d+(:\d+)?: `)

// newComplaint reports whether after has a line that before has not. Patches
// move lines, so positions do not count.
func newComplaint(before, after string) bool {
	known := map[string]int{}
	for line := range strings.Lines(before) {
		known[position.ReplaceAllString(line, "")]++
	}
	for line := range strings.Lines(after) {
		line = position.ReplaceAllString(line, "")
		if known[line]--; known[line] < 0 {
			return true
		}
	}
	return false
}

func (t *trial) test(files map[string][]byte) error {
	t.p.say("trying a patch: running the tests")
	args := t.args([]string{"test"}, slices.Concat(t.c.buildFlags(), t.flags.goTest()))
	err := t.tree.with(files, func() error { return t.goCommand(args...) })
	if err != nil && t.c.ctx.Err() == nil && t.goCommand(args...) != nil {
		return fmt.Errorf("the tests fail without the patch too, so they cannot vouch for it: %w", err)
	}
	return err
}

// campaign makes the runs again with all noise on the variable.
func (t *trial) campaign() error {
	t.p.say("trying a patch: running the tests under the monitor")
	pl, err := t.c.makePlan(t.p, t.dir, t.buildFlags())
	if err != nil {
		return err
	}
	t.static = pl.static.findings
	var only []uint32
	for i := range pl.plan.Sites {
		if s := &pl.plan.Sites[i]; sameVariable(finding.Variable(s.Variable), t.variable()) {
			only = append(only, s.ID)
		}
	}
	m, err := t.c.execute(t.p, pl, campaign.Config{Only: only, TestFlags: t.flags.binary, Timeout: t.flags.timeout}, nil)
	if m != nil {
		defer m.close(t.c)
	}
	if err != nil {
		return err
	}
	if t.c.ctx.Err() != nil {
		return t.c.ctx.Err()
	}
	for _, f := range m.result.Findings {
		if sameVariable(f.Variable, t.variable()) {
			return fmt.Errorf("%s, in %d of %d runs", f.Title, f.Evidence.Hits, f.Evidence.Runs)
		}
	}
	return t.failures(m.result)
}

// suspected rejects a patch after which the static checks still say what they
// said. The campaign made them anew for its plan.
func (t *trial) suspected() error {
	for _, f := range t.static {
		same := slices.ContainsFunc(t.group, func(g *finding.Finding) bool { return g.Code == f.Code })
		if same && sameVariable(f.Variable, t.variable()) {
			return fmt.Errorf("%s: %s", f.Accesses[0].Position, f.Title)
		}
	}
	return nil
}

// failures rejects a patch under which the tests of a package failed, or were not
// completed, that passed in all of the runs without it: it may hang, or wait for ever.
func (t *trial) failures(r *campaign.Result) error {
	for i := range r.Packages {
		p := &r.Packages[i]
		was := slices.ContainsFunc(t.before.Packages, func(b campaign.PackageResult) bool {
			return b.Package == p.Package && (b.Fails() || b.NotCompleted > 0)
		})
		switch {
		case was:
		case p.Fails():
			return errors.New(failureOf(p, false))
		case p.NotCompleted > 0:
			return errors.New(notCompleted(p))
		}
	}
	return nil
}

// sameVariable leaves the kind out, in which static and dynamic side differ.
func sameVariable(v, w finding.Variable) bool {
	v.Kind, w.Kind = "", ""
	return v == w
}
