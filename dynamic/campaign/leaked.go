package campaign

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/deadlock"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/operation"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/rt/dump"
)

// blockedAt is a kind of goroutine blocked for ever: the place and the variable of its
// wait, and the place where it was started.
type blockedAt struct {
	state    string // as the runtime prints it, such as "chan send"
	function string
	file     string
	line     int
	started  string // file and line of the go statement
}

// blocked is a goroutine that nothing can wake any more.
type blocked struct {
	at        blockedAt
	goroutine finding.Goroutine
	parent    int64 // the goroutine that started it; 0 if that is not known
	hang      bool  // found because a test waits for ever, and part of that
	during    bool  // found because a test waits for ever
	asleep    bool  // by the runtime, as no goroutine could run
	holder    *evidence.LockHolder
}

// leakSeen has the evidence of the runs on one leak: on a goroutine that is left
// behind, or on a test that waits for ever, and then on the
// goroutines that it started as well.
type leakSeen struct {
	members  []blocked
	run      int // 0 is the one without noise
	seed     uint64
	strength int
	test     string // package
	hits     map[int]bool
	// upset are the hits in which the test that had started it failed as it does under noise alone, and the name of
	// the test: it ended early, and may not have waited for its goroutines.
	upset  map[int]string
	waited []string // the tests that waited for ever in the run that has shown it first
	// windows is where that run has held goroutines by its plan, and for how long.
	windows map[string]time.Duration
}

// leaksFile returns the file for leaked goroutines of the run with the prefix.
func leaksFile(prefix string) string { return prefix + "-leaks.jsonl" }

// takeLeaks takes up the leaked goroutines that a process has written to the file, if any, and the
// deadlocks, where that is all it has written, and the goroutines that the runtime has found asleep.
func (c *campaign) takeLeaks(strength int, pkg *PackageResult, file string, p *testproc.Process) {
	records, err := readRecords(file)
	if err != nil {
		c.problem("leaked goroutines of %s: %v", pkg.Package, err)
	}
	c.takeDeadlocks(strength, pkg, p, records)
	c.seen.waited = waitedIn(p)
	c.seen.leaked(&c.cfg.Settings, pkg.Package, strength, records, pkg.upset(p)...)
	c.seen.asleep(&c.cfg.Settings, pkg.Package, strength, p.Asleep())
}

// takeDeadlocks takes up the deadlocks in records of the process p in the run that goes on, and has the schedule of
// the package learn from these and from orders of locks.
func (c *campaign) takeDeadlocks(
	strength int, pkg *PackageResult, p *testproc.Process, records []evidence.Record,
) {
	for i := range records {
		switch r := &records[i]; r.Kind {
		case evidence.Order, evidence.Held, evidence.Deadlock:
			pkg.locks.Observe(r)
			pkg.learned.orders = append(pkg.learned.orders, *r)
		}
	}
	run := deadlock.Run{
		N: c.seen.runs, Seed: c.seen.seed, Strength: strength, Package: pkg.Package, Failed: p.TestsFailed(),
	}
	for _, name := range c.seen.deadlocks.Add(run, records) {
		c.seen.showed(pkg.Package, "deadlock "+name)
		if c.seen.stood[name] == nil {
			c.seen.stood[name] = waitedIn(p)
		}
	}
}

// waitedIn lists the tests that waited for ever in a process.
func waitedIn(p *testproc.Process) []string {
	if !p.Hangs() {
		return nil
	}
	return stacktext.HangingTests(p.Output)
}

// upset lists the tests that failed as none did without noise, and ended: by their whole names, those below others too.
func (pkg *PackageResult) upset(p *testproc.Process) []string {
	if p.Outcome != Failed {
		return nil
	}
	return slices.DeleteFunc(slices.Concat(p.FailedTests(), p.FailedSubtests()), func(t string) bool {
		top, _, _ := strings.Cut(t, "/")
		return slices.Contains(pkg.plainTests, top)
	})
}

