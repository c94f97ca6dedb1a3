package lostunlock

import (
	"fmt"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// panics reports the panics of fn that leave a lock held, if fn recovers: then
// the program goes on, and nobody unlocks. Where nothing recovers a panic ends
// the program, and the lock with it.
func (c *checker) panics(fn *ssa.Function) {
	deferred := deferredCalls(fn)
	if !recovers(deferred) {
		return
	}
	seen := map[accesspath.Path]bool{}
	c.locks.WalkOwn(fn, func(instr ssa.Instruction, s *lockset.State) {
		p, ok := instr.(*ssa.Panic)
		if !ok {
			return
		}
		for _, h := range s.Held() {
			if h.Since == nil || h.Path.Root == nil || h.Back || seen[h.Path] || unlocks(deferred, h.Path) {
				continue
			}
			seen[h.Path] = true
			c.reportPanic(fn, p, h)
		}
	})
}

func deferredCalls(fn *ssa.Function) []*ssa.Defer {
	var list []*ssa.Defer
	for instr := range ir.Instructions(fn) {
		if d, ok := instr.(*ssa.Defer); ok {
			list = append(list, d)
		}
	}
	return list
}

// recovers reports whether some deferred function calls recover.
func recovers(deferred []*ssa.Defer) bool {
	return bodyCalls(deferred, func(call *ssa.CallCommon) bool {
		b, ok := call.Value.(*ssa.Builtin)
		return ok && b.Name() == "recover"
	})
}

// unlocks reports whether some deferred call releases the lock at path, or is
// of a function that releases any lock.
func unlocks(deferred []*ssa.Defer, path accesspath.Path) bool {
	for _, d := range deferred {
		if isUnlock(d.Common()) && accesspath.Of(d.Call.Args[0]) == path {
			return true
		}
	}
	return bodyCalls(deferred, isUnlock)
}

func isUnlock(call *ssa.CallCommon) bool {
	fn := call.StaticCallee()
	return fn != nil && len(call.Args) > 0 && (fn.Name() == "Unlock" || fn.Name() == "RUnlock")
}

// bodyCalls reports whether the body of a deferred function has a call that is wanted.
func bodyCalls(deferred []*ssa.Defer, wanted func(*ssa.CallCommon) bool) bool {
	for _, d := range deferred {
		fn, _ := callgraph.Target(d.Common())
		if fn == nil {
			continue
		}
		for instr := range ir.Instructions(fn) {
			if call, ok := instr.(ssa.CallInstruction); ok && wanted(call.Common()) {
				return true
			}
		}
	}
	return false
}

func (c *checker) reportPanic(fn *ssa.Function, p *ssa.Panic, h lockset.Held) {
	path := h.Path.String()
	lock := check.Lock(c.prog, fn, h.Class, path)
	side := check.SideAt(c.prog, fn, p.Pos(), finding.Leave, path)
	side.Locks = []string{h.String()}
	f := &finding.Finding{
		Title: fmt.Sprintf("a panic that is recovered leaves %s locked", check.ShortName(lock)),
		Message: fmt.Sprintf("%s recovers and returns, but nothing deferred unlocks %s: the next Lock waits forever.",
			c.prog.FuncName(fn), path),
		Variable: lock,
		Accesses: []finding.Access{side, check.Side(c.prog, fn, h.Since, check.LockMode(h.Read), path)},
	}
	c.reporter.ReportAt(f, p.Pos(), check.Note{Pos: h.Since.Pos(), Text: path + " is locked here"})
}
