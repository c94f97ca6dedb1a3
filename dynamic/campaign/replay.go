package campaign

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/deadlock"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// replay is one run that is to show a finding again: the command line has all that
// it depends on.
type replay struct {
	pkg      string // of the tests
	seed     uint64
	strength int
	only     string // places at which noise is made, with windows where a plan had some; "" is everywhere
	hold     string // places of locks between which goroutines are held
	pause    string // place at which goroutines are held, with the length; the tests are to fail then
	quiet    bool   // noise is made at these places alone, as in a run with a plan that takes the budget up
	exact    bool   // under the happens-before engine, without noise unless the user has chosen a schedule
	runs     int    // of which the last is the one, where there is such a schedule
	test     string // that runs alone; "" is all that the user's flags choose
	hangs    string // tests, with | in between, which such a run makes although they hang without noise too
	held     bool   // only has where the run held goroutines by its plan, not where those of the finding are
}

// replayOf is the run that has shown f first, by a plan if it had windows at places. The tests waited
// did so for ever in it.
func replayOf(
	cfg *Settings, strength int, windows map[string]time.Duration, f *finding.Finding, waited ...string,
) replay {
	r := replay{pkg: f.Evidence.Test, seed: f.Evidence.Seed, strength: strength}
	switch {
	case f.Evidence.Blocked != "":
		r.only, r.held = windowsAt(slices.Sorted(maps.Keys(windows)), windows), true
	case f.Evidence.Error == "":
		var places []string
		for _, a := range f.Accesses[:min(3, len(f.Accesses))] { // of a split section, the access in between as well
			if at := a.Position.String(); !slices.Contains(places, at) {
				places = append(places, at)
			}
		}
		r.only = windowsAt(places, windows)
	}
	r.hold = locksOf(f)
	// Where no stack leads to a test, that which waited in the process is the one.
	test := testOf(f)
	if test == "" && len(waited) == 1 {
		test = waited[0]
	}
	switch {
	case test != "" && !strings.Contains(strings.Join(goFlags(cfg), " "), "-run="):
		r.test = test
	case f.Evidence.Blocked != "":
		r.hangs = strings.Join(append(waited, test), "|")
	}
	return r
}

// windowsAt lists places with the windows that a plan had there, as the command line has them.
func windowsAt(places []string, windows map[string]time.Duration) string {
	var all []string
	for _, at := range places {
		if length := windows[at]; length > 0 {
			at += fmt.Sprintf("@%dus", length.Microseconds())
		}
		all = append(all, at)
	}
	return strings.Join(all, ",")
}

// locksOf lists the places of locks between which a replay of a deadlock holds goroutines: where each one has acquired
// the lock that it holds, and where it waits for the next one. A writer that keeps readers out holds none, and one
// goroutine alone needs no other to come.
func locksOf(f *finding.Finding) string {
	if f.Evidence.Blocked != deadlock.Blocked || len(f.Accesses) == 1 {
		return ""
	}
	var places []string
	for _, h := range f.Evidence.Holders {
		places = append(places, h.Position.String())
	}
	for _, a := range f.Accesses {
		if len(a.Locks) > 0 {
			places = append(places, a.Position.String())
		}
	}
	slices.Sort(places)
	return strings.Join(slices.Compact(places), ",")
}