// leaked takes up the leaked goroutines of the processes that one test binary has made, in which the tests upset
// failed under noise alone.
func (t *tally) leaked(cfg *Settings, pkg string, strength int, records []evidence.Record, upset ...string) {
	byProcess := map[int][]blocked{}
	for i := range records {
		if r := &records[i]; r.Kind == evidence.Leak {
			if b, ok := blockedIn(cfg, r.Leak); ok {
				byProcess[r.PID] = append(byProcess[r.PID], b)
			}
		}
	}
	for _, all := range byProcess {
		for _, members := range leaksOf(all) {
			t.blocked(pkg, strength, members, upset...)
		}
	}
}

// asleep adds the goroutines that the runtime has printed since none of them could go on: those of tests, and those
// that tests have started. Other goroutines may be meant to stand idle.
func (t *tally) asleep(cfg *Settings, pkg string, strength int, dumped string) {
	var all []blocked
	for _, g := range dump.Goroutines(dumped) {
		b, ok := blockedIn(cfg, &evidence.LeakedGoroutine{Hang: true, Stack: g.Text})
		if !ok || strings.HasPrefix(b.goroutine.Stack[0].Function, "testing.") { // waits for a test
			continue
		}
		b.asleep = true
		all = append(all, b)
	}
	for _, members := range leaksOf(all) {
		if members[0].hang {
			t.blocked(pkg, strength, members)
		}
	}
}

// blocked takes up one leak, of a process in which the tests upset failed under noise alone.
func (t *tally) blocked(pkg string, strength int, members []blocked, upset ...string) {
	at := members[0].at
	seen := t.leaks[at]
	if seen == nil {
		seen = &leakSeen{members: members, run: t.runs, seed: t.seed, strength: strength, test: pkg, hits: map[int]bool{},
			upset: map[int]string{}, waited: t.waited, windows: t.windows()}
		t.leaks[at] = seen
	}
	seen.hits[t.runs] = true
	if test := members[0].testIn(upset); test != "" {
		seen.upset[t.runs] = test
	}
	if members[0].hang {
		t.showed(pkg, "hang in "+at.function)
	}
}

// testIn returns the one of the tests that has started the goroutine in its own function, or in a method of a suite of
// tests, which runs below another test by its name; "" if there is none, or if the test waits for ever.
func (b *blocked) testIn(tests []string) string {
	if b.hang || len(b.goroutine.Created) == 0 {
		return ""
	}
	_, function := stacktext.SplitName(b.goroutine.Created[0].Function)
	parts := strings.Split(function, ".")
	i := slices.IndexFunc(tests, func(t string) bool {
		if parts[0] == t {
			return true
		}
		_, below, _ := strings.Cut(t, "/")
		return strings.HasPrefix(parts[0], "(") && len(parts) > 1 && slices.Contains(strings.Split(below, "/"), parts[1])
	})
	if i < 0 {
		return ""
	}
	return tests[i]
}

// leakHeader is the first line of a goroutine that is blocked for ever: "goroutine 19 [chan send
// (leaked), 2 minutes]:", or without the word where the runtime has printed it.
var leakHeader = regexp.MustCompile(
	`^goroutine \d+ [^\[]*\[([^\]]*?)( \(leaked\))?(, \d+ minutes)?(, locked to thread)?\]`)

// onPurpose is the state of goroutines that are meant to wait for ever, unless a test is one: that waits for nothing.
const onPurpose = "select (no cases)"

// startedBy is the line that names the starter of a goroutine.
var startedBy = regexp.MustCompile(`(?m)^created by .* in goroutine (\d+)$`)

