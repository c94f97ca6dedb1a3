package trial

import (
	"bytes"
	"cmp"
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
	"github.com/interlock-go/interlock/cmd/internal/machinefault"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/testflags"
	"github.com/interlock-go/interlock/cmd/internal/testrun"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/campaign/merge"
	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/patchgen"
)

// trial makes the checks of patches for one cause, in a copy of the module.
type trial struct {
	ctx      context.Context
	copy     *moduleCopy
	plan     planner.Options // in the copy, of packages named by their paths
	settings testrun.Settings
	flags    testflags.Flags
	before   *campaign.Result // of the runs of the original; nil before they are made
	measured time.Duration    // see measure; 0 until then
	// suitesTook is how long tests of the original took, by the arguments of go test; see suiteLimit.
	suitesTook map[string]time.Duration
	depth      Depth
	known      []*finding.Finding // in the original
	asked      []*finding.Finding // those that are to be patched
	alone      bool               // no patch made so far is in the copy
	drafts     bool               // a draft is a patch like others
	group      []*finding.Finding // that the patch is to correct
	left       []*finding.Finding // races beside it, with the last patch, that others of asked are for
	others     []*finding.Finding // such races that the source shows
	hopeless   []*finding.Finding // such races for which no patch came out
	static     []*finding.Finding // suspected in the patched source of the last campaign
	near       []string           // packages that the patch may change, and those that import them
	alsoFail   []string           // tests of these that fail without the last patch too
	broken     []string           // packages that import these and do not compile, without a patch
	current    string             // the patch that is tried, for people
	// corrects reports whether the source shows that a patch corrects the cause of f, too.
	corrects func(c patchgen.Candidate, f *finding.Finding) (bool, error)
}

// newTrial returns a trial that runs its go commands in the copy c. It names packages
// by their paths, not relative to the user's folder, and leaves out those that do not
// compile without a patch.
func newTrial(ctx context.Context, o Options, c *moduleCopy) (*trial, error) {
	still, err := build.KeepStillIn(ctx, c.root, c.work, os.Environ())
	if err != nil {
		return nil, err
	}
	o.Settings.Vet, o.Flags.Vet = "off", "off" // the check of its own compares with the original
	t := &trial{ctx: ctx, copy: c, plan: o.Plan, settings: o.Settings, flags: o.Flags, before: o.Before, depth: o.Depth,
		known: o.Known, asked: o.Findings, alone: o.Alone, drafts: o.Drafts}
	t.plan.Still, t.plan.Dir, t.plan.Patterns = still, c.at(o.Dir), nil
	for _, test := range o.Module.Tests {
		t.plan.Patterns = append(t.plan.Patterns, test.Package)
	}
	if t.depth == Full && !slices.ContainsFunc(o.Module.Tests, func(test build.Test) bool { return !test.None }) {
		t.depth = Quick // there is nothing to run
	}
	return t, nil
}

// say shows the patch that is tried, with the step it has come to.
func (t *trial) say(what string) { t.plan.Progress.Say(t.current + ": " + what) }

func (t *trial) env() []string { return t.plan.Still.Env(os.Environ()) }

// isBack reports whether f is a finding that the patch should have corrected.
func (t *trial) isBack(f *finding.Finding) bool {
	return patchgen.IsOfGroup(t.group, f)
}

func (t *trial) checks() patchgen.Checks {
	in := func(check func() error) patchgen.Check {
		return func(_ context.Context, c patchgen.Candidate) error { return t.copy.with(c.Files, check) }
	}
	if t.depth == None {
		return patchgen.Checks{}
	}
	checks := patchgen.Checks{
		Build: in(t.build),
		Vet:   func(_ context.Context, c patchgen.Candidate) error { return t.vet(c.Files) },
		Test:  func(_ context.Context, c patchgen.Candidate) error { return t.test(c.Files) },
	}
	if t.depth == Full {
		checks.Campaign = func(_ context.Context, c patchgen.Candidate) error { return t.campaign(c) }
		checks.Static = func(context.Context, patchgen.Candidate) error { return t.suspected() }
	}
	return checks
}

// goCommand runs the go command in the copy. The error of a command that
// fails holds its output.
func (t *trial) goCommand(args ...string) error {
	out, err := t.run(args...)
	if err != nil && out != "" {
		return errors.New(out)
	}
	return err
}