// command is the command line that makes the run.
func (r *replay) command(cfg *Settings) string {
	if r.exact {
		words := []string{"interlock", "test", "-engine=" + cfg.Engine.Name()}
		if cfg.Noise.Where.Text != "" {
			words = append(words, cfg.Noise.Where.Flags()...)
			words = append(words, fmt.Sprintf("-runs=%d", r.runs), fmt.Sprintf("-seed=%d", r.seed))
		}
		return commandLine(append(words, r.pkg), r.goFlags(cfg))
	}
	words := []string{"interlock", "test", "-runs=1", fmt.Sprintf("-seed=%d", r.seed)}
	if r.strength > 0 {
		words = append(words, fmt.Sprintf("-strength=%d", r.strength))
	}
	if cfg.Noise.Budget > 0 {
		words = append(words, fmt.Sprintf("-budget=%d", cfg.Noise.Budget))
	}
	if r.quiet || cfg.Noise.Prob != 0 {
		words = append(words, fmt.Sprintf("-prob=%d", r.prob(cfg)))
	}
	// Noise at the finding alone shows it most often; else it is made where the run made it.
	switch {
	case cfg.Replay.OnlyFlag != "" && r.only != "":
		words = append(words, fmt.Sprintf("%s=%s", cfg.Replay.OnlyFlag, r.only))
	case cfg.Noise.Where.Text != "":
		words = append(words, cfg.Noise.Where.Flags()...)
	}
	if hold := cmp.Or(r.hold, r.pause); cfg.Replay.HoldFlag != "" && hold != "" {
		words = append(words, fmt.Sprintf("%s=%s", cfg.Replay.HoldFlag, hold))
	}
	if deps := cfg.Workspace.Module.DepPaths(); len(deps) > 0 {
		words = append(words, "-deps="+strings.Join(deps, ","))
	}
	return commandLine(append(append(words, cfg.Replay.Flags...), r.pkg), r.goFlags(cfg))
}

// prob is how likely noise is at other places than those of the replay, of 1000.
func (r *replay) prob(cfg *Settings) int {
	if r.quiet {
		return 0
	}
	return max(cfg.Noise.Prob, 0)
}

// goFlags returns the flags of go test that the run needs.
func (r *replay) goFlags(cfg *Settings) []string {
	flags := goFlags(cfg)
	if r.test != "" {
		flags = append(flags, "-run=^"+r.test+"$")
	}
	return flags
}

// commandLine returns words and, behind --, flags of go test as a shell reads them.
func commandLine(words, flags []string) string {
	if len(flags) > 0 {
		words = append(append(words, "--"), flags...)
	}
	for i, w := range words {
		words[i] = ShellQuote(w)
	}
	return strings.Join(words, " ")
}

// shown is a finding, and how its replays know it again.
type shown struct {
	*finding.Finding
	replay replay
	again  func(*tally) bool // whether a run has shown it
}

// replays sets in f the command that makes the run again which has shown it first, see [replayOf].
func (t *tally) replays(
	cfg *Settings, strength int, windows map[string]time.Duration, f *finding.Finding, again func(*tally) bool,
	waited ...string,
) {
	r := replayOf(cfg, strength, windows, f, waited...)
	f.Evidence.Replay = r.command(cfg)
	t.shown = append(t.shown, shown{f, r, again})
}

const (
	// selections is how many runs a way to replay a finding has to show it in one of.
	selections = 2
	// stretch is how many times as long pauses are as in the run that has shown a hang, in one of the ways to replay it.
	stretch = 8
	// quietSeeds is how many further seeds are tried for a finding that was seen without noise.
	quietSeeds = 3
	// reliable is the rate from which no better way is looked for.
	reliable = 0.75
)