// blockedIn reads one leaked goroutine. It is not ok if it waits on purpose, or if no
// code of the module has a part in it.
func blockedIn(cfg *Settings, leak *evidence.LeakedGoroutine) (b blocked, ok bool) {
	m := leakHeader.FindStringSubmatch(leak.Stack)
	if m == nil {
		return b, false
	}
	b.hang, b.during, b.goroutine, b.holder = leak.Hang, leak.Hang, stacktext.Parse(leak.Stack), leak.Holder
	if m[1] == onPurpose && !(b.hang && ofTest(&b.goroutine)) {
		return b, false
	}
	for len(b.goroutine.Stack) > 1 && stacktext.IsRuntime(b.goroutine.Stack[0].Function) {
		b.goroutine.Stack = b.goroutine.Stack[1:]
	}
	userPaths(cfg, &b.goroutine)
	inModule := func(f finding.Frame) bool { return !filepath.IsAbs(filepath.FromSlash(f.File)) }
	frames := slices.Concat(b.goroutine.Stack, b.goroutine.Created)
	if len(b.goroutine.Stack) == 0 || !slices.ContainsFunc(frames, inModule) {
		return b, false
	}
	frame := stacktext.UserFrame(b.goroutine.Stack)
	b.at = blockedAt{state: m[1], function: frame.Function, file: frame.File, line: frame.Line}
	if len(b.goroutine.Created) > 0 {
		b.at.started = fmt.Sprintf("%s:%d", b.goroutine.Created[0].File, b.goroutine.Created[0].Line)
	}
	if m := startedBy.FindStringSubmatch(leak.Stack); m != nil {
		fmt.Sscan(m[1], &b.parent)
	}
	return b, true
}

// leaksOf divides the leaked goroutines of a process: a test that waits for ever is
// one leak with all goroutines that it started, in the
// order of the text; each other place is one.
func leaksOf(all []blocked) (leaks [][]blocked) {
	slices.SortFunc(all, func(a, b blocked) int {
		return cmp.Or(a.at.compare(b.at), cmp.Compare(a.goroutine.ID, b.goroutine.ID))
	})
	family := map[int64]int64{} // goroutine -> the waiting test that it comes from
	for grown := true; grown; {
		grown = false
		for _, b := range all {
			of, known := family[b.parent]
			if b.hang && ofTest(&b.goroutine) {
				of, known = b.goroutine.ID, true
			}
			if known && b.hang && family[b.goroutine.ID] == 0 {
				family[b.goroutine.ID], grown = of, true
			}
		}
	}
	index := map[int64]int{}
	places := map[blockedAt]bool{}
	for _, b := range all {
		of := family[b.goroutine.ID]
		i, known := index[of]
		switch {
		case of != 0 && known:
			leaks[i] = append(leaks[i], b)
			continue
		case of != 0:
			index[of] = len(leaks)
		default:
			b.hang = false
			if places[b.at] {
				continue
			}
			places[b.at] = true
		}
		leaks = append(leaks, []blocked{b})
	}
	return leaks
}

// ofTest reports whether the goroutine runs a test.
func ofTest(g *finding.Goroutine) bool {
	return slices.ContainsFunc(g.Stack, func(f finding.Frame) bool { return f.Function == "testing.tRunner" })
}

// deadlocked makes a finding of each deadlock by the program's own locks, and of each possible one by the evidence of
// a package's runs.
func (t *tally) deadlocked(cfg *Settings, pkgs []PackageResult) (all []*finding.Finding) {
	name := func(g *finding.Goroutine) { userPaths(cfg, g) }
	for _, found := range t.deadlocks.Findings(name) {
		again := func(seen *tally) bool { return seen.deadlocks.Has(found.Name) }
		stood := t.stood[found.Name]
		t.replays(cfg, found.Strength, nil, found.Finding, again, stood...)
		found.Evidence.Runs = max(t.runsOf(found.Evidence.Test), found.Evidence.Hits)
		countTried(pkgs, found.Finding, found.Last, append(stood, testOf(found.Finding))...)
		all = append(all, found.Finding)
	}
	for i := range pkgs {
		for _, f := range t.deadlocks.Predicted(pkgs[i].locks.Predicted(), pkgs[i].Package, name) {
			f.Evidence.Runs = max(t.runsOf(f.Evidence.Test), f.Evidence.Hits)
			all = append(all, f)
		}
	}
	return all
}

