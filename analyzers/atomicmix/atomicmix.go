package atomicmix

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
)

//go:embed doc.go
var doc string

// Analyzer reports plain accesses to variables that are accessed atomically elsewhere.
var Analyzer = check.New("atomicmix", finding.MixedAtomic, doc, run, accesses.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
	// A copy of a struct reads its fields.
	for _, v := range list.Guardable() {
		if v.Atomic {
			reportPlain(list, v, r)
		}
	}
}

// ownRead reports whether a is the plain read of a function that stores the
// variable atomically, as its only writer may.
func ownRead(v *accesses.Variable, a *accesses.Access) bool {
	return !a.Writes() && slices.ContainsFunc(v.Accesses, func(b *accesses.Access) bool {
		return b.Fn == a.Fn && b.Mode == finding.AtomicWrite && b.Path == a.Path
	})
}

// pair is a plain access and an atomic one that it races with.
type pair struct{ plain, atomic *accesses.Access }

// reportPlain makes one finding of the plain accesses of v: all of them need the mend. One that is taken to
// mean the variable of the atomic access comes first, a write among these, and then the first of the file.
func reportPlain(list *accesses.List, v *accesses.Variable, r *check.Reporter) {
	// Each plain access with an atomic one that may run at the same time.
	var pairs []pair
	for _, a := range v.Accesses {
		if a.Atomic() || a.Map || a.Implied && a.Part == "" && !a.Elements || ownRead(v, a) || a.BeforeStart() {
			continue
		}
		if b := otherSide(list, v, a); b != nil {
			pairs = append(pairs, pair{a, b})
		}
	}
	if len(pairs) == 0 {
		return
	}
	// The first pair is the finding; the other plain accesses stand beside it.
	slices.SortStableFunc(pairs, func(x, y pair) int { return rankPair(x) - rankPair(y) })
	a, b := pairs[0].plain, pairs[0].atomic
	f := &finding.Finding{
		Title: fmt.Sprintf("%s is %s plainly and accessed atomically elsewhere", v.Name.Short(), verb(a)),
		Message: fmt.Sprintf("%s %s it through sync/atomic (%s), which orders only atomic accesses. Another goroutine may "+
			"do so at the same time.%s",
			list.Prog.FuncName(b.Fn), describeAccess(b), list.Where(b), listOthers(list, pairs[1:])),
		Variable: a.Variable(),
		Accesses: []finding.Access{list.Side(a), list.Side(b)},
	}
	shared := counted(v) || lookedUp(list, a.Path.Root, knowledge.CallsToSync) || contended(list, v, a)
	expected := a.Renews() || isReplaced(v, a) || knowledge.NameWantsLock(a.Fn.Name())
	if expected || !accesses.Alike(a, b) || !shared || !list.Meet(a.Place(), b.Place(), false) {
		f.Status = finding.Lead
	}
	var plain []*accesses.Access
	for _, p := range pairs {
		plain = append(plain, p.plain)
		if p.plain != a {
			f.Accesses = append(f.Accesses, list.Side(p.plain))
		}
	}
	r.Report(f, a.Expr, b.Expr, "accessed atomically here", check.Spots(plain...))
}

// isReplaced reports whether a copies the variable with its struct in a function that loads it atomically as well, and
// so may set the copy to that.
//
//	s := *m.snapshot
//	s.count = atomic.LoadInt64(&m.snapshot.count)
func isReplaced(v *accesses.Variable, a *accesses.Access) bool {
	return a.Part != "" && slices.ContainsFunc(v.Accesses, func(b *accesses.Access) bool {
		return b.Fn == a.Fn && b.Mode == finding.AtomicRead && b.Path == a.Path
	})
}

// counted reports whether v is a package variable, or a field that somebody adds to. Of other fields the plain accesses
// are mostly those of an owner: of an object that nobody else has, or behind a bit that is the lock.
func counted(v *accesses.Variable) bool {
	return v.Name.Type == "" || slices.ContainsFunc(v.Accesses, func(b *accesses.Access) bool {
		call, ok := b.Instr.(*ssa.Call)
		return b.Update || ok && b.Atomic() && strings.HasPrefix(call.Call.StaticCallee().Name(), "Add")
	})
}

