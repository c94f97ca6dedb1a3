package testuse

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/accesspath"
	"github.com/interlock-go/interlock/analyzers/callers"
	"github.com/interlock-go/interlock/analyzers/lockset"
	"github.com/interlock-go/interlock/analyzers/ownership"
	"github.com/interlock-go/interlock/analyzers/ssair"
)

// pair is a test and a use that its outcome decides about, with a gap between.
type pair struct {
	test, use *event
	decision
	gap  gap
	what string // what the use does, in the past tense
	// taken: no branch decides, but the length that was found is used as an index.
	taken bool
	// since: what ties the use's variable to the test's, if they differ.
	since string
}

// gap is what lies between the two halves.
type gap int

const (
	none     gap = iota
	unlock       // a lock of both is given up in between
	atomics      // no lock holds the two together, one or both are atomic operations
	unlocked     // no lock at all
)

// pairs lists the pairs of the function, for each test and variable the first use.
func (c *checker) pairs(f *function) []pair {
	var list []pair
	for _, b := range f.branches {
		for _, t := range f.events {
			if _, asked := b.hits[t]; !asked || t.owner != ownership.Shared {
				continue
			}
			for _, u := range f.byName[t.name] {
				if p, ok := c.pair(f, b, t, u); ok {
					list = append(list, p)
				}
			}
			list = append(list, c.flagged(f, b, t)...)
		}
	}
	return append(list, c.outdated(f)...)
}

// outdated lists uses of a length as an index or end, after the variable may have
// become shorter.
func (c *checker) outdated(f *function) []pair {
	var list []pair
	for _, u := range f.events {
		if u.bound == nil || u.op != read || u.rechecked || u.owner != ownership.Shared || f.recheck(u) != nil {
			continue
		}
		hits := f.tests(u.bound)
		for _, t := range f.byName[u.name] {
			found, ok := hits[t]
			if !ok || !found.Length || t.at == u.at || t.owner != ownership.Shared || t.path.Root == nil || t.path != u.path {
				continue
			}
			if gapBetween(t, u) == unlock && guards(t, u) && comesBefore(t.at, u.at) {
				list = append(list, pair{test: t, use: u, gap: unlock, what: "indexed", taken: true, decision: decision{out: found}})
			}
		}
	}
	return list
}

func (c *checker) pair(f *function, b *branch, t, u *event) (pair, bool) {
	if u == t || u.at == t.at || u.inMap != t.inMap && !b.hits[t].Length || u.owner != ownership.Shared || u.op == swap || !sameObject(t, u) {
		return pair{}, false
	}
	g := gapBetween(t, u)
	if g == none || g != unlocked && (u.rechecked || f.recheck(u) != nil) || f.claims(t) {
		return pair{}, false
	}
	d, ok := decides(b, t, u.at)
	if !ok || g == unlock && (!f.next(d, t, u) || !guards(t, u)) {
		return pair{}, false
	}
	p := pair{test: t, use: u, decision: d, gap: g}
	p.what = c.harm(f, p)
	return p, p.what != ""
}

// sameObject reports whether the two are about one variable. That of a use in
// a callee which reaches it by itself may be the same; only counters are
// taken to be.
func sameObject(t, u *event) bool {
	if _, ok := t.path.Global(); ok {
		return t.path == u.path
	}
	if t.path.Root != nil && t.path == u.path {
		return true
	}
	return u.call && u.depth > 0 && (u.op == grow || u.op == shrink) && t.atomic && u.atomic && !related(t.path, u.path)
}

// related: both are reached from one value, by different ways.
func related(a, b accesspath.Path) bool { return a.Root != nil && a.Root == b.Root }

// gapBetween says what lies between test and use.
func gapBetween(t, u *event) gap {
	if sameRegion(t, u) {
		return none
	}
	for _, h := range t.held {
		for _, g := range u.held {
			if sameLock(h, g) && givenUp(h, g) && !(g.Read && u.op.writes()) {
				return unlock
			}
		}
	}
	switch {
	case t.unknown || u.unknown:
		return none
	case t.atomic && u.atomic:
		return atomics
	case len(t.held) == 0 && len(u.held) == 0 && !t.atomic && !u.atomic:
		return unlocked
	}
	return none
}