// countTried corrects n of a finding of goroutines that wait for ever, seen in k of n runs: those that have left its
// tests out did not try. last is the last run that has shown it.
func countTried(pkgs []PackageResult, f *finding.Finding, last int, tests ...string) {
	for i := range pkgs {
		out := func(test string) bool { return slices.Contains(pkgs[i].LeftOut, test) }
		if pkgs[i].Package == f.Evidence.Test && slices.ContainsFunc(tests, out) {
			f.Evidence.Runs = max(min(f.Evidence.Runs, last), f.Evidence.Hits)
		}
	}
}

// blockedForEver makes a finding of each leak that is no part of one of the deadlocks. A leak that such a deadlock
// causes is a note on it.
func (t *tally) blockedForEver(
	cfg *Settings, deadlocks []*finding.Finding, pkgs []PackageResult,
) (all []*finding.Finding) {
	for _, at := range slices.SortedFunc(maps.Keys(t.leaks), blockedAt.compare) {
		f := t.leakFinding(cfg, at)
		if f == nil {
			continue
		}
		countTried(pkgs, f, slices.Max(slices.Collect(maps.Keys(t.leaks[at].hits))), testOf(f))
		if slices.ContainsFunc(deadlocks, func(d *finding.Finding) bool { return sharesAccess(f, d) }) {
			continue
		}
		i := slices.IndexFunc(deadlocks, func(d *finding.Finding) bool { return bringsAbout(d, f) })
		if i < 0 {
			all = append(all, f)
			continue
		}
		a := &f.Accesses[0]
		deadlocks[i].Notes = append(deadlocks[i].Notes, fmt.Sprintf("in %s %s, at %s:%d, waited for it for ever",
			finding.OfRuns(f.Evidence.Hits, f.Evidence.Runs), a.Function, a.File, a.Line))
	}
	return withoutParts(all)
}

// bringsAbout reports whether all goroutines of f wait for those of the deadlock d: for a lock at a place where one of
// these has acquired its own, or else in the function that has started one of them. A goroutine that a timer has
// started belongs to the one test that waits for ever.
func bringsAbout(d, f *finding.Finding) bool {
	if d.Status != finding.Confirmed || d.Evidence.Test != f.Evidence.Test {
		return false
	}
	return !slices.ContainsFunc(f.Accesses, func(a finding.Access) bool {
		if a.Mode == finding.Lock || a.Mode == finding.ReadLock {
			return !slices.ContainsFunc(d.Cycle, func(e finding.Edge) bool {
				return e.Since != nil && e.Since.File == a.File && e.Since.Line == a.Line
			})
		}
		waits := stacktext.UserFrame(a.Goroutine.Stack).Function
		return !slices.ContainsFunc(d.Accesses, func(b finding.Access) bool {
			if b.Goroutine == nil || len(b.Goroutine.Created) == 0 {
				return false
			}
			started := b.Goroutine.Created[0].Function
			return started == waits || started == "time.goFunc" && ofTest(a.Goroutine) && d.Evidence.Run == f.Evidence.Run
		})
	})
}

// withoutParts leaves out a finding if all its goroutines wait for locks at places where those of another finding do:
// the test itself, or a goroutine that it waits for, has come to the lock that stays locked.
func withoutParts(all []*finding.Finding) (whole []*finding.Finding) {
	for i, f := range all {
		isWhole := func(g *finding.Finding) bool {
			return g != f && isPart(f, g) && !(isPart(g, f) && slices.Index(all, g) > i)
		}
		if j := slices.IndexFunc(all, isWhole); j < 0 {
			whole = append(whole, f)
		} else {
			all[j].Notes = append(all[j].Notes, fmt.Sprintf("in %s goroutines waited there, started otherwise",
				finding.OfRuns(f.Evidence.Hits, f.Evidence.Runs)))
		}
	}
	return whole
}

// isPart reports whether all goroutines of f wait for locks, where goroutines of g do.
func isPart(f, g *finding.Finding) bool {
	return f.Evidence.Test == g.Evidence.Test && !slices.ContainsFunc(f.Accesses, func(a finding.Access) bool {
		same := func(b finding.Access) bool { return a.Position == b.Position && a.Mode == b.Mode }
		return a.Mode != finding.Lock && a.Mode != finding.ReadLock || !slices.ContainsFunc(g.Accesses, same)
	})
}

