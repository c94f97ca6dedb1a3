package waits

import (
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/simulation"
)

// findFault finds the fault at an end; not ok if there is none.
func (r *Result) findFault(root *ssa.Function, result *simulation.Result, end *simulation.End) (Wait, bool) {
	if end.Failed || slices.ContainsFunc(end.Stuck, r.onPurpose) || r.isIdleEnd(root, result, end) {
		return Wait{}, false
	}
	stuck := slices.Clone(end.Stuck)
	slices.SortStableFunc(stuck, func(a, b simulation.Stuck) int { return rankHanging(a) - rankHanging(b) })
	// A goroutine that waits for a lock is a victim, unless the lock itself is the matter.
	first, code, why := stuck[0], finding.EndlessWait, ""
	for _, s := range stuck {
		if c, text := r.lockTrouble(s, stuck); c != "" {
			first, code, why = s, c, text
			break
		}
	}
	if code == finding.EndlessWait {
		if first.Kind.IsLock() {
			return Wait{}, false
		}
		if wanted(first, stuck) {
			code = finding.WaitUnderLock
		}
		why = r.whyEndless(root, first, end)
	}
	w := Wait{Code: code, Side: sideOf(first), Why: why,
		Guessed: code == finding.EndlessWait &&
			(end.Counted || isGuessed(first.At) || recounts(end) || waitsAlone(first, end) || r.isHelper(root)),
		LeftBehind: code == finding.EndlessWait && r.isLeftBehind(root, first, end)}
	// The fault is where the lock that nobody releases is taken.
	if h := slices.IndexFunc(first.Holders, r.isLockLost); code == finding.LostUnlock && h >= 0 {
		first.At, first.Read = first.Holders[h].At, first.Holders[h].Read
		w.Side, w.Others = sideOf(first), []Side{w.Side}
	}
	for _, s := range stuck {
		if s.At != first.At {
			w.Others = append(w.Others, sideOf(s))
		}
	}
	if code == finding.LockCycle || code == finding.DoubleLock || code == finding.ReadLockAgain {
		w.addHolders(stuck)
	}
	return w, w.Pos.IsValid()
}

// addHolders adds where the locks that the goroutines wait for were taken.
func (w *Wait) addHolders(stuck []simulation.Stuck) {
	for _, s := range stuck {
		for _, h := range s.Holders {
			s.At, s.Read = h.At, h.Read
			taken := sideOf(s)
			taken.Held = true
			if taken.Pos != w.Pos && !slices.ContainsFunc(w.Others, func(o Side) bool { return o.Pos == taken.Pos }) {
				w.Others = append(w.Others, taken)
			}
		}
	}
}

// isLeftBehind reports whether s is the only wait of an end, by a goroutine that has been started, at a channel, and
// all others have returned. A test, and a program, may end soon after its function. Where the start or the wait is
// passed by on a condition, the other side may well be so too, on one that only looks different:
//
//	if strings.HasPrefix(s, "x") { go … }; …; if isX(s) { <-ch }
func (r *Result) isLeftBehind(root *ssa.Function, s simulation.Stuck, end *simulation.End) bool {
	return s.Goroutine != 0 && len(s.Sends) > 0 && !end.Running &&
		!r.Prog.InTestFile(root) && root.Pkg.Pkg.Name() != "main" && !isPassedBy(s.Start) && !isPassedBy(s.At) &&
		!slices.ContainsFunc(end.Stuck, func(o simulation.Stuck) bool { return o.At != s.At }) &&
		!slices.ContainsFunc(end.Left, func(l simulation.Left) bool { return l.Fatal })
}

// isPassedBy reports whether a way goes around an instruction and then on like the ways through it. Of one in a loop
// it does not count.
func isPassedBy(at ssa.Instruction) bool {
	from, passed := at.Block(), false
	seen := map[*ssa.BasicBlock]bool{}
	for next := slices.Clone(from.Succs); len(next) > 0; next = next[1:] {
		if b := next[0]; !seen[b] {
			seen[b] = true
			passed = passed || !from.Dominates(b)
			next = append(next, b.Succs...)
		}
	}
	return passed && !seen[from]
}

// onPurpose reports whether s waits for a message that can never come: select {}, or a channel made where it is
// waited for.
func (r *Result) onPurpose(s simulation.Stuck) bool {
	switch at := s.At.(type) {
	case *ssa.Select:
		return len(at.States) == 0
	case *ssa.UnOp:
		_, made := at.X.(*ssa.MakeChan)
		return made && r.fileAndLine(at.X.Pos()) == r.fileAndLine(at.Pos()) // <-make(chan int)
	}
	return false
}

// isIdleEnd reports whether all that hangs are goroutines that a passing test
// always leaves behind at channels and Conds. In a program that is tests alone, a value that
// nobody takes is none of these, nor is a goroutine that hangs at one channel alone in code that is not a test's own.
func (r *Result) isIdleEnd(root *ssa.Function, result *simulation.Result, end *simulation.End) bool {
	return r.Prog.InTestFile(root) && !slices.ContainsFunc(end.Stuck, func(s simulation.Stuck) bool {
		if _, sends := s.At.(*ssa.Send); !r.Prog.InTest(root) && (sends || len(s.Sends) == 1 && !isTest(s.Fn)) {
			return true
		}
		return s.Goroutine == 0 || len(s.Sends) == 0 && !s.Kind.IsCond() || !result.Always(s.At)
	})
}