// lookedUp reports whether v was found in a map under a lock, here or at most so many calls below: then others find the
// object as well, and the access is not that of an owner.
//
//	item := c.find(key) // in which b.RLock() … return b.items[key]
func lookedUp(list *accesses.List, v ssa.Value, calls int) bool {
	if calls < 0 {
		return false
	}
	index := 0
	if x, ok := v.(*ssa.Extract); ok {
		v, index = x.Tuple, x.Index
	}
	switch v := v.(type) {
	case *ssa.Lookup:
		return index == 0 && slices.ContainsFunc(list.All, func(a *accesses.Access) bool {
			return a.Instr == v && a.Map && len(a.Locks.Held()) > 0
		})
	case *ssa.UnOp: // a result beside a deferred unlock
		cell, ok := v.X.(*ssa.Alloc)
		return ok && slices.ContainsFunc(accesspath.Stored(cell), func(s ssa.Value) bool {
			return lookedUp(list, s, calls-1)
		})
	case *ssa.Phi:
		return slices.ContainsFunc(v.Edges, func(e ssa.Value) bool {
			return lookedUp(list, e, calls-1)
		})
	case *ssa.Call:
		fn := v.Call.StaticCallee()
		return fn != nil && slices.ContainsFunc(fn.Blocks, func(b *ssa.BasicBlock) bool {
			ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
			return ok && index < len(ret.Results) && lookedUp(list, ret.Results[index], calls-1)
		})
	}
	return false
}

// contended reports whether the function of the plain access, which callers from other packages come to, accesses
// another field of the object atomically, and any caller may write v meanwhile: it knows that others change the object.
//
//	if b.broken == 1 || atomic.LoadInt64(&b.last) > limit {
func contended(list *accesses.List, v *accesses.Variable, plain *accesses.Access) bool {
	return list.Graph.Roles(plain.Fn).API && !accesses.LifeCycle(plain.Fn) &&
		slices.ContainsFunc(v.Accesses, func(b *accesses.Access) bool {
			return b.Mode == finding.AtomicWrite && b.Fn != plain.Fn && accesses.Alike(plain, b) && list.AnyCaller(b)
		}) &&
		slices.ContainsFunc(list.All, func(a *accesses.Access) bool {
			return a.Fn == plain.Fn && a.Atomic() && a.Path.Root == plain.Path.Root && a.Obj != plain.Obj
		})
}

// rankPair puts pairs first that are taken to mean one variable, and writes before reads among them.
func rankPair(p pair) int {
	n := 0
	if !accesses.Alike(p.plain, p.atomic) {
		n = 2
	}
	if !p.plain.Writes() {
		n++
	}
	return n
}

// verb returns the verb of a plain access in the past tense.
func verb(a *accesses.Access) string {
	if a.Part != "" && !a.Writes() {
		return "copied"
	}
	return a.Verb()
}

func listOthers(list *accesses.List, rest []pair) string {
	if len(rest) == 0 {
		return ""
	}
	var places []string
	for _, p := range rest[:min(len(rest), 3)] {
		places = append(places, list.Where(p.plain))
	}
	s := fmt.Sprintf(" Also plain: %s", strings.Join(places, ", "))
	if more := len(rest) - len(places); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s + "."
}

func describeAccess(a *accesses.Access) string {
	if a.Writes() {
		return "writes"
	}
	return "reads"
}

// otherSide returns an atomic access that conflicts with the plain access a,
// one that comes to the variable as a does if there is one, and one that writes
// among these. One of the same function says little: the only writer of a variable
// may read it plainly.
func otherSide(list *accesses.List, v *accesses.Variable, a *accesses.Access) *accesses.Access {
	var best *accesses.Access
	for _, b := range v.Accesses {
		if !b.Atomic() || b.Fn == a.Fn || !accesses.MaySame(a, b) || !finding.Conflicts(a.Mode, b.Mode) ||
			!list.Parallel(a, b) ||
			accesses.MayCommonLock(a, b) || callerLocks(a, b) {
			continue
		}
		if best == nil || better(a, b, best) {
			best = b
		}
	}
	return best
}

// better reports whether the atomic access b means more for the plain access a than best does: it comes to the
// variable as a does, or it writes.
func better(a, b, best *accesses.Access) bool {
	if alike := accesses.Alike(a, b); alike != accesses.Alike(a, best) {
		return alike
	}
	return b.Writes() && !best.Writes()
}

// callerLocks reports whether a holds a lock of the object that b's callers may
// hold too.
func callerLocks(a, b *accesses.Access) bool {
	return b.Locks.Unknown && slices.ContainsFunc(a.Locks.Held(), a.Near)
}