// sharesAccess reports whether goroutines of both findings wait at one place.
func sharesAccess(f, d *finding.Finding) bool {
	return d.Status == finding.Confirmed && slices.ContainsFunc(f.Accesses, func(a finding.Access) bool {
		return slices.ContainsFunc(d.Accesses, func(b finding.Access) bool { return a.File == b.File && a.Line == b.Line })
	})
}

// leakFinding returns the finding of a leak, or nil where the source shows that it is meant.
func (t *tally) leakFinding(cfg *Settings, at blockedAt) *finding.Finding {
	seen := t.leaks[at]
	f := &finding.Finding{Code: finding.BlockedForEver, Status: finding.Confirmed}
	var states, words []string
	// Goroutines that wait at one place in one way are one access of the finding.
	for i := range seen.members {
		b := &seen.members[i]
		a, v, op := t.blockedAccess(b)
		if op.OnPurpose(b.at.state) && !(b.hang && ofTest(&b.goroutine)) {
			return nil
		}
		if len(f.Accesses) == 0 {
			f.Variable = v
		}
		same := func(have finding.Access) bool { return have.Position == a.Position && have.Mode == a.Mode }
		if slices.ContainsFunc(f.Accesses, same) {
			continue
		}
		f.Accesses, words = append(f.Accesses, a), append(words, op.Text(b.at.state))
		if !slices.Contains(states, b.at.state) {
			states = append(states, b.at.state)
		}
	}
	first := &f.Accesses[0]
	test := commonTest([]*finding.Goroutine{first.Goroutine})
	// A test that waits is a deadlock; a goroutine that outlives its test is a leak.
	if seen.members[0].hang {
		f.Title = fmt.Sprintf("deadlock: nothing can wake %s", strings.Join(words, ", "))
		who := cmp.Or(test, "The test")
		f.Message = who + " waits for ever: no goroutine that can run reaches what " + waits(len(seen.members)) + " for."
		if seen.members[0].asleep {
			f.Message = who + " waits for ever: when all goroutines were blocked, the runtime found no timer that could " +
				"wake one."
		}
	} else {
		f.Title = fmt.Sprintf("goroutine blocked for ever at %s", words[0])
		if words[0] == seen.members[0].at.state {
			f.Title = fmt.Sprintf("goroutine blocked for ever in %s (%s)", first.Function, first.Expr)
		}
		of := ""
		if test != "" {
			of = ", of " + test + ","
		}
		when := "When the tests had ended"
		if seen.members[0].during {
			when = "While a test waited for ever"
		}
		f.Message = fmt.Sprintf("%s, goroutine %d%s was blocked in %s (%s). No goroutine that can run "+
			"reaches what it waits for, so it never goes on.",
			when, first.Goroutine.ID, of, first.Function, blockedHow(first, at.state))
	}
	for i := range seen.members {
		f.Message += panicking(&seen.members[i].goroutine)
	}
	f.Evidence = &finding.Evidence{
		Engine: "watch", Run: max(seen.run, 1), Runs: t.runsOf(seen.test), Hits: len(seen.hits), Count: len(seen.hits),
		Seed: seen.seed, Test: seen.test,
		Harmful: seen.members[0].hang, Blocked: strings.Join(states, ", "),
	}
	f.Evidence.Runs = max(f.Evidence.Runs, f.Evidence.Hits)
	t.addHolders(cfg, f, seen.members)
	// A test that fails under noise alone may leave steps out.
	if len(seen.upset) == len(seen.hits) {
		f.Status = finding.Suspected
		f.Notes = append(f.Notes, fmt.Sprintf("seen only where %s failed, which it does under noise alone: it may have left "+
			"this goroutine because it ended early", seen.upset[slices.Min(slices.Collect(maps.Keys(seen.upset)))]))
		return f
	}
	t.replays(cfg, seen.strength, seen.windows, f, func(seen *tally) bool { return seen.leaks[at] != nil },
		seen.waited...)
	return f
}