// crashed is an operation on a closed channel.
func (r *Result) crashed(c simulation.Crash) Wait {
	s := sideOf(simulation.Stuck{At: c.At})
	s.Pos, s.Select = c.Pos, false
	if s.Mode == finding.Wait {
		s.Mode = finding.CloseChan
		if _, sends := c.At.(*ssa.Select); sends {
			s.Mode = finding.Send
		}
	}
	w := Wait{Code: finding.CloseRaces, Side: s, Guessed: c.Counted}
	before := "before"
	switch closed := c.Closed; {
	case closed == nil || !closed.Pos().IsValid():
	case closed == c.At:
		before = "before, here as well"
	default:
		by := sideOf(simulation.Stuck{At: closed})
		by.Mode = finding.CloseChan
		w.Others = []Side{by}
		before = "before, at " + r.fileAndLine(by.Pos)
	}
	w.Why = fmt.Sprintf("The channel may be closed %s, and this panics: %s.", before, c.What)
	return w
}

// lateUse is a use of a test after its end.
func (r *Result) lateUse(root *ssa.Function, l simulation.Late) Wait {
	s := sideOf(simulation.Stuck{At: l.At})
	s.Mode, s.On = finding.Call, nil
	return Wait{Code: finding.OutlivesTest, Side: s, Why: fmt.Sprintf("%s does not wait for %s: package testing panics "+
		"if the test has ended, and that ends all tests of the package.", r.Prog.FuncName(root),
		r.goroutineName(root, l.Goroutine, l.Start))}
}

// rankHanging orders the goroutines that hang, by how likely the cause is there: those that
// only wait for the end of others come last.
func rankHanging(s simulation.Stuck) int {
	switch {
	case s.Kind.IsLock():
		return 3
	case s.Kind.IsWaitGroup():
		return 2
	case s.Goroutine == 0:
		return 1
	}
	return 0
}

// lockTrouble judges a goroutine that waits for a lock: one of its own, one that another
// has kept, or one in a circle of locks.
func (r *Result) lockTrouble(s simulation.Stuck, all []simulation.Stuck) (finding.Code, string) {
	if !s.Kind.IsLock() {
		return "", ""
	}
	for _, h := range s.Holders {
		switch {
		case h.Goroutine == s.Goroutine && r.isLockLost(h):
			return finding.LostUnlock, fmt.Sprintf("%s has returned without releasing the lock, for which the goroutine "+
				"waits at %s.", r.Prog.FuncName(h.At.Parent()), r.describePlace(s.Fn, s.At))
		case h.Goroutine == s.Goroutine && h.Read && s.Read:
			return finding.ReadLockAgain, fmt.Sprintf("The goroutine holds the lock since %s, and a writer waits in between.",
				r.describePlace(s.Fn, h.At))
		case h.Goroutine == s.Goroutine && h.Read:
			return finding.ReadLockAgain, fmt.Sprintf("The goroutine holds the read lock since %s: it waits for itself.",
				r.describePlace(s.Fn, h.At))
		case h.Goroutine == s.Goroutine:
			return finding.DoubleLock, fmt.Sprintf("The goroutine holds the lock since %s: it waits for itself.",
				r.describePlace(s.Fn, h.At))
		case h.Ended:
			return finding.LostUnlock, fmt.Sprintf("A goroutine takes the lock and ends; another one waits for it at %s.",
				r.describePlace(s.Fn, s.At))
		}
	}
	if circle(s, all) {
		return finding.LockCycle, "Each of the goroutines holds the lock that the next one waits for."
	}
	return "", ""
}

// waitsAlone reports whether s waits for a message where no second goroutine has been started: for another holder of
// the channel, or because a loop that starts some goes round for no item.
func waitsAlone(s simulation.Stuck, end *simulation.End) bool {
	return end.Alone && !s.Kind.IsLock() && !s.Kind.IsWaitGroup() && !s.Kind.IsCond()
}

// isHelper reports whether root is a test helper with parameters besides *testing.T: the tests pass the arguments, and
// each of them is a scope of its own.
func (r *Result) isHelper(root *ssa.Function) bool {
	if !r.Prog.InTestFile(root) || isTest(root) || !r.called[root] {
		return false
	}
	return slices.ContainsFunc(root.Params, func(p *ssa.Parameter) bool {
		t := types.TypeString(p.Type(), nil)
		return !strings.HasPrefix(t, "*testing.") && !strings.HasPrefix(t, "testing.")
	})
}

// isLockLost reports whether nothing is left that releases the lock: its goroutine has ended, or the call that took it.
func (r *Result) isLockLost(h simulation.Holder) bool {
	return h.Ended || h.Returned && !r.locks.MayReturnLocked(h.At.Parent())
}

