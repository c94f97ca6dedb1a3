package validate

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// oneStep demands that a value which is read under the lock decides nothing
// about what is done in another region of it, unless it was so before: then the
// author had it so.
//
//	if c.n < max {     // read in one region, or in a callee with its own
//		c.mu.Lock()
//		c.n++          // torn: the test may no longer hold
//		c.mu.Unlock()
//	}
//
// A region that tests once more is right. So are two regions of one variable
// between which the function waits: its author cannot have meant one step. (The strategy doubts it.)
func (j *judge) oneStep() {
	shared := j.old.writtenUnder()
	for _, k := range j.torn(j.now, shared, false).more(j.torn(j.old, shared, false)) {
		if what, ok := strings.CutPrefix(k.what, withWait); ok {
			j.doubt(place{}, finding.Heavy, "one step", "if that changes in between, what it does then is wrong",
				"%s: %s, in two regions with a wait between them", short(k.function), what)
			continue
		}
		switch {
		case isSplitTest(k.what):
			j.doubt(place{}, finding.Heavy, "one step", comesThrough, "%s: %s, in two regions", short(k.function),
				k.what)
		case strings.Contains(k.what, thenStores):
			j.doubt(place{}, finding.Heavy, "one step", "others may come between, and it is wrong if the order counts",
				"%s %s, in two regions", short(k.function), k.what)
		case strings.HasSuffix(k.what, addsLate):
			j.doubt(place{}, finding.Heavy, "one step", addsBehind, "%s %s, in two steps",
				short(k.function), k.what)
		default:
			j.add("one step", "%s: %s, in two regions", short(k.function), k.what)
		}
	}
}

// withWait begins the texts of what torn counts of two variables between which the function waits. One region cannot
// hold both, and the author may not have meant it.
const withWait = "with a wait: "

// splitTest ends the texts of apart for an update and a test of the variable, or a read before it, of which a callee
// makes one: the function may not mean its own update.
const splitTest = " and tests it"

// thenStores is in the texts of torn for a value of one variable that is stored in another one.
const thenStores = " and then stores what comes of it in "

// addsLate ends the texts of torn for a test of the variable and an Add; see countings.
const addsLate = " and then adds to a WaitGroup that is waited for where it is set"

// addsBehind follows from such an Add.
const addsBehind = "it may add when that wait has ended"

func isSplitTest(what string) bool { return strings.HasSuffix(what, splitTest) }

// comesThrough follows from a test that is not one step with the update beside it.
const comesThrough = "two goroutines may both come through, or neither"

// joined demands that fewer tests of the claim's variable are torn from what they decide about.
func (j *judge) joined() {
	shared := j.old.writtenUnder()
	if before, after := total(j.torn(j.old, shared, true)), total(j.torn(j.now, shared, true)); after >= before {
		j.add("joined", "as many tests of %s are torn from their uses as before", j.now.claim.Variable)
	}
}

// writtenUnder names the variables that are written under the claim's lock: the
// claim's own, and those that belong to it.
func (s *side) writtenUnder() map[string]bool {
	names := map[string]bool{}
	for _, p := range s.Packages {
		each(p, func(_ *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			var addr ssa.Value
			switch instr := instr.(type) {
			case *ssa.Store:
				addr = instr.Addr
			case *ssa.MapUpdate:
				addr = instr.Map
			default:
				return
			}
			if name, ok := accesspath.NameOf(addr); ok && s.mayHold(st) {
				names[name.String()] = true
			}
		})
	}
	return names
}

// part is an access to one of the variables in a region of the lock, or a call
// that makes one in a region of its own.
type part struct {
	instr  ssa.Instruction
	name   string          // of the variable
	own    bool            // it is the claim's
	base   accesspath.Path // the object; zero if the variable has none
	region ssa.Instruction // what took the lock
	write  bool
	value  ssa.Value // of a read
	tests  bool      // a read that a test may look at again: not a plain use of an entry
	// indexed is whether a read takes an element at a place that its function does not compare with the length.
	indexed bool
	// inner is the access itself where instr is a call that makes it.
	inner  ssa.Instruction
	update bool // a write by a callee, or an atomic operation, that computes from what the variable holds
	// again names the variables that a callee tests under the lock before its write.
	again []string
}