// givenUp reports whether a lock that is held at two places was surely given up
// in between: not where it is not known which of several operations took it.
func givenUp(before, after lockset.Held) bool {
	return after.Since != nil && (before.Since != nil || after.Back)
}

// next reports whether u lies in the first critical section of the lock after
// that of t: what was found further back, the code has most likely left behind.
func (f *function) next(d decision, t, u *event) bool {
	return !slices.ContainsFunc(f.events, func(e *event) bool {
		return d.only[e.at.Block()] && e.at != u.at && gapBetween(t, e) == unlock && gapBetween(e, u) == unlock &&
			comesBefore(e.at, u.at) && !comesBefore(u.at, e.at)
	})
}

// guards reports whether a lock that is given up between the two lies in the
// object that holds the variable, or is a package variable.
func guards(t, u *event) bool {
	for _, h := range t.held {
		for _, g := range u.held {
			if sameLock(h, g) && near(t, h) {
				return true
			}
		}
	}
	return false
}

// near is [accesses.Access.Near], and for halves that are calls the same by
// the names of types.
func near(e *event, h lockset.Held) bool {
	if e.own != nil {
		return e.own.Near(h)
	}
	if _, global := h.Path.Global(); global {
		return true
	}
	owner := e.name.Package + "." + e.name.Type + "."
	if e.name.Type == "" {
		owner = e.name.Package + "."
	}
	if strings.HasPrefix(h.Class, owner) {
		return true
	}
	_, under := e.path.Under(accesspath.Path{Root: h.Path.Root, Fields: parent(h.Path.Fields)})
	return h.Path.Root != nil && under
}

// parent leaves out the last field.
func parent(fields string) string { return fields[:max(0, strings.LastIndexByte(fields, '.'))] }

// harm says what a second goroutine that comes in between would do, as far as
// that is visible; "" if nothing is.
func (c *checker) harm(f *function, p pair) string {
	t, u, present := p.test, p.use, p.present()
	compared := p.out.Compares || p.out.Length || p.out.Computed
	switch u.op {
	case grow, shrink:
		if p.out.Computed && !p.out.Compares || f.accounted(t, u) || u.op == grow && f.soft(p) {
			return ""
		}
		return u.op.verb()
	case insert:
		if p.out.Length && p.out.Compares {
			return "added to"
		}
		if sameKey(t.key, u.key) && present <= 0 && !compared && (u.made || c.distinct(u.value)) {
			return "made"
		}
	case set:
		if present < 0 && !compared && (u.made || c.distinct(u.value)) && !c.renews(u) {
			return "made"
		}
	case mark:
		if u.inMap && p.out.Length && p.out.Compares {
			return "added to"
		}
		if u.inMap && !sameKey(t.key, u.key) || present > 0 || p.out.Length || p.out.Computed {
			return ""
		}
		if c.effect(f, p) {
			return "set"
		}
	case reset:
		if present > 0 && !compared && !u.inMap && !u.call && !t.call && p.gap == unlock && handedOn(t.own.Value, p) {
			return "cleared"
		}
	case remove:
		if sameKey(t.key, u.key) && present > 0 && c.effect(f, p) {
			return "removed"
		}
	case read:
		return c.readHarm(p)
	}
	return ""
}

// renews: u is the call of a function that makes a new value whether there is
// one or not, and that others call too: to do it twice is nothing special.
func (c *checker) renews(u *event) bool {
	call, ok := u.at.(*ssa.Call)
	if !ok || !u.call || u.value != nil {
		return false
	}
	fn, _ := callers.Target(call.Common())
	return fn != nil && (c.list.Graph.Open(fn) || len(c.list.Graph.Sites(fn)) > 1)
}

