package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/crossing"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/deadlock"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/userpath"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// isolatedFinding makes the finding of a test that fails under noise alone if another goroutine splits a section.
func (t *Tally) isolatedFinding(cfg *run.Settings, e *Explained) *finding.Finding {
	if e.IsEarly() {
		return t.earlyFinding(cfg, e)
	}
	first, came, last := t.Access(cfg, Side(&e.First)), t.Access(cfg, Side(&e.Came)), t.Access(cfg, Side(&e.Last))
	first.Step, came.Step, last.Step = 1, 2, 3
	first.Locks, came.Locks, last.Locks = t.locksOf(e.Held[0]), t.locksOf(e.Held[1]), t.locksOf(e.Held[2])
	words := wordsOf(t.kindOf(e))
	v := finding.Variable(t.plan.Site(e.First.Site).Variable)
	f := &finding.Finding{
		Code: words.code, Status: finding.Confirmed,
		Title:    t.isolatedTitle(e, words, plainVerb(came.Mode)),
		Message:  t.isolatedStory(cfg, e, words, &first, &came, &last),
		Variable: v,
		Accesses: []finding.Access{last, first, came},
		Section: &finding.Section{
			Kind: t.kindOf(e), Function: functionOf(e), Entry: first.Position, End: last.Position, Allows: []finding.Mode{},
			EntryCall: t.callAt(cfg, e, &e.First, first.Position), EndCall: t.callAt(cfg, e, &e.Last, last.Position),
		},
		Evidence: &finding.Evidence{
			Engine: "watch", Run: t.Runs, Runs: e.Counts[PausedInside].Runs, Hits: e.Counts[PausedInside].Failed,
			Count: e.Counts[PausedInside].Failed,
			Seed:  e.seed, Test: e.Pkg, Harmful: true, Pattern: e.pattern(),
		},
	}
	f.Notes = append(f.Notes, t.counted(e))
	t.replaysPause(cfg, e, f)
	return f
}

// isolatedTitle names each variable of the section, and the pattern where there is one.
func (t *Tally) isolatedTitle(e *Explained, words words, came string) string {
	first := finding.Variable(t.plan.Site(e.First.Site).Variable)
	last := finding.Variable(t.plan.Site(e.Last.Site).Variable)
	switch {
	case first == last:
		return fmt.Sprintf("%s of %s split by a remote %s (%s)", words.both, first, came, e.pattern())
	case words.code == finding.TestAndUse:
		return fmt.Sprintf("test of %s and access of %s split by a remote %s", first, last, came)
	}
	return fmt.Sprintf("%s of %s and %s split by a remote %s", words.both, first, last, came)
}