// torn counts pairs of parts in different regions of which the first decides
// about the second: those of one variable only where the function cannot wait
// in between, or in any case with all; and, unless with all, those of which one updates the variable that the other
// reads. A send on a channel that is closed
// somewhere is the second of a pair, too.
func (j *judge) torn(s *side, shared map[string]bool, all bool) tally {
	found, closed := tally{}, closedChannels(s.packages())
	for _, p := range s.Packages {
		for _, fn := range p.IR.Funcs {
			// What a test does between two calls is nobody's one step.
			if p.IR.InTest(fn) || isTestOf(p, fn) && s.claim.Variable.Func == "" || !s.concerns(j, p, fn) {
				continue
			}
			parts, sends, counted := s.parts(p, fn, shared), s.sends(p, fn, closed), s.countedIn(p, fn)
			if !all {
				s.apart(p, fn, slices.Concat(parts, s.bareReads(p, fn, shared)), found)
			}
			for _, a := range parts {
				if a.value == nil {
					continue
				}
				d := facts.Decided(a.value)
				for _, what := range slices.Concat(decidesOn(a, d, sends, counted), s.tornFrom(p, a, d, parts, all)) {
					found[tallyKey{declared(p, fn), what}]++
				}
			}
		}
	}
	return found
}

// decidesOn lists the sends and Adds about which the read a of the claim's variable decides from another region.
func decidesOn(a part, d facts.Dependence, sends []sending,
	counted map[ssa.Instruction]ssa.Instruction) (list []string) {
	if !a.own {
		return nil
	}
	for _, x := range sends {
		if x.region != a.region && d.Controls(x.instr.Block()) {
			list = append(list, fmt.Sprintf("tests %s and then sends on a channel that is closed elsewhere", short(a.name)))
		}
	}
	for x, region := range counted {
		if region != a.region && d.Controls(x.Block()) {
			list = append(list, "tests "+short(a.name)+addsLate)
		}
	}
	return list
}

// tornFrom lists the parts that are torn from a, which decides d: with all, also those of its own variable between
// which the function waits, or may, and of which none is an update that gets lost.
func (s *side) tornFrom(p *session.Package, a part, d facts.Dependence, parts []part, all bool) (list []string) {
	for _, b := range parts {
		if !s.isTorn(p, a, b, d, parts) {
			continue
		}
		waits := s.waitsBetween(p, a.instr, b.instr)
		// An update in between is lost, or an element gone, however long that takes.
		isWrong := b.write && b.stores(d) || b.indexed
		if !all && a.name == b.name && waits && !isWrong {
			continue
		}
		what := fmt.Sprintf("tests %s and then reads %s", short(a.name), short(b.name))
		switch {
		case b.write && a.name != b.name && !d.Controls(b.instr.Block()):
			what = fmt.Sprintf("takes %s%s%s", short(a.name), thenStores, short(b.name))
		case b.write:
			what = fmt.Sprintf("tests %s and then writes %s", short(a.name), short(b.name))
		}
		if waits && (!all || a.name != b.name) {
			what = withWait + what
		}
		list = append(list, what)
	}
	return list
}

// apart counts updates of the claim's variable and reads of it in other regions of the same function, where it
// cannot wait in between. Such a read is meant to see the update, and no other; what a callee does counts where the
// function returns what is read, or a branch depends on it.
//
//	c.n++; return c.n        id := c.n; c.n++        c.inc(); return c.get()        c.n++; if c.get() == max {
func (s *side) apart(p *session.Package, fn *ssa.Function, parts []part, found tally) {
	for _, w := range parts {
		if !w.write || !w.own || s.isEntry(w) || !w.updates(parts) {
			continue
		}
		for _, r := range parts {
			if !r.isReadBeside(w) || r.isOverwritten(p, parts) || !s.isNext(p, w, r) {
				continue
			}
			what := "updates " + short(w.name)
			switch {
			case w.inner == nil && r.inner == nil || returnsFrom(fn, r.value):
				found[tallyKey{declared(p, fn), what + " and reads it"}]++
			case decides(r.value), p.IR.Flow(fn).Leads(r.instr, w.instr) && !p.IR.Flow(fn).Leads(w.instr, r.instr):
				found[tallyKey{declared(p, fn), what + splitTest}]++
			}
		}
	}
}

// bareReads lists the reads of the claim's variable in fn without the lock, each as a region of its own: who has
// released the lock between an update and such a read has not meant one step.
func (s *side) bareReads(p *session.Package, fn *ssa.Function, shared map[string]bool) (reads []part) {
	p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) {
		if x, ok := s.partOf(p, instr, shared); ok && x.own && x.value != nil && !s.mayHold(st) {
			x.region = instr
			reads = append(reads, x)
		}
	})
	return reads
}