// accounted: the change is made up of what was found (n := x; …; x -= n), so
// that changes in between stay.
func (f *function) accounted(t, u *event) bool {
	if u.amount == nil {
		return false
	}
	for r := range f.tests(u.amount) {
		if r.name == t.name && (r == t || sameRegion(r, t)) {
			return true
		}
	}
	return false
}

// soft: what is added is more or less, and the test does not ask whether that
// much fits: it lets the limit be passed anyhow.
func (f *function) soft(p pair) bool {
	a := p.use.amount
	return p.use.varying() && (a == nil || !dependsOn(p.branch.at.Cond, a, 0))
}

// dependsOn reports whether v is computed from part.
func dependsOn(v, part ssa.Value, depth int) bool {
	if v == part {
		return true
	}
	instr, ok := v.(ssa.Instruction)
	if !ok || depth > maxTrace {
		return false
	}
	switch v.(type) {
	case *ssa.BinOp, *ssa.UnOp, *ssa.Convert, *ssa.ChangeType, *ssa.Phi:
	default:
		return false
	}
	return slices.ContainsFunc(instr.Operands(nil), func(op *ssa.Value) bool { return *op != nil && dependsOn(*op, part, depth+1) })
}

// claims: in the critical section of t something is set whose former value
// decides too (if c.closing { return }; c.closing = true), so that whoever comes next
// turns back.
func (f *function) claims(t *event) bool {
	return slices.ContainsFunc(f.events, func(w *event) bool {
		if !w.op.writes() || w.call || !sameRegion(t, w) {
			return false
		}
		if w.op == swap {
			v, ok := w.at.(ssa.Value)
			return ok && compared(v)
		}
		return slices.ContainsFunc(f.byName[w.name], func(r *event) bool {
			return r.op == read && r.inMap == w.inMap && sameRegion(r, w) && f.asked(r)
		})
	})
}

// handedOn: what was found is given to somebody on the way to the use, or a
// method of it is called: a second goroutine would do that again.
func handedOn(v ssa.Value, p pair) bool {
	if _, ok := v.Type().Underlying().(*types.Basic); ok {
		return false
	}
	return slices.ContainsFunc(*v.Referrers(), func(ref ssa.Instruction) bool {
		_, isCall := ref.(*ssa.Call)
		return isCall && p.only[ref.Block()]
	})
}

// readHarm: what was found there is used as if it were there still.
func (c *checker) readHarm(p pair) string {
	u := p.use
	if u.call || u.atomic || p.present() <= 0 && !(p.out.Length && p.out.Compares) || p.gap != unlock {
		return ""
	}
	switch instr := u.at.(type) {
	case *ssa.Lookup:
		if !instr.CommaOk && sameKey(p.test.key, u.key) && followed(instr) {
			return "followed"
		}
	case *ssa.UnOp:
		switch {
		case p.out.Length && indexed(instr):
			return "indexed"
		case !p.out.Length && followed(instr):
			return "followed"
		}
	}
	return ""
}

// followed reports whether v, a pointer, is followed without being asked whether it is nil.
func followed(v ssa.Value) bool {
	hit := false
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.FieldAddr:
			hit = hit || ref.X == v
		case *ssa.Call:
			hit = hit || ref.Call.IsInvoke() && ref.Call.Value == v
		case *ssa.BinOp:
			return false
		}
	}
	return hit
}

func indexed(v ssa.Value) bool {
	return slices.ContainsFunc(*v.Referrers(), func(ref ssa.Instruction) bool {
		at, ok := ref.(*ssa.IndexAddr)
		return ok && at.X == v
	})
}

// effect reports whether the side of the branch that leads to the use does
// anything else that others may see: then it is not the same to do it twice.
func (c *checker) effect(f *function, p pair) bool {
	for b := range p.only {
		for _, instr := range b.Instrs {
			if instr == p.use.at {
				continue
			}
			switch instr := instr.(type) {
			case *ssa.Go, *ssa.Send, *ssa.Select:
				return true
			case *ssa.Call:
				if c.visible(instr) {
					return true
				}
			}
		}
	}
	return false
}