// locksOf returns the locks acquired at uses, as accesses have them.
func (t *Tally) locksOf(held []uint64) (names []string) {
	uses := deadlock.UsesIn(t.Pkgs)
	for _, id := range held {
		u := uses[id]
		name := u.Expr
		if u.Method == "RLock" {
			name += " (read)"
		}
		if u.Expr != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// replaysPause sets in f the command that holds goroutines where the test fails by that.
func (t *Tally) replaysPause(cfg *run.Settings, e *Explained, f *finding.Finding) {
	r := run.Replay{Pkg: e.Pkg, Seed: e.seed, Test: e.Test, Pause: t.PauseText(e.At)}
	f.Evidence.Replay = r.Command(cfg)
	t.Shown = append(t.Shown, Shown{f, r, (*Tally).TestsFail})
}

// PauseText returns the pause at a visit as the command line has it.
func (t *Tally) PauseText(v arm.Visit) string {
	text := fmt.Sprintf("%s@%v", t.positionOf(v.Place), run.PauseLength)
	if v.Nth > 0 {
		text += fmt.Sprintf("/%d", v.Nth)
	}
	return text
}

// VisitText names a visit in words.
func (t *Tally) VisitText(v arm.Visit) string {
	at := t.positionOf(v.Place)
	text := fmt.Sprintf("%s:%d", at.File, at.Line)
	if v.Nth > 0 {
		text += fmt.Sprintf(", where a goroutine comes there the %s time,", ordinals[v.Nth])
	}
	return text
}

// TestsFail reports whether the tests have failed in the run.
func (t *Tally) TestsFail() bool {
	for _, r := range t.tests {
		if r.outcome != run.Passed && r.excuse == "" {
			return true
		}
	}
	return false
}

// earlyFinding makes the finding of a test that panics since one goroutine reads a variable before another stores it.
func (t *Tally) earlyFinding(cfg *run.Settings, e *Explained) *finding.Finding {
	read, store := t.Access(cfg, Side(&e.Came)), t.Access(cfg, Side(&e.Last))
	read.Step, store.Step = 1, 2
	v := finding.Variable(t.plan.Site(e.Came.Site).Variable)
	f := &finding.Finding{
		Code: finding.WrittenLate, Status: finding.Confirmed,
		Title: fmt.Sprintf("%s is read before it is first stored: nothing has the reader wait", v),
		Message: fmt.Sprintf("Goroutine %d was to read %s in %s before goroutine %d came to store %s in %s for the first "+
			"time, and then panicked. The lock or atomic access that both use does not decide which one comes first.",
			e.Came.GID, read.Expr, read.Function, e.Last.GID, store.Expr, store.Function),
		Variable: v,
		Accesses: []finding.Access{store, read},
		Evidence: &finding.Evidence{
			Engine: "watch", Run: t.Runs, Runs: e.Counts[PausedInside].Runs, Hits: e.Counts[PausedInside].Failed,
			Count: e.Counts[PausedInside].Failed,
			Seed:  e.seed, Test: e.Pkg, Harmful: true,
		},
	}
	f.Notes = append(f.Notes, t.counted(e))
	t.replaysPause(cfg, e, f)
	return f
}

// Side returns a step as a side of a split section.
func Side(s *crossing.Step) *evidence.Side {
	return &evidence.Side{Site: s.Site, Write: s.What == evidence.StepWrite, Addr: s.Addr, Size: s.Size, GID: s.GID,
		Stack: s.Stack}
}

// pattern names the interleaving as evidence.SplitSection does.
func (e *Explained) pattern() string {
	split := evidence.SplitSection{Entry: Side(&e.First), Remote: Side(&e.Came), End: Side(&e.Last)}
	return split.Pattern()
}

// functionOf returns the function that has the section, as accesses name it.
func functionOf(e *Explained) string {
	_, function := stacktext.SplitName(e.Function)
	return function
}

// kindOf returns the kind of the section: by whether the value of the first read is tested, and whether the last access
// stores the variable.
func (t *Tally) kindOf(e *Explained) string {
	file := ""
	for _, f := range e.First.Frames {
		if f.Function == e.Function {
			file = f.File
		}
	}
	one := t.plan.Site(e.First.Site).Variable == t.plan.Site(e.Last.Site).Variable
	switch {
	case e.First.What == evidence.StepRead && crossing.Tests(t.Pkgs, file, e.FirstLine, e.LastLine):
		return plan.TestAndUse
	case e.First.What == evidence.StepRead && e.Last.What == evidence.StepWrite && one:
		return plan.LoadAndStore
	}
	return plan.Invariant
}

// callAt returns the call in the function of the section that leads to an access, or nil where that is in the function
// itself.
func (t *Tally) callAt(cfg *run.Settings, e *Explained, s *crossing.Step, at finding.Position) *finding.Position {
	for i, f := range s.Frames {
		if f.Function == e.Function && i < len(s.Frames)-1 {
			return &finding.Position{File: userpath.File(cfg.Workspace, f.File), Line: f.Line}
		}
	}
	return nil
}

// isolatedStory reports the accesses and the failure, in their order.
func (t *Tally) isolatedStory(
	cfg *run.Settings, e *Explained, words words, first, came, last *finding.Access,
) string {
	text := fmt.Sprintf("Goroutine %d was to %s in %s (%s)", e.First.GID, t.act(first), first.Function, words.entry)
	end := words.end
	if t.plan.Site(e.First.Site).Variable != t.plan.Site(e.Last.Site).Variable {
		end = "the second" // of another variable than the one that is tested
	}
	text += fmt.Sprintf(" and, later in %s, to %s (%s). In between goroutine %d was to %s in %s",
		functionOf(e), t.act(last), end, e.Came.GID, t.act(came), came.Function)
	// One access of the other goroutine, or two: one after the first of the section, and one before its second.
	went := t.Access(cfg, Side(&e.Went))
	switch {
	case e.Went.Site != e.Came.Site:
		text += fmt.Sprintf(", and to %s in %s: it comes after the one and before the other, as in no serial order",
			t.act(&went), went.Function)
	case e.Went.Addr != e.Came.Addr:
		text += fmt.Sprintf(", and to %s of another object: it comes after the one and before the other, as in no serial "+
			"order", t.act(&went))
	default:
		text += "; no serial order of the two has this result: " + e.pattern()
	}
	return text + fmt.Sprintf(". %s by that%s.", t.failsOf(e), run.AfterColon(e.said))
}

// failsOf returns the beginning of a sentence: "TestX fails", or "The tests of p fail".
func (t *Tally) failsOf(e *Explained) string {
	if e.Test == "" {
		return whichTest(e) + " fail"
	}
	return whichTest(e) + " fails"
}

func whichTest(e *Explained) string {
	if e.Test == "" {
		return "The tests of " + e.Pkg
	}
	return e.Test
}

// String returns the rate in words.
func (f Failures) String() string { return finding.OfRuns(f.Failed, f.Runs) }

// ordinals are those of visits.
var ordinals = [...]string{2: "second", 3: "third"}

// counted reports the results of the runs of each kind.
func (t *Tally) counted(e *Explained) string {
	test := whichTest(e) + " fails"
	if e.Test == "" {
		test = "the tests fail"
	}
	said := ""
	if e.said != "" {
		said = fmt.Sprintf(" (%s)", e.said)
	}
	text := fmt.Sprintf("with a pause of %v before %s, %s in %s%s; in %s with the same pause where the other "+
		"goroutine is kept away ", run.PauseLength, strings.TrimSuffix(t.VisitText(e.At), ","), test,
		e.Counts[PausedInside], said, e.Counts[pausedApart])
	if e.IsEarly() {
		return text + "until the store"
	}
	return text + fmt.Sprintf("until the section has ended, and in %s with the same pause ahead of the section",
		e.Counts[pausedAhead])
}

// positionOf returns where a place is.
func (t *Tally) positionOf(p arm.Place) finding.Position {
	if p.Use != 0 {
		return deadlock.UsesIn(t.Pkgs)[p.Use].Position
	}
	return t.position(p.Site)
}

// withIsolated adds the findings of tests that fail under noise alone. One of a section that was split already proves
// that.
func (t *Tally) withIsolated(cfg *run.Settings, all []*finding.Finding) []*finding.Finding {
	for _, e := range t.Isolated {
		f := t.isolatedFinding(cfg, e)
		same := slices.IndexFunc(all, func(g *finding.Finding) bool {
			if f.Section == nil {
				return g.Code == f.Code && g.Variable == f.Variable
			}
			return g.Section != nil && g.Variable == f.Variable &&
				g.Section.Function == f.Section.Function && strings.HasPrefix(string(g.Code), "IL2")
		})
		if same >= 0 {
			all[same].Status, all[same].Evidence.Harmful = finding.Confirmed, true
			all[same].Notes = append(slices.DeleteFunc(all[same].Notes, func(n string) bool {
				return strings.HasPrefix(n, "predicted")
			}), f.Notes...)
			continue
		}
		all = append(all, f)
	}
	return all
}