// isNext reports whether one of the two comes behind the other without a wait in between.
func (s *side) isNext(p *session.Package, a, b part) bool {
	flow := p.IR.Flow(a.instr.Parent())
	return flow.Leads(a.instr, b.instr) && !s.waitsBetween(p, a.instr, b.instr) ||
		flow.Leads(b.instr, a.instr) && !s.waitsBetween(p, b.instr, a.instr)
}

// isEntry reports whether w writes an entry of a map or what a pointer leads to, which another read need not be about.
func (s *side) isEntry(w part) bool {
	at := w.instr
	if w.inner != nil {
		at = w.inner
	}
	switch at := at.(type) {
	case *ssa.Store:
		name, ok := accesspath.NameOf(at.Addr)
		return ok && name.Field != s.claim.Variable.Name
	case *ssa.Call:
		_, isBuiltin := at.Call.Value.(*ssa.Builtin) // delete
		return isBuiltin
	}
	return true
}

// updates reports whether the write w stores what is computed from the variable.
func (w part) updates(parts []part) bool {
	return w.update || slices.ContainsFunc(parts, func(r part) bool {
		return r.own && r.region == w.region && r.base == w.base && r.value != nil && r.instr != w.instr &&
			facts.Decided(r.value).Feeds(w.instr)
	})
}

// isReadBeside reports whether r reads, in another region, the variable that w updates.
func (r part) isReadBeside(w part) bool {
	return r.own && !r.write && r.base == w.base && r.region != w.region && r.instr != w.instr
}

// decides reports whether a branch of the function depends on v.
func decides(v ssa.Value) bool {
	d := facts.Decided(v)
	return slices.ContainsFunc(v.Parent().Blocks, func(b *ssa.BasicBlock) bool {
		branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		return ok && d.Values[branch.Cond]
	})
}

// isOverwritten reports whether r reads what its own region has stored before, or what that region only updates.
func (r part) isOverwritten(p *session.Package, parts []part) bool {
	return slices.ContainsFunc(parts, func(w part) bool {
		if !w.write || !w.own || w.region != r.region || w.base != r.base {
			return false
		}
		return w.instr == r.instr || p.IR.Flow(w.instr.Parent()).Leads(w.instr, r.instr) ||
			facts.Decided(r.value).Feeds(w.instr)
	})
}

// isTestOf reports whether go test runs the function that fn stands in.
func isTestOf(p *session.Package, fn *ssa.Function) bool {
	name := ir.Outermost(fn).Name()
	isTest := strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Benchmark") || strings.HasPrefix(name, "Fuzz")
	return isTest && p.IR.InTestFile(fn)
}

// concerns reports whether the patch touches fn, or a function that it calls.
func (s *side) concerns(j *judge, p *session.Package, fn *ssa.Function) bool {
	if j.touched[declared(p, fn)] {
		return true
	}
	for instr := range ir.Instructions(fn) {
		call, ok := instr.(*ssa.Call)
		if !ok {
			continue
		}
		if callee, _ := callgraph.Target(call.Common()); callee != nil && j.touched[callgraph.FullName(callee)] {
			return true
		}
		if call.Call.IsInvoke() && slices.ContainsFunc(s.followed(call), func(callee *ssa.Function) bool {
			return j.touched[callgraph.FullName(callee)]
		}) {
			return true
		}
	}
	return false
}

// parts lists the accesses of fn under the lock, by itself and in callees.
func (s *side) parts(p *session.Package, fn *ssa.Function, shared map[string]bool) []part {
	var parts []part
	p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) {
		if call, ok := instr.(*ssa.Call); ok && !s.mayHold(st) {
			parts = append(parts, s.partsOfCallee(call, shared, 1)...)
			return
		}
		region := s.regionOf(st)
		x, ok := s.partOf(p, instr, shared)
		if ok && region != nil {
			x.region = region
			parts = append(parts, x)
		}
	})
	return parts
}

// regionOf returns what took the claim's lock, if fn itself did.
func (s *side) regionOf(st *lockset.State) ssa.Instruction {
	for _, h := range st.Held() {
		if s.isLock(h) {
			return h.Since
		}
	}
	return nil
}