// measureReplays tries the replay commands of the findings: it chooses for each one
// that shows it, and counts in how many of Config.Replays further runs that does.
// Findings that there is no time for keep the command that was not tried.
func (c *campaign) measureReplays(ctx context.Context) {
	// A finding that is another's note by now needs no run.
	all := slices.DeleteFunc(c.seen.shown, func(s shown) bool { return !slices.Contains(c.result.Findings, s.Finding) })
	slices.SortStableFunc(all, func(a, b shown) int { // the certain ones first, then those that one test shows
		return cmp.Or(cmp.Compare(a.Status, b.Status), -cmp.Compare(min(len(a.replay.test), 1), min(len(b.replay.test), 1)))
	})
	commands := map[replay]bool{}
	for i := range all {
		commands[all[i].replay] = true
	}
	most := c.replayTime(len(commands))
	c.time.end = time.Now().Add(most)
	isOver := func() bool { return c.cfg.Replay.Tries <= 0 || ctx.Err() != nil || time.Now().After(c.time.end) }
	var left []*shown
	for i := range all {
		if isOver() {
			return
		}
		c.progress(Event{Kind: Replaying, Run: i + 1, Runs: len(all), Package: all[i].replay.pkg, Elapsed: most})
		c.shareReplays(len(all) - i)
		s := &all[i]
		if c.measureReplay(ctx, s, c.waysToReplay(s)); s.Evidence.ReplayHits == 0 && s.replay.test != "" {
			left = append(left, s)
		}
	}
	// Other tests may have to come before: such runs take longest, and so come last.
	for i, s := range left {
		if isOver() {
			return
		}
		c.shareReplays(len(left) - i)
		whole := s.replay
		whole.test, whole.hangs = "", cmp.Or(whole.hangs, whole.test)
		c.measureReplay(ctx, s, []replay{whole})
	}
}

// measureReplay tries ways to replay a finding until one shows it reliably, and states the rate of the best. If none
// shows it, the finding keeps the command of the run that did.
func (c *campaign) measureReplay(ctx context.Context, s *shown, ways []replay) {
	chosen := false
	for i, r := range ways {
		if i > 0 && c.isTooLate(&r) {
			return
		}
		tries := selections
		if i > 0 && r.pause != "" {
			tries = 1 // there are many of these, and the right one shows the finding at once
		}
		hits, runs := c.tryReplay(ctx, s, r, 0, tries, 1)
		shows := hits > 0
		if shows {
			// Those that chose the way do not count.
			hits, runs = c.tryReplay(ctx, s, r, tries, c.cfg.Replay.Tries, c.cfg.Replay.Tries)
		}
		if ctx.Err() != nil {
			return
		}
		if e := s.Evidence; e.ReplayRuns == 0 || shows && (!chosen || hits > e.ReplayHits) {
			e.ReplayHits, e.ReplayRuns, e.Replay = hits, runs, r.command(&c.cfg.Settings)
		}
		if chosen = chosen || shows; float64(s.Evidence.ReplayHits) >= reliable*float64(s.Evidence.ReplayRuns) && chosen {
			return
		}
	}
}

// windowAt is the window of a place.
var windowAt = regexp.MustCompile(`@[^,]*`)

// ways lists the replays to try for r, the most faithful first: if goroutines are held for others to come, further
// noise may keep these away; a window that no plan made is made again and again; a wider one meets late accesses.
func (r *replay) ways() []replay {
	if r.held {
		return r.waysToHang()
	}
	ways := []replay{*r}
	if quiet := *r; r.hold != "" || windowAt.MatchString(r.only) {
		quiet.quiet = true
		ways = append(ways, quiet)
	}
	return append(ways, r.stronger()...)
}

// stronger lists runs with stronger noise than that of r, and no windows.
func (r *replay) stronger() (ways []replay) {
	for _, strength := range []int{1000, 10000} {
		if wider := *r; r.strength > 0 && r.strength < strength {
			wider.strength, wider.only = strength, windowAt.ReplaceAllString(r.only, "")
			ways = append(ways, wider)
		}
	}
	return ways
}

// waysToHang is [replay.ways] for goroutines that wait for ever: some order of events has caused that, and the places
// where goroutines were held only lead there. A hang without noise may come again with any seed: runs of seeds in a row
// differ in the events at which goroutines are held. Longer pauses keep the order on a slower machine.
func (r *replay) waysToHang() []replay {
	ways := []replay{*r}
	if r.strength == 0 {
		for further := range uint64(quietSeeds) {
			other := *r
			other.seed, other.strength = r.seed+1+further, 1000
			ways = append(ways, other)
		}
		return ways
	}
	longer := *r
	longer.strength, longer.only = r.strength*stretch, windowAt.ReplaceAllStringFunc(r.only, stretched)
	ways = append(ways, longer)
	if quiet := *r; r.hold != "" || r.only != "" {
		quiet.quiet = true
		ways = append(ways, quiet)
	}
	everywhere := *r
	everywhere.only = ""
	return append(ways, everywhere.stronger()...)
}