// visible reports whether a call may do something that others see.
func (c *checker) visible(call *ssa.Call) bool {
	common := call.Common()
	if b, ok := common.Value.(*ssa.Builtin); ok {
		return b.Name() == "close"
	}
	if common.IsInvoke() {
		return !lockset.IsLock(common.Value.Type()) && !quietNames[common.Method.Name()]
	}
	fn, _ := callers.Target(common)
	if fn == nil {
		return true
	}
	if fn.Pkg == nil && fn.Object() == nil {
		return true
	}
	if quietNames[fn.Name()] {
		return false
	}
	return !slices.Contains(quietPackages, packageOf(fn))
}

func packageOf(fn *ssa.Function) string {
	if obj := fn.Object(); obj != nil && obj.Pkg() != nil {
		return obj.Pkg().Path()
	}
	if p := ssair.Outermost(fn).Package(); p != nil {
		return p.Pkg.Path()
	}
	return ""
}

// quietPackages do nothing that another goroutine would notice.
var quietPackages = []string{"sync", "sync/atomic", "fmt", "log", "log/slog", "errors", "strings", "strconv", "bytes", "time", "sort", "slices", "maps", "math", "context", "unicode", "path", "path/filepath", "reflect"}

// quietNames are methods that lock, ask or log.
var quietNames = map[string]bool{
	"Lock": true, "Unlock": true, "RLock": true, "RUnlock": true, "Error": true, "String": true, "Len": true,
	"Debugf": true, "Infof": true, "Warnf": true, "Errorf": true, "Noticef": true, "Tracef": true, "Printf": true, "Logf": true,
	"Debug": true, "Info": true, "Warn": true, "Trace": true,
}

// flagged lists the uses of other state that some function changes together
// with the tested flag, in one critical section.
func (c *checker) flagged(f *function, b *branch, t *event) []pair {
	if t.inMap || t.atomic || !c.isFlag(t) || b.hits[t].Compares {
		return nil
	}
	var list []pair
	for _, u := range f.events {
		if u.name == t.name || u.name.Package != t.name.Package || u.name.Type != t.name.Type || u.owner != ownership.Shared ||
			u.op != grow && u.op != insert || u.call || !related(t.path, u.path) {
			continue
		}
		if gapBetween(t, u) != unlock || f.askedUnder(t, u) || !guards(t, u) {
			continue
		}
		tie := c.changedWith(t, u)
		if tie == "" {
			continue
		}
		if d, ok := decides(b, t, u.at); ok && f.next(d, t, u) {
			list = append(list, pair{test: t, use: u, decision: d, gap: unlock, what: u.op.verb(), since: tie})
		}
	}
	return list
}

// isFlag: a boolean.
func (c *checker) isFlag(t *event) bool {
	if t.call {
		sig := t.at.(*ssa.Call).Call.Signature()
		return sig.Results().Len() == 1 && isBool(sig.Results().At(0).Type())
	}
	return t.own.Value != nil && isBool(t.own.Value.Type())
}

// askedUnder reports whether the variable of t is asked for under the lock of u.
func (f *function) askedUnder(t, u *event) bool {
	return slices.ContainsFunc(f.byName[t.name], func(r *event) bool {
		return r.op == read && r != t && sameRegion(r, u) && (r.at == u.at || f.asked(r))
	})
}

// changedWith names a function that sets the flag of t and clears the state of
// u in one critical section, as one that closes does: what is added
// afterwards, stays.
func (c *checker) changedWith(t, u *event) string {
	for _, w := range c.writers[t.name] {
		if strings.HasPrefix(w.Fn.Name(), "New") {
			continue
		}
		for _, v := range c.writers[u.name] {
			if v.Fn != w.Fn || v.Map != u.inMap && !clears(opOf(v)) || !clears(opOf(v)) {
				continue
			}
			for _, h := range w.Locks.Held() {
				if g, ok := v.Locks.Has(h.Path); ok && g.Since == h.Since {
					return c.list.Prog.FuncName(w.Fn)
				}
			}
		}
	}
	return ""
}

func clears(o op) bool { return o == reset || o == remove }