// run runs the go command in the copy. With an error and no output it could not be run; with both, it failed.
func (t *trial) run(args ...string) (string, error) {
	g, done := gocmd.Command{Env: t.env()}.Tidy()
	defer done()
	cmd := exec.CommandContext(t.ctx, "go", args...)
	cmd.Dir = t.plan.Dir
	cmd.Env = append(g.Env, "PWD="+t.plan.Dir)
	// The tests that it runs end with it, also those that wait for ever.
	gocmd.OwnGroup(cmd)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if t.ctx.Err() != nil {
		gocmd.EndGroup(cmd)
	}
	var exit *exec.ExitError
	switch {
	case t.ctx.Err() != nil:
		return "", t.ctx.Err()
	case errors.As(err, &exit):
		// A full disk makes builds and vet fail: that says nothing of the patch.
		fault, broken := machinefault.Find(out.String())
		if !broken {
			fault, broken = machinefault.FindOnDisk()
		}
		if broken {
			return "", fmt.Errorf("%w: %s", patchgen.ErrCannotCheck, fault)
		}
		return cmp.Or(strings.TrimSpace(t.copy.strip(out.String())), exit.Error()), err
	case err != nil:
		return "", fmt.Errorf("%w: %w", patchgen.ErrCannotCheck, err)
	}
	return "", nil
}

// args returns the words, the flags and the packages of a go command.
func (t *trial) args(words, flags []string) []string {
	return slices.Concat(words, flags, t.plan.Patterns)
}

func (t *trial) build() error {
	t.say("building")
	return t.goCommand(t.args([]string{"test", "-c", "-vet=off", "-o", os.DevNull}, t.plan.BuildFlags)...)
}

// vet accepts the complaints that the original has too.
func (t *trial) vet(files map[string][]byte) error {
	t.say("go vet")
	args := t.args([]string{"vet"}, t.plan.BuildFlags)
	patched := t.copy.with(files, func() error { return t.goCommand(args...) })
	if patched == nil || t.ctx.Err() != nil || errors.Is(patched, patchgen.ErrCannotCheck) {
		return patched
	}
	if before := t.goCommand(args...); before != nil && !newComplaint(before.Error(), patched.Error()) {
		return nil
	}
	return patched
}

var position = regexp.MustCompile(`^\S+:\d+(:\d+)?: `)

// newComplaint reports whether after has a line that before has not. Patches
// move lines, so positions do not count, nor does the order, which vet changes from call to call.
func newComplaint(before, after string) bool {
	known := map[string]int{}
	for line := range strings.Lines(before) {
		known[strings.TrimSpace(position.ReplaceAllString(line, ""))]++
	}
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(position.ReplaceAllString(line, ""))
		if known[line]--; known[line] < 0 {
			return true
		}
	}
	return false
}

// test demands that the tests of the run pass, and then those of all packages that a patch may change. A test that
// fails without the patch as well is no reason to refuse it. But the bug that the patch is for may be why: where it
// fails as often with the patch, this is a doubt.
func (t *trial) test(files map[string][]byte) error {
	t.say("running the tests")
	args := t.args([]string{"test", "-json"}, slices.Concat(t.plan.BuildFlags, t.flags.GoTest()))
	if err := t.measure(args); err != nil {
		return err
	}
	limit := t.limit()
	if limit > 0 {
		args = slices.Insert(args, 1, "-timeout="+limit.String())
	}
	t.alsoFail = nil
	still, printed, err := t.compare(files, args)
	// A test that hangs as before shows that nothing is corrected. So does a test that has to show the need for the patch.
	isJudge := t.provesByTests() || strings.Contains(printed, timedOut)
	if err == nil && len(still) > 0 && isJudge {
		err = fmt.Errorf("%s fails with the patch too: %s", still[0], printed)
	}
	if limit > 0 && err != nil {
		err = endedAfter(limit, err)
	}
	if err == nil {
		err = t.suites(files)
	}
	if err != nil || len(still) == 0 {
		return err
	}
	return &patchgen.NotShown{Doubts: []finding.Doubt{{Obligation: "tests", Weight: finding.Heavy,
		Text: still[0] + " fails with the patch as it does without it: it says nothing of the patch"}}}
}

// timedOut is the message of package testing about tests that take too long.
const timedOut = "panic: test timed out after "

// endedAfter returns the error of tests that our limit has ended, without the dump of their goroutines; others stay.
func endedAfter(limit time.Duration, failed error) error {
	_, tests, ended := strings.Cut(failed.Error(), timedOut)
	if !ended {
		return failed
	}
	_, tests, _ = strings.Cut(tests, "running tests:")
	tests, _, _ = strings.Cut(tests, "\ngoroutine ")
	s := fmt.Sprintf("the tests were ended after %s, several times what they take without noise; -- -timeout=10m gives "+
		"them longer", limit)
	if names := strings.Fields(tests); len(names) > 0 {
		s += "; at work: " + strings.Join(names, " ")
	}
	return errors.New(s)
}

