package lostunlock

import (
	_ "embed"
	"fmt"
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
)

//go:embed doc.go
var doc string

// Analyzer reports returns that leave a lock held.
var Analyzer = check.New("lostunlock", finding.LostUnlock, doc, run, ir.Analyzer, lockset.Analyzer,
	waits.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	c := &checker{
		prog:     pass.ResultOf[ir.Analyzer].(*ir.Program),
		locks:    pass.ResultOf[lockset.Analyzer].(*lockset.Result),
		reporter: r,
		reported: map[ssa.Instruction]bool{},
	}
	c.prog.Each(pass, func(fn *ssa.Function, work *ir.Work) {
		if !c.prog.InTest(fn) && !c.locks.MayReturnLocked(fn) {
			c.function(fn)
			c.panics(fn)
			c.reportWays(fn, work)
		}
	})
	r.ReportWaits(pass.ResultOf[waits.Analyzer].(*waits.Result))
}

type checker struct {
	prog     *ir.Program
	locks    *lockset.Result
	reporter *check.Reporter
	reported map[ssa.Instruction]bool // locks of which some return has been reported
}

// exit is one return of a function, with the locks that it leaves.
type exit struct {
	ret   *ssa.Return
	state *lockset.State
}

// position returns the place of e. The return at the end of a function has none of its own.
func (e exit) position() token.Pos {
	if at := e.ret.Pos(); at.IsValid() {
		return at
	}
	return e.ret.Parent().Syntax().End() - 1
}

func (c *checker) lineOf(e exit) int { return c.prog.Fset().Position(e.position()).Line }

func (c *checker) function(fn *ssa.Function) {
	var exits []exit
	c.locks.WalkOwn(fn, func(instr ssa.Instruction, s *lockset.State) {
		if ret, ok := instr.(*ssa.Return); ok {
			exits = append(exits, exit{ret, s})
		}
	})
	seen := map[accesspath.Path]bool{}
	for _, e := range exits {
		for _, h := range e.state.Held() {
			if h.Since == nil || h.Path.Root == nil || h.Back || seen[h.Path] {
				continue
			}
			seen[h.Path] = true
			c.judgeLock(fn, h, exits)
		}
	}
}

// judgeLock judges the returns of fn by the state in which they leave the lock h.
func (c *checker) judgeLock(fn *ssa.Function, h lockset.Held, exits []exit) {
	// Which returns leave the lock held, and which have surely released it?
	var leaves, frees []exit
	for _, e := range exits {
		switch _, held := e.state.Has(h.Path); {
		case held:
			leaves = append(leaves, e)
		case !e.state.MayHold(h.Path) && c.prog.Flow(fn).Leads(h.Since, e.ret):
			frees = append(frees, e)
		}
	}
	// Where none releases it, or a closure may, the function is meant to return locked.
	if len(frees) == 0 || c.locks.HandedOn(fn, h.Class) || !c.unmeant(h, leaves, frees) {
		return
	}
	path := h.Path.String()
	lock := check.Lock(c.prog, fn, h.Class, path)
	for _, e := range leaves {
		first, _ := e.state.Has(h.Path)
		if first.Since == nil {
			continue
		}
		c.reported[first.Since] = true
		side := check.Side(c.prog, fn, e.ret, finding.Leave, path)
		side.Locks = []string{first.String()}
		f := &finding.Finding{
			Title: fmt.Sprintf("a return leaves %s locked", check.ShortName(lock)),
			Message: fmt.Sprintf("%s has unlocked %s when it returns at line %d, but not when it returns at line %d: "+
				"the next Lock waits forever.",
				c.prog.FuncName(fn), path, c.lineOf(frees[len(frees)-1]), c.lineOf(e)),
			Variable: lock,
			Accesses: []finding.Access{side, check.Side(c.prog, fn, first.Since, check.LockMode(first.Read), path)},
		}
		c.reporter.ReportAt(f, e.position(), check.Note{Pos: first.Since.Pos(), Text: path + " is locked here"})
	}
}

// unmeant reports whether the returns in leaves do not look like those of a
// function that hands the lock to its caller: it does so only when it succeeds.
func (c *checker) unmeant(h lockset.Held, leaves, frees []exit) bool {
	failed, worked := false, false // some leaving return fails, some other one succeeds
	for _, e := range leaves {
		failed = failed || outcome(e.ret) == failure
	}
	for _, e := range frees {
		worked = worked || outcome(e.ret) == success
	}
	if failed && worked {
		return true
	}
	for _, e := range leaves {
		if outcome(e.ret) == success && !slices.ContainsFunc(frees, func(f exit) bool { return returnSame(e.ret, f.ret) }) {
			return false
		}
	}
	return !c.locks.ReleasedElsewhere(h.Class)
}