// partOf recognises an access to one of the variables.
func (s *side) partOf(p *session.Package, instr ssa.Instruction, shared map[string]bool) (part, bool) {
	x := part{instr: instr, tests: true}
	var addr ssa.Value
	switch instr := instr.(type) {
	case *ssa.UnOp:
		if instr.Op.String() != "*" {
			return x, false
		}
		addr, x.value, x.indexed = instr.X, instr, isIndexedUnchecked(instr)
	case *ssa.Lookup:
		addr, x.value, x.tests = instr.X, instr, instr.CommaOk || isComparedWithNil(instr)
	case *ssa.Store:
		addr, x.write = instr.Addr, true
	case *ssa.MapUpdate:
		addr, x.write = instr.Map, true
	case *ssa.Call: // delete(m, k), clear(m)
		b, ok := instr.Call.Value.(*ssa.Builtin)
		if !ok || b.Name() != "delete" && b.Name() != "clear" {
			return x, false
		}
		addr, x.write = instr.Call.Args[0], true
	default:
		return x, false
	}
	for _, o := range (tracer{s.isVariable(p)}).origins(addr) {
		x.own, x.name, x.base = true, s.claim.Variable.String(), pathOf(baseOf(o.root))
		return x, true
	}
	name, ok := accesspath.NameOf(addr)
	if load, isLoad := addr.(*ssa.UnOp); isLoad {
		addr = load.X
	}
	x.name, x.base = name.String(), pathOf(baseOf(addr))
	return x, ok && shared[x.name]
}

// isIndexedUnchecked reports whether an element of a slice is taken at a place that its function does not compare with
// the length: who calls it has done so.
//
//	for i := 0; i < l.Len(); i++ { l.At(i) }
func isIndexedUnchecked(slice *ssa.UnOp) bool {
	for _, ref := range *slice.Referrers() {
		index, ok := ref.(*ssa.IndexAddr)
		if !ok || index.X != ssa.Value(slice) {
			continue
		}
		if _, isConst := index.Index.(*ssa.Const); !isConst && !isBounded(index) {
			return true
		}
	}
	return false
}

// isBounded reports whether a branch of the function decides by the index whether the element is taken.
func isBounded(index *ssa.IndexAddr) bool { return facts.Decided(index.Index).Controls(index.Block()) }

// isComparedWithNil reports whether an entry is tested for being there by its value: if m[k] == nil.
func isComparedWithNil(entry *ssa.Lookup) bool {
	return slices.ContainsFunc(*entry.Referrers(), func(ref ssa.Instruction) bool {
		test, ok := ref.(*ssa.BinOp)
		if !ok {
			return false
		}
		c, isConst := test.Y.(*ssa.Const)
		return isConst && c.IsNil()
	})
}

func pathOf(v ssa.Value) accesspath.Path {
	if v == nil {
		return accesspath.Path{}
	}
	return accesspath.Of(v)
}

// partsOfCallee lists what a callee does in a region that it opens itself, or that one opens that it calls: the
// variables that its results depend on, and those that it writes.
func (s *side) partsOfCallee(call *ssa.Call, shared map[string]bool, depth int) []part {
	return s.inCaller(call, func(fn *ssa.Function) (inner []part) {
		if !s.claim.isLocalLock() && !s.sumTakes()[fn].has(s.claim.Lock) {
			return nil
		}
		p, takesNone := s.Of(fn), true
		visit := func(instr ssa.Instruction, st *lockset.State) {
			takesNone = false
			if next, ok := instr.(*ssa.Call); ok && depth < maxCallees && !s.mayHold(st) {
				inner = append(inner, s.partsOfCallee(next, shared, depth+1)...)
				return
			}
			x, ok := s.partOf(p, instr, shared)
			if x.region = s.regionOf(st); ok && x.region != nil {
				inner = append(inner, x)
			}
		}
		p.Locks.WalkOwn(fn, visit)
		if takesNone { // such functions are not walked
			for instr := range ir.Instructions(fn) {
				visit(instr, &lockset.State{})
			}
		}
		return inner
	})
}

// inCaller lists the parts of a callee as its caller sees them, each with the call as its region.
func (s *side) inCaller(call *ssa.Call, partsOf func(*ssa.Function) []part) (list []part) {
	fn, args := callgraph.Target(call.Common())
	if call.Call.IsInvoke() {
		args = append([]ssa.Value{call.Call.Value}, call.Call.Args...)
		for _, fn := range s.followed(call) {
			list = append(list, s.asCalled(call, s.Calls.Declared(fn), args, partsOf)...)
		}
		return list
	}
	return s.asCalled(call, s.Calls.Declared(fn), args, partsOf)
}