// measure runs the tests of the original once where no run of it is known, as for findings of a file, so that a patch
// with which they hang is not waited for as long as go test would. They may hang too, and are ended after mostMeasured.
func (t *trial) measure(args []string) error {
	if t.before != nil || t.flags.Timeout != 0 || t.measured > 0 {
		return nil
	}
	began := time.Now()
	args = slices.Insert(slices.Clone(args), 1, "-count=1", "-timeout="+mostMeasured.String())
	if _, err := t.failing(args); err != nil {
		return err
	}
	t.measured = max(leastLimit, limitFactor*time.Since(began))
	return nil
}

// The tests may take so many times as long with a patch as without it, by one run that builds them too, but
// this long in any case.
const (
	limitFactor  = 5
	leastLimit   = 30 * time.Second
	mostMeasured = time.Minute
)

// limit returns how long the tests of a package may run with a patch, by the time that they have taken without it and
// without noise: they may hang. 0 leaves that to go test, where the user has set a timeout, or nothing is known of a
// package.
func (t *trial) limit() (most time.Duration) {
	switch {
	case t.flags.Timeout != 0:
		return 0
	case t.before == nil:
		return t.measured.Round(time.Second)
	}
	for i := range t.before.Packages {
		switch p := &t.before.Packages[i]; {
		case p.NoTests:
		case p.Limit == 0:
			return 0
		default:
			most = max(most, p.Limit)
		}
	}
	return most.Round(time.Second)
}

// campaign makes the runs again with all noise on the group's variable. Neither the bug nor new failures may show, nor
// a race beside it that no other patch is for.
func (t *trial) campaign(c patchgen.Candidate) error {
	t.say("running the tests under the monitor")
	var after *campaign.Result
	err := t.copy.with(c.Files, func() (err error) {
		after, t.static, err = t.runs(true)
		return err
	})
	if err != nil {
		return err
	}
	for _, f := range after.Findings {
		if t.isBack(f) {
			return fmt.Errorf("%s, in %s", f.Title, finding.OfRuns(f.Evidence.Hits, f.Evidence.Runs))
		}
	}
	open, err := t.races(c, after.Findings)
	if err != nil {
		return err
	}
	for _, f := range after.Findings {
		isNews := t.isNews(c, f)
		switch {
		case isNews && (f.Code == finding.BlockedForEver || f.Code == finding.EndlessWait):
			return fmt.Errorf("%s, in %s", f.Title, finding.OfRuns(f.Evidence.Hits, f.Evidence.Runs))
		case isNews:
			open = append(open, finding.Doubt{Obligation: "beside", Weight: finding.Heavy,
				Text: fmt.Sprintf("with the patch, the tests show %s: %s", f.Code, f.Title)})
		}
	}
	// Whether failures are new, only runs without the patch can say.
	failed := func(p campaign.PackageResult) bool { return p.Fails() || p.NotCompleted > 0 }
	if slices.ContainsFunc(after.Packages, failed) {
		if t.before == nil {
			if t.before, _, err = t.runs(false); err != nil {
				return err
			}
		}
		if err := t.failures(after); err != nil {
			return err
		}
	}
	waits, err := t.newWait()
	if open = append(open, waits...); err != nil || len(open) == 0 {
		return err
	}
	return &patchgen.NotShown{Doubts: open}
}

// isNews reports whether f is what no run without the patch has shown, in a function that the patch changes: the bug
// under another name, perhaps. For races see [trial.races].
func (t *trial) isNews(c patchgen.Candidate, f *finding.Finding) bool {
	isKnown := slices.ContainsFunc(t.known, func(k *finding.Finding) bool {
		return k.ID == f.ID || k.Code == f.Code && patchgen.SameCause(k, f)
	})
	return f.Status == finding.Confirmed && !f.Minor() && !f.Code.IsDataRace() && !isKnown && c.IsIn(f)
}

// staysOpen reports whether f is another bug on the variable of the group, in a function that the patch changes.
func (t *trial) staysOpen(c patchgen.Candidate, f *finding.Finding) bool {
	isOn := slices.ContainsFunc(t.group, func(g *finding.Finding) bool { return sameVariable(g.Variable, f.Variable) })
	return isOn && !t.isBack(f) && f.Status == finding.Confirmed && !f.Minor() && !f.Code.IsDataRace() && c.IsIn(f)
}