// stretched returns a longer window than this one.
func stretched(window string) string {
	length, err := time.ParseDuration(window[1:])
	if err != nil {
		return window
	}
	return fmt.Sprintf("@%dus", min(length*stretch, arm.LongestHold).Microseconds())
}

// tryReplay takes up to n runs of r from the one of number first, or fewer if enough have shown the finding.
// Findings of one command share its runs: leaks of a test are often many.
func (c *campaign) tryReplay(ctx context.Context, s *shown, r replay, first, n, enough int) (hits, runs int) {
	for hits < enough && runs < n && ctx.Err() == nil {
		// Of a slow test, one more run is a rate: all of them may take longer than the campaign.
		if runs > 0 && c.isLate() {
			return hits, runs
		}
		for len(c.replayed[r]) <= first+runs {
			seen, err := c.replayOnce(ctx, r)
			if err != nil {
				return hits, runs
			}
			if c.replayed == nil {
				c.replayed = map[replay][]*tally{}
			}
			c.replayed[r] = append(c.replayed[r], seen)
		}
		if s.again(c.replayed[r][first+runs]) {
			hits++
		}
		runs++
	}
	return hits, runs
}

// replayOnce makes the run that the command of r makes, and returns its evidence.
func (c *campaign) replayOnce(ctx context.Context, r replay) (*tally, error) {
	if r.exact {
		return c.exact.replayOnce(ctx, r)
	}
	i := slices.IndexFunc(c.cfg.Tests.Binaries, func(b build.Binary) bool { return b.Package == r.pkg })
	if i < 0 || c.cfg.Tests.Binaries[i].Path == "" {
		return nil, fmt.Errorf("no tests of %s", r.pkg)
	}
	only, windows := c.cfg.Noise.Only, c.cfg.Noise.Windows
	if r.only != "" {
		var err error
		at := func(place string) ([]uint32, error) { return arm.SitesAt(c.cfg.Plan, place) }
		if only, windows, err = arm.WindowsAt(r.only, at); err != nil {
			return nil, err
		}
	}
	hold := c.cfg.Noise.Hold
	if r.hold != "" {
		ids, err := arm.LocksAt(c.cfg.Workspace.Module.Packages, r.hold)
		if err != nil {
			return nil, err
		}
		hold = ids
	}
	pauses, err := c.pausesOf(r.pause)
	if err != nil {
		return nil, err
	}
	prefix := filepath.Join(c.result.Dir, "replay")
	file, leaks := prefix+".jsonl", leaksFile(prefix)
	for _, name := range []string{file, leaks} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	seen := newTally(c.cfg.Plan, c.cfg.Workspace.Module.Packages)
	seen.begin(1, r.seed, nil, nil)
	pkg := &c.result.Packages[i]
	o := noise{strength: r.strength, plain: pkg.PlainTime, locks: arm.HoldsAmong(hold), full: r.quiet}
	o.holds.At = windows
	vars, err := o.environment(&c.cfg.Settings, seen, prefix, only)
	if err != nil {
		return nil, err
	}
	if len(pauses) > 0 {
		vars = append(vars, "INTERLOCK_ISOLATE="+arm.PauseList(pauses))
	}
	// That a test hangs may be the finding.
	leaveOut := slices.DeleteFunc(slices.Clone(pkg.LeftOut), func(t string) bool {
		return r.test != "" || slices.Contains(strings.Split(r.hangs, "|"), t)
	})
	job := c.replayJob(&r)
	job.Engine, job.Evidence = "watch", file
	p := c.runTests(ctx, job, c.cfg.Tests.Binaries[i], pkg, testproc.Options{
		Env:   append(vars, "INTERLOCK_SECTIONS="+arm.SectionList(c.cfg.Plan, arm.Sections(c.cfg.Plan, only), nil)),
		Leaks: leaks, Timeout: c.result.Timeout, Limit: pkg.Limit, Flags: c.without(leaveOut), Test: r.test,
	})
	if p.Err != nil {
		return nil, p.Err
	}
	records, err := readRecords(file)
	if err != nil {
		return nil, err
	}
	seen.add(r.pkg, r.strength, records, p, func(string, ...any) {})
	seen.deadlocks.Add(deadlock.Run{N: 1, Seed: r.seed, Strength: r.strength, Package: r.pkg}, records)
	if records, err = readRecords(leaks); err != nil {
		return nil, err
	}
	seen.leaked(&c.cfg.Settings, r.pkg, r.strength, records)
	seen.asleep(&c.cfg.Settings, r.pkg, r.strength, p.Asleep())
	return seen, nil
}

