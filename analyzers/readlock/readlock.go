package readlock

import (
	_ "embed"
	"fmt"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

//go:embed doc.go
var doc string

// Analyzer reports writes under the read side of a lock.
var Analyzer = check.New("readlock", finding.UnderReadLock, doc, run, accesses.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
	for _, v := range list.Variables() {
		if !v.Atomic {
			reportWrites(list, v, r)
		}
	}
}

// reportWrites reports the writes to v under a read lock, once a function.
func reportWrites(list *accesses.List, v *accesses.Variable, r *check.Reporter) {
	reported := map[string]bool{}
	for _, a := range v.Accesses {
		fn := list.Prog.FuncName(a.Fn)
		h, ok := readLock(list, a)
		if !ok || reported[fn] || list.Graph.Roles(a.Fn).Single() != nil {
			continue
		}
		reported[fn] = true
		b := otherSide(list, v, a, h)
		f := &finding.Finding{
			Title: fmt.Sprintf("%s is written under %s, which others may hold too", v.Name.Short(), h),
			Message: fmt.Sprintf("any number of goroutines may hold the read side at once; %s may %s it at the same time. "+
				"Writing needs a lock that no two hold at once.",
				list.Prog.FuncName(b.Fn), pastVerb(b)),
			Variable: a.Variable(),
			Accesses: []finding.Access{list.Side(a)},
		}
		if b != a {
			f.Accesses = append(f.Accesses, list.Side(b))
		}
		if mayHoldWriteSide(list, a.Fn, h) || !list.Meet(a.Place(), b.Place(), false) {
			f.Status = finding.Lead
		}
		r.Report(f, a.Expr, b.Expr, fmt.Sprintf("%s here under the read side, too", b.Verb()), check.Spots(a))
	}
}

func pastVerb(a *accesses.Access) string {
	if a.Writes() {
		return "write"
	}
	return "read"
}

// readLock returns the read lock that a write holds without another lock, of a's own object or of the one with
// the map that it was found in.
func readLock(list *accesses.List, a *accesses.Access) (lockset.Held, bool) {
	if a.Mode != finding.Write || a.Exclusive() || a.Locks.Unknown {
		return lockset.Held{}, false
	}
	for _, h := range a.Locks.Held() {
		if h.Read && (a.Near(h) || foundUnder(list, a, h)) {
			return h, true
		}
	}
	return lockset.Held{}, false
}

// foundUnder reports whether a is made to an object that was found under h in a map which lies beside the lock: any
// number of goroutines may find it at once.
//
//	s.mu.RLock(); e := s.entries[k]; e.hits++
func foundUnder(list *accesses.List, a *accesses.Access, h lockset.Held) bool {
	found := a.Path.Root
	if x, ok := found.(*ssa.Extract); ok && x.Index == 0 {
		found = x.Tuple
	}
	lookup, ok := found.(*ssa.Lookup)
	return ok && slices.ContainsFunc(list.All, func(b *accesses.Access) bool {
		again, held := b.Locks.Has(h.Path)
		return b.Map && b.Instr == lookup && b.Near(h) && held && again.Since == h.Since
	})
}

// mayHoldWriteSide reports whether the function takes the write side as well, so that a lock which it holds on
// some ways for reading may be held for writing on that of the write:
//
//	if grow { mu.RUnlock(); mu.Lock(); changed = true }; if changed { m[k] = v }
func mayHoldWriteSide(list *accesses.List, fn *ssa.Function, h lockset.Held) bool {
	for instr := range ir.Instructions(fn) {
		call, ok := instr.(*ssa.Call)
		if lock := list.Locks.Receiver(instr); ok && h.Since == nil && lock != nil && accesspath.Of(lock) == h.Path &&
			call.Call.StaticCallee() != nil && call.Call.StaticCallee().Name() == "Lock" {
			return true
		}
	}
	return false
}

// otherSide returns another access under the same read lock, a itself if there
// is none: two goroutines may run the same code.
func otherSide(list *accesses.List, v *accesses.Variable, a *accesses.Access, h lockset.Held) *accesses.Access {
	for _, b := range v.Accesses {
		if b.Fn == a.Fn || !accesses.MaySame(a, b) || accesses.CommonLock(a, b) {
			continue
		}
		for _, other := range b.Locks.Held() {
			if other.Read && other.Class == h.Class && !b.Exclusive() && list.Parallel(a, b) {
				return b
			}
		}
	}
	return a
}