// races returns a doubt for each other race that a patch leaves, or other bug on its variable, except for those that
// another patch corrects: these it keeps. Runs with the patch have shown the races, or runs without it: that a race
// does not come again may be chance.
func (t *trial) races(c patchgen.Candidate, after []*finding.Finding) (open []finding.Doubt, err error) {
	t.left = nil
	doubt := func(text string) {
		open = append(open, finding.Doubt{Obligation: "beside", Weight: finding.Heavy, Text: text})
	}
	for _, f := range after {
		switch {
		case !c.IsBeside(t.group, f):
		case t.hasPatch(f):
			t.left = append(t.left, f)
		default:
			doubt("with the patch, the tests still race for " + placesOf(f))
		}
	}
	for _, f := range t.known {
		isOther := t.staysOpen(c, f)
		switch {
		case isOther && t.hasPatch(f):
			t.left = append(t.left, f)
		case isOther:
			doubt(fmt.Sprintf("it leaves %s (%s), which runs without it have shown, and for which there is no patch",
				f.Code, f.Title))
		// The variable may refer to memory without a name, which then races no more.
		case !c.IsBeside(t.group, f) || f.Variable.IsMemory() || !t.alone && t.isMade(f): // or its patch is in the copy
		case t.hasPatch(f):
			t.left = append(t.left, f)
		default:
			gone, err := t.corrects(c, f)
			if err != nil {
				return nil, err
			}
			if !gone {
				doubt("it leaves the race for " + placesOf(f) +
					", which runs without it have shown, and for which there is no patch")
			}
		}
	}
	return open, nil
}

// leavesTo reports whether a race that a run has shown for the variable has a patch, or one is to come, and notes that
// the patch which is being made leaves it to that.
func (t *trial) leavesTo(v finding.Variable) bool {
	i := slices.IndexFunc(t.known, func(f *finding.Finding) bool {
		w := f.Variable
		return f.Code.IsDataRace() && f.Status == finding.Confirmed && w.Package == v.Package && w.Type == v.Type &&
			strings.TrimSuffix(w.Name[strings.LastIndexByte(w.Name, '.')+1:], "[]") == v.Name && t.hasPatch(f)
	})
	if i >= 0 {
		t.others = append(t.others, t.known[i])
	}
	return i >= 0
}

// placesOf names a race that a patch leaves, and its places.
func placesOf(f *finding.Finding) string {
	var at []string
	for _, a := range f.Accesses {
		at = append(at, fmt.Sprintf("%s:%d in %s", a.File, a.Line, a.Function))
	}
	return fmt.Sprintf("%s, at %s", f.Variable, strings.Join(at, " and "))
}

// hasPatch reports whether there is a patch for the cause of f, or one is still to be tried.
func (t *trial) hasPatch(f *finding.Finding) bool {
	same := func(g *finding.Finding) bool { return patchgen.SameCause(f, g) }
	isToCome := func(g *finding.Finding) bool { return g.Fix == nil && same(g) }
	return t.isMade(f) || slices.ContainsFunc(t.asked, isToCome) && !slices.ContainsFunc(t.hopeless, same)
}

// isMade reports whether there is a patch for the cause of f.
func (t *trial) isMade(f *finding.Finding) bool {
	return slices.ContainsFunc(slices.Concat(t.known, t.asked), func(g *finding.Finding) bool {
		return g.Fix != nil && t.isTaken(g.Fix) && patchgen.SameCause(f, g)
	})
}

// isTaken reports whether a fix is a patch on which others may count.
func (t *trial) isTaken(fix *finding.Fix) bool {
	return fix.Withheld == "" && (t.drafts || fix.Verdict != finding.Draft)
}

