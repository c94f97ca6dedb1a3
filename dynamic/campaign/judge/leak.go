package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/blocked"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/join"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/userpath"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/rt/dump"
)

// Leaked takes up the leaked goroutines of the processes that one test binary has made, in which the tests upset
// failed under noise alone.
func (t *Tally) Leaked(cfg *run.Settings, pkg string, strength int, records []evidence.Record, upset ...string) {
	byProcess := map[int][]blocked.Goroutine{}
	for i := range records {
		if r := &records[i]; r.Kind == evidence.Leak {
			if b, ok := blocked.Read(cfg.Workspace, r.Leak); ok {
				byProcess[r.PID] = append(byProcess[r.PID], b)
			}
		}
	}
	for _, all := range byProcess {
		for _, members := range blocked.Leaks(all) {
			t.blocked(pkg, strength, members, upset...)
		}
	}
}

// Asleep adds the goroutines that the runtime has printed since none of them could go on: those of tests, and those
// that tests have started. Other goroutines may be meant to stand idle.
func (t *Tally) Asleep(cfg *run.Settings, pkg string, strength int, dumped string) {
	var all []blocked.Goroutine
	for _, g := range dump.Goroutines(dumped) {
		b, ok := blocked.Read(cfg.Workspace, &evidence.LeakedGoroutine{Hang: true, Stack: g.Text})
		if !ok || strings.HasPrefix(b.Goroutine.Stack[0].Function, "testing.") { // waits for a test
			continue
		}
		b.Asleep = true
		all = append(all, b)
	}
	for _, members := range blocked.Leaks(all) {
		if members[0].Hang {
			t.blocked(pkg, strength, members)
		}
	}
}

// blocked takes up one leak, of a process in which the tests upset failed under noise alone.
func (t *Tally) blocked(pkg string, strength int, members []blocked.Goroutine, upset ...string) {
	at := members[0].At
	seen := t.leaks[at]
	if seen == nil {
		seen = &leakSeen{members: members, run: t.Runs, seed: t.Seed, strength: strength, test: pkg, hits: map[int]bool{},
			upset: map[int]string{}, waited: t.Waited, windows: t.windows()}
		t.leaks[at] = seen
	}
	seen.hits[t.Runs] = true
	if test := members[0].TestIn(upset); test != "" {
		seen.upset[t.Runs] = test
	}
	if members[0].Hang {
		t.Showed(pkg, "hang in "+at.Function)
	}
}

// blockedForEver makes a finding of each leak that is no part of one of the deadlocks. A leak that such a deadlock
// causes is a note on it.
func (t *Tally) blockedForEver(
	cfg *run.Settings, deadlocks []*finding.Finding, pkgs []run.Package,
) (all []*finding.Finding) {
	for _, at := range slices.SortedFunc(maps.Keys(t.leaks), blocked.Place.Compare) {
		f := t.leakFinding(cfg, at)
		if f == nil {
			continue
		}
		countTried(pkgs, f, slices.Max(slices.Collect(maps.Keys(t.leaks[at].hits))), TestOf(f))
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
			return started == waits ||
				started == "time.goFunc" && blocked.OfTest(a.Goroutine) && d.Evidence.Run == f.Evidence.Run
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
func (t *Tally) leakFinding(cfg *run.Settings, at blocked.Place) *finding.Finding {
	seen := t.leaks[at]
	f := &finding.Finding{Code: finding.BlockedForEver, Status: finding.Confirmed}
	var states, words []string
	// Goroutines that wait at one place in one way are one access of the finding.
	for i := range seen.members {
		b := &seen.members[i]
		a, v, op := b.Access(t.Pkgs)
		if op.OnPurpose(b.At.State) && !(b.Hang && blocked.OfTest(&b.Goroutine)) {
			return nil
		}
		if len(f.Accesses) == 0 {
			f.Variable = v
		}
		same := func(have finding.Access) bool { return have.Position == a.Position && have.Mode == a.Mode }
		if slices.ContainsFunc(f.Accesses, same) {
			continue
		}
		f.Accesses, words = append(f.Accesses, a), append(words, op.Text(b.At.State))
		if !slices.Contains(states, b.At.State) {
			states = append(states, b.At.State)
		}
	}
	first := &f.Accesses[0]
	test := commonTest([]*finding.Goroutine{first.Goroutine})
	// A test that waits is a deadlock; a goroutine that outlives its test is a leak.
	if seen.members[0].Hang {
		f.Title = fmt.Sprintf("deadlock: nothing can wake %s", strings.Join(words, ", "))
		who := cmp.Or(test, "The test")
		f.Message = who + " waits for ever: no goroutine that can run reaches what " + waits(len(seen.members)) + " for."
		if seen.members[0].Asleep {
			f.Message = who + " waits for ever: when all goroutines were blocked, the runtime found no timer that could " +
				"wake one."
		}
	} else {
		f.Title = fmt.Sprintf("goroutine blocked for ever at %s", words[0])
		if words[0] == seen.members[0].At.State {
			f.Title = fmt.Sprintf("goroutine blocked for ever in %s (%s)", first.Function, first.Expr)
		}
		of := ""
		if test != "" {
			of = ", of " + test + ","
		}
		when := "When the tests had ended"
		if seen.members[0].During {
			when = "While a test waited for ever"
		}
		why := "No goroutine that can run reaches what it waits for, so it never goes on."
		if seen.members[0].Abandoned {
			why = "The goroutine that has the lock has ended, so it never goes on."
		}
		f.Message = fmt.Sprintf("%s, goroutine %d%s was blocked in %s (%s). %s",
			when, first.Goroutine.ID, of, first.Function, blockedHow(first, at.State), why)
	}
	for i := range seen.members {
		f.Message += panicking(&seen.members[i].Goroutine)
	}
	f.Evidence = &finding.Evidence{
		Engine: "watch", Run: max(seen.run, 1), Runs: t.runsOf(seen.test), Hits: len(seen.hits), Count: len(seen.hits),
		Seed: seen.seed, Test: seen.test,
		Harmful: seen.members[0].Hang, Blocked: strings.Join(states, ", "),
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
	t.replays(cfg, seen.strength, seen.windows, f, func(seen *Tally) bool { return seen.leaks[at] != nil },
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
func (t *Tally) addHolders(cfg *run.Settings, f *finding.Finding, members []blocked.Goroutine) {
	for i := range members {
		held := members[i].Holder
		if held == nil {
			continue
		}
		now := stacktext.Parse(held.Stack)
		now.ID = held.GID
		userpath.Goroutine(cfg.Workspace, &now)
		h, ok := t.Deadlocks.Holder(held.Site, now)
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

// WaitedAt holds the lines at which goroutines waited for ever.
func (t *Tally) WaitedAt() map[join.Line]bool {
	lines := map[join.Line]bool{}
	for _, seen := range t.leaks {
		for i := range seen.members {
			at := &seen.members[i].At
			lines[join.Line{File: at.File, Line: at.Line}] = true
		}
	}
	return lines
}