// asCalled lists the parts of fn as one of its callers sees them.
func (s *side) asCalled(call *ssa.Call, fn *ssa.Function, args []ssa.Value,
	partsOf func(*ssa.Function) []part) (list []part) {
	if fn == nil || len(args) == 0 {
		return nil
	}
	inner := partsOf(fn)
	for _, x := range inner {
		if !x.write && !x.indexed && !returnsFrom(fn, x.value) {
			continue
		}
		// The callee's receiver is the caller's argument.
		base := accesspath.Path{}
		if i := x.base.Param(fn); i >= 0 && i < len(args) {
			base = accesspath.Of(args[i]).Plus(x.base.Fields)
		}
		y := part{instr: call, name: x.name, own: x.own, base: base, region: call, write: x.write, tests: true,
			indexed: x.indexed,
			inner:   x.instr, update: x.write && x.own && x.updates(inner)}
		if !x.write {
			y.value = call
		}
		for _, z := range inner {
			if x.write && testedAgain(z, x, inner) {
				y.again = append(y.again, z.name)
			}
		}
		list = append(list, y)
	}
	return list
}

// returnsFrom reports whether a result of fn depends on v.
func returnsFrom(fn *ssa.Function, v ssa.Value) bool {
	d := facts.Decided(v)
	for _, b := range fn.Blocks {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok {
			if slices.ContainsFunc(ret.Results, func(r ssa.Value) bool { return d.Values[r] }) || d.Controls(b) {
				return true
			}
		}
	}
	return false
}

// isTorn reports whether a, which decides d, and b are one step in two regions.
func (s *side) isTorn(p *session.Package, a, b part, d facts.Dependence, parts []part) bool {
	switch {
	case a.region == b.region || a.instr == b.instr || a.base != b.base:
		return false
	case !b.write && !b.indexed && (a.name == b.name && b.tests):
		return false // the variable is read once more
	case !p.IR.Flow(a.instr.Parent()).Leads(a.instr, b.instr):
		return false
	}
	stored := b.write && b.stores(d)
	if !stored && !d.Controls(b.instr.Block()) {
		return false
	}
	return stored || !testedAgain(a, b, parts) && !(slices.Contains(b.again, a.name) && isHeard(p, b, d))
}

// isHeard reports whether a function that calls b, which tests once more what d depends on, goes by that second test:
// it takes the result, or does nothing more by the first one.
//
//	if c.get(k) == nil { c.put(k, v) }		// put tests again: that is all
//	if b.state() == open { b.probe(); return nil }	// where probe found another state it is nil too
func isHeard(p *session.Package, b part, d facts.Dependence) bool {
	if v, ok := b.instr.(ssa.Value); ok && len(*v.Referrers()) > 0 {
		return true
	}
	flow := p.IR.Flow(b.instr.Parent())
	for instr := range ir.Instructions(b.instr.Parent()) {
		if !flow.Leads(b.instr, instr) || !d.Controls(instr.Block()) {
			continue
		}
		switch instr := instr.(type) {
		case *ssa.Go, *ssa.Send:
			return false
		case *ssa.Return:
			if len(instr.Results) > 0 {
				return false
			}
		}
	}
	return true
}

// stores reports whether a value that was computed from the first goes into
// the write b. A call takes it as an argument: the callee has to store it, or
// to do so depending on it. One that compares it with what it reads under the
// lock has tested that once more.
func (b part) stores(d facts.Dependence) bool {
	call, ok := b.instr.(*ssa.Call)
	if !ok || b.inner == nil {
		return d.Feeds(b.instr)
	}
	_, args := callgraph.Target(call.Common())
	for i, param := range b.inner.Parent().Params {
		if i >= len(args) || !d.Values[args[i]] {
			continue
		}
		if inner := facts.Decided(param); inner.Feeds(b.inner) || inner.Controls(b.inner.Block()) {
			return true
		}
	}
	return false
}

// testedAgain reports whether the region of b reads the variable of a once more
// and decides about b by that.
func testedAgain(a, b part, parts []part) bool {
	return slices.ContainsFunc(parts, func(c part) bool {
		again := c.region == b.region && c.name == a.name && c.base == a.base && c.value != nil
		return again && facts.Decided(c.value).Controls(b.instr.Block())
	})
}