// withDoubts returns a list with those of more that it has not.
func withDoubts(list, more []finding.Doubt) []finding.Doubt {
	list = slices.Clone(list)
	for _, d := range more {
		if !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

// newWait returns a doubt if, with the patch, the static checks suspect a deadlock or an endless wait that they did not
// suspect before: runs may pass by chance. The known findings may be incomplete, so it runs the checks once more.
func (t *trial) newWait() ([]finding.Doubt, error) {
	waits := firstNewWait(t.static, t.known)
	if waits == nil {
		return nil, nil
	}
	before, err := planner.Make(t.ctx, t.plan)
	if before != nil {
		defer before.Module.Close()
	}
	if err != nil {
		return nil, err
	}
	if waits = firstNewWait(t.static, slices.Concat(t.known, before.Vet.Findings)); waits == nil {
		return nil, nil
	}
	return []finding.Doubt{{Obligation: "waits", Weight: finding.Heavy,
		Text: fmt.Sprintf("with the patch, %s is suspected (%s)", waits.Title, waits.Code)}}, nil
}

// firstNewWait returns the first finding that somebody waits for ever which is not known; nil if there is none.
func firstNewWait(now, known []*finding.Finding) *finding.Finding {
	i := slices.IndexFunc(now, func(f *finding.Finding) bool {
		isWait := f.Code == finding.EndlessWait || strings.HasPrefix(string(f.Code), "IL3")
		return isWait && !slices.ContainsFunc(known, func(k *finding.Finding) bool {
			return k.ID == f.ID || k.Code == f.Code && patchgen.SameCause(k, f)
		})
	})
	if i < 0 {
		return nil
	}
	return now[i]
}

// runs carries out a campaign in the copy as it is. With all set it looks at all variables: under the happens-before
// engine, which sees each unordered pair of accesses, or, if that does not work, by as many more runs with noise at
// all places. It returns the findings of the static checks as well.
func (t *trial) runs(all bool) (*campaign.Result, []*finding.Finding, error) {
	pl, err := planner.Make(t.ctx, t.plan)
	if pl != nil {
		defer pl.Module.Close()
	}
	if err != nil {
		return nil, nil, err
	}
	// The noise is all for the group's variables.
	var only []uint32
	for i := range pl.Plan.Sites {
		s := &pl.Plan.Sites[i]
		if slices.ContainsFunc(t.group, func(f *finding.Finding) bool {
			return sameVariable(finding.Variable(s.Variable), f.Variable)
		}) {
			only = append(only, s.ID)
		}
	}
	settings := t.settings
	settings.First, settings.Noise.Only = all, only
	settings.Tests.Flags, settings.Tests.Timeout = t.flags.Binary, t.flags.Timeout
	done, err := testrun.Run(t.ctx, t.plan.Progress, pl, settings, nil)
	if done != nil {
		defer done.Close()
	}
	// The first runs looked at one variable, and their seeds are used.
	if err == nil && all && done.Result.Exact == 0 {
		settings.Noise.Only = nil
		var more *campaign.Result
		settings.Seed += uint64(settings.Runs)
		if more, err = done.Campaign(t.ctx, settings); err == nil {
			done.Result = merge.Results([]*campaign.Result{done.Result, more})
		}
	}
	switch {
	case err != nil:
		return nil, nil, err
	case t.ctx.Err() != nil:
		return nil, nil, t.ctx.Err()
	}
	return done.Result, pl.Vet.Findings, nil
}

// suspected rejects a patch if the static checks still report the finding. The
// campaign has run them again for its plan.
func (t *trial) suspected() error {
	for _, f := range t.static {
		same := slices.ContainsFunc(t.group, func(g *finding.Finding) bool { return g.Code == f.Code })
		if same && t.isBack(f) {
			return errors.New(f.Title)
		}
	}
	return nil
}

// enoughRuns is how many failures in a row, and as many passes with a patch, are no chance: one of 252 orders of them.
const enoughRuns = 5

// AlwaysFail reports whether the tests of a package failed in each run, the one without noise included, and in enough
// runs to see that a patch corrects the failure.
func AlwaysFail(p *campaign.PackageResult) bool {
	return p.PlainFailure != nil && p.Failures == p.Runs && p.Runs >= enoughRuns
}

// provesByTests reports whether the tests are the only evidence that a patch is needed.
func (t *trial) provesByTests() bool {
	observed := func(f *finding.Finding) bool { return f.Status == finding.Confirmed }
	return t.before != nil && !slices.ContainsFunc(t.group, observed) &&
		slices.ContainsFunc(t.before.Packages, func(p campaign.PackageResult) bool { return AlwaysFail(&p) })
}

// failures rejects a patch under which the tests of a package failed, or were not
// completed, that passed in all of the runs without it: it may hang, or wait for ever. If the patch is to correct the
// failure of tests, no test may fail.
func (t *trial) failures(r *campaign.Result) error {
	for i := range r.Packages {
		p := &r.Packages[i]
		was := slices.ContainsFunc(t.before.Packages, func(b campaign.PackageResult) bool {
			return b.Package == p.Package && (b.Fails() || b.NotCompleted > 0)
		})
		switch {
		case was && !t.provesByTests():
		case p.Fails():
			return errors.New(testrun.FailureOf(p, false))
		case p.NotCompleted > 0:
			return errors.New(testrun.NotCompleted(p))
		}
	}
	return nil
}

// sameVariable leaves the kind out, in which static and dynamic side differ.
func sameVariable(v, w finding.Variable) bool {
	v.Kind, w.Kind = "", ""
	return v == w
}