// circle reports whether s, which waits for a lock, holds a lock that the holder of that one waits for.
func circle(s simulation.Stuck, all []simulation.Stuck) bool {
	seen := map[int]bool{}
	for next := s; ; {
		if seen[next.Goroutine] {
			return true
		}
		seen[next.Goroutine] = true
		found := false
		for _, other := range all {
			if other.Kind.IsLock() && slices.ContainsFunc(next.Holders,
				func(h simulation.Holder) bool { return h.Goroutine == other.Goroutine }) {
				next, found = other, true
				break
			}
		}
		if !found {
			return false
		}
	}
}

// wanted reports whether somebody waits for a lock that s holds.
func wanted(s simulation.Stuck, all []simulation.Stuck) bool {
	return slices.ContainsFunc(all, func(other simulation.Stuck) bool {
		return other.Kind.IsLock() && slices.ContainsFunc(other.Holders,
			func(h simulation.Holder) bool { return h.Goroutine == s.Goroutine })
	})
}

// whyEndless returns where the other goroutines are; those that were started at one place and do the same are counted.
func (r *Result) whyEndless(root *ssa.Function, s simulation.Stuck, end *simulation.End) string {
	type state struct{ who, many, one, all string } // the goroutine, several of them, and the verbs of one and of several
	var states []state
	count := map[state]int{}
	add := func(g int, start ssa.Instruction, one, all string) {
		st := state{who: r.goroutineName(root, g, start), one: one, all: all}
		if start != nil {
			st.many = "goroutines started at " + r.fileAndLine(start.Pos())
		}
		if count[st]++; count[st] == 1 {
			states = append(states, st)
		}
	}
	// Those that hang as well, and those that have ended.
	for _, o := range end.Stuck {
		switch {
		case o.Goroutine == s.Goroutine:
		case o.At == s.At:
			add(o.Goroutine, o.Start, "also waits here", "also wait here")
		default:
			at := " at " + r.describePlace(o.Fn, o.At)
			add(o.Goroutine, o.Start, "waits"+at, "wait"+at)
		}
	}
	for _, l := range end.Left {
		how := " returned"
		if l.Fatal {
			how = " ended"
		}
		how += r.atLine(l.At)
		add(l.Goroutine, l.Start, "has"+how, "have"+how)
	}
	// One sentence, however many there are.
	var parts []string
	others := 0
	for i, st := range states {
		switch n := count[st]; {
		case len(states) > 3 && i >= 2:
			others += n
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s %s", n, st.many, st.all))
		default:
			parts = append(parts, st.who+" "+st.one)
		}
	}
	if others > 0 {
		parts = append(parts, fmt.Sprintf("%d other goroutines cannot end it either", others))
	}
	last := len(parts) - 1
	switch {
	case last < 0:
		return "In an order that the check has tried, nothing ends this wait."
	case last > 0:
		parts[last] = "and " + parts[last]
	}
	return "In an order that the check has tried, nothing ends this wait: " + strings.Join(parts, ", ") + "."
}

func (r *Result) atLine(at ssa.Instruction) string {
	if at == nil || !at.Pos().IsValid() {
		return ""
	}
	return " at " + r.fileAndLine(at.Pos())
}

// goroutineName returns a name of a goroutine of the simulation: of the one that runs root, or one that was started.
func (r *Result) goroutineName(root *ssa.Function, g int, start ssa.Instruction) string {
	if g == 0 || start == nil {
		return r.Prog.FuncName(root)
	}
	return "a goroutine started at " + r.fileAndLine(start.Pos())
}

func (r *Result) describePlace(fn *ssa.Function, at ssa.Instruction) string {
	if at.Pos().IsValid() {
		return r.fileAndLine(at.Pos())
	}
	return r.fileAndLine(fn.Pos())
}

func (r *Result) fileAndLine(pos token.Pos) string {
	p := ir.Position(r.Prog.Fset(), pos)
	return fmt.Sprintf("%s:%d", filepath.Base(p.Filename), p.Line)
}

// sideOf returns the operation at which s hangs.
func sideOf(s simulation.Stuck) Side {
	out := Side{Fn: s.At.Parent(), Pos: s.At.Pos(), Mode: finding.Wait}
	switch at := s.At.(type) {
	case *ssa.Send:
		out.Mode, out.On = finding.Send, at.Chan
	case *ssa.UnOp:
		out.Mode, out.On = finding.Receive, at.X
	case *ssa.Select: // the mode is Wait, at the first of its channels
		if out.Select = true; len(at.States) > 0 {
			out.On = at.States[0].Chan
		}
	case ssa.CallInstruction:
		if s.Kind.IsLock() {
			out.Mode = finding.Lock
			if s.Read {
				out.Mode = finding.ReadLock
			}
		}
		if args := at.Common().Args; len(args) > 0 {
			out.On = args[0]
		} else if at.Common().IsInvoke() {
			out.On = at.Common().Value
		}
	}
	return out
}