// pausesOf returns the pauses of a replay's text.
func (c *campaign) pausesOf(text string) ([]arm.Pause, error) {
	if text == "" {
		return nil, nil
	}
	locks := func(place string) ([]uint64, error) { return arm.LocksAt(c.cfg.Workspace.Module.Packages, place) }
	at := func(place string) ([]uint32, error) { return arm.SitesAt(c.cfg.Plan, place) }
	_, pauses, err := arm.SplitPauses(text, locks, at)
	return pauses, err
}

// replayJob returns the next run of r.
func (c *campaign) replayJob(r *replay) recorded.Job {
	command := r.command(&c.cfg.Settings)
	return recorded.Job{Name: fmt.Sprintf("replay-%02d %s", len(c.replayed[*r])+1, command), Schedule: command}
}

// readRecords reads a file of evidence; none if there is no such file.
func readRecords(name string) ([]evidence.Record, error) {
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, _, err := evidence.Read(f)
	return records, err
}

// goFlags returns the flags as `go test` takes them.
func goFlags(cfg *Settings) []string {
	flags := cfg.Workspace.Module.BuildFlags()
	for _, f := range cfg.Tests.Flags {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(f, "-"), "test."); ok && strings.HasPrefix(f, "-") {
			f = "-" + rest
		}
		flags = append(flags, f)
	}
	return flags
}

// testFunction matches the name of a test behind its package, or of a function literal in it; a method, as a suite of
// tests has them, is no test of package testing.
var testFunction = regexp.MustCompile(`^(Test|Fuzz|Example)([A-Z_0-9][A-Za-z0-9_]*)?(\.func[0-9.]*)?$`)

// testOf returns the test function that all sides come from, as their stacks and go statements show it, or "".
// Goroutines that wait for ever beside a test that does belong to that test.
func testOf(f *finding.Finding) string {
	var all, tests []*finding.Goroutine
	for _, a := range f.Accesses {
		if a.Goroutine == nil {
			continue
		}
		all = append(all, a.Goroutine)
		if f.Evidence.Blocked != "" && ofTest(a.Goroutine) {
			tests = append(tests, a.Goroutine)
		}
	}
	return cmp.Or(commonTest(tests), commonTest(all))
}

// commonTest returns the test function that all goroutines come from, or "".
func commonTest(goroutines []*finding.Goroutine) (test string) {
	for _, g := range goroutines {
		of := ""
		for _, frame := range slices.Concat(g.Stack, g.Created) {
			_, function := stacktext.SplitName(frame.Function)
			if m := testFunction.FindStringSubmatch(function); m != nil && strings.HasSuffix(frame.File, "_test.go") {
				of = m[1] + m[2]
			}
		}
		if of == "" || test != "" && of != test {
			return ""
		}
		test = of
	}
	return test
}

var plainWord = regexp.MustCompile(`^[-+=:,./@%_A-Za-z0-9]+$`)

// ShellQuote quotes a word for a POSIX shell where it needs to be.
func ShellQuote(w string) string {
	if plainWord.MatchString(w) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