// panicking returns a sentence on a goroutine that waits in a deferred call of a panic, which the runtime has not
// printed yet; "" for others.
func panicking(g *finding.Goroutine) string {
	i := slices.IndexFunc(g.Stack, func(f finding.Frame) bool { return f.Function == "panic" })
	if i < 0 {
		return ""
	}
	rest := slices.DeleteFunc(slices.Clone(g.Stack[i+1:]), func(f finding.Frame) bool {
		return stacktext.IsRuntime(f.Function)
	})
	if len(rest) == 0 {
		return ""
	}
	return fmt.Sprintf(" Goroutine %d has panicked at %s:%d in %s and waits in a deferred call: the panic is printed "+
		"only when that returns.", g.ID, rest[0].File, rest[0].Line, rest[0].Name())
}

// blockedHow returns the state of a goroutine, with the function of a library that waits for it where one does.
func blockedHow(a *finding.Access, state string) string {
	if strings.HasPrefix(a.Expr, state+" in ") {
		return a.Expr
	}
	return state
}

// addHolders adds to a finding the holders of the locks that its goroutines wait for.
func (t *tally) addHolders(cfg *Settings, f *finding.Finding, members []blocked) {
	for i := range members {
		held := members[i].holder
		if held == nil {
			continue
		}
		now := stacktext.Parse(held.Stack)
		now.ID = held.GID
		userPaths(cfg, &now)
		h, ok := t.deadlocks.Holder(held.Site, now)
		if !ok || slices.Contains(f.Evidence.Holders, h) {
			continue
		}
		f.Evidence.Holders = append(f.Evidence.Holders, h)
		how := "is still there"
		if h.Returned {
			how = "has ended without releasing it"
		}
		f.Message += fmt.Sprintf(" Goroutine %d acquired %s at %s:%d in %s, which %s.",
			h.ID, h.Lock, h.File, h.Line, h.Function, how)
	}
}

func waits(n int) string {
	if n == 1 {
		return "its goroutine waits"
	}
	return fmt.Sprintf("these %d goroutines wait", n)
}

// blockedAccess returns where a goroutine waits, as an access; the variable that it
// waits for; and the operation in the source, if it is found.
func (t *tally) blockedAccess(b *blocked) (a finding.Access, v finding.Variable, op operation.Operation) {
	a = finding.Access{Mode: modeOf(b.at.state), Goroutine: &b.goroutine, Expr: b.at.state}
	a.Package, a.Function = stacktext.SplitName(b.at.function)
	a.File, a.Line = b.at.file, b.at.line
	if b.at.started != "" {
		a.Role = "goroutine started at " + b.at.started
	}
	v = finding.Variable{Package: a.Package, Function: a.Function, Name: b.at.state}
	// The operation of a library is that of the function which waits there, and not one of the module's line.
	if in := b.goroutine.Stack[0]; in.Function != b.at.function && in.Function != "panic" {
		a.Expr += " in " + in.Name()
	}
	if op = operation.Waiting(t.pkgs, &a); op.Node != nil {
		a.Column, a.Expr = op.Column(), "select"
		if op.Operand != nil {
			a.Expr, v = types.ExprString(op.Operand), op.Variable(a.Function)
		}
	}
	return a, v, op
}

// modeOf is the operation of a goroutine in a state.
func modeOf(state string) finding.Mode {
	switch {
	case strings.HasPrefix(state, "chan send"):
		return finding.Send
	case strings.HasPrefix(state, "chan receive"):
		return finding.Receive
	case strings.HasSuffix(state, "RWMutex.RLock"):
		return finding.ReadLock
	case strings.HasSuffix(state, "Mutex.Lock"):
		return finding.Lock
	}
	return finding.Wait
}

func (at blockedAt) compare(other blockedAt) int {
	return cmp.Or(cmp.Compare(at.file, other.file), cmp.Compare(at.line, other.line), cmp.Compare(at.state, other.state),
		cmp.Compare(at.started, other.started), cmp.Compare(at.function, other.function))
}
