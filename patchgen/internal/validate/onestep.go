package validate

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
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
// between which the function waits: its author cannot have meant one step.
func (j *judge) oneStep() {
	shared := j.old.writtenUnder()
	for _, k := range j.torn(j.now, shared, false).more(j.torn(j.old, shared, false)) {
		j.add("one step", "%s: %s, in two regions", short(k.function), k.what)
	}
}

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
	for _, p := range s.snap.Packages {
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
	found, closed := tally{}, s.closedChannels()
	for _, p := range s.snap.Packages {
		for _, fn := range p.IR.Funcs {
			// What a test does between two calls is nobody's one step.
			if p.IR.InTest(fn) || isTestOf(p, fn) && s.claim.Variable.Func == "" || !j.concerns(p, fn) {
				continue
			}
			parts, sends := s.parts(p, fn, shared), s.sends(p, fn, closed)
			if !all {
				s.apart(p, fn, slices.Concat(parts, s.bareReads(p, fn, shared)), found)
			}
			for _, a := range parts {
				if a.value == nil {
					continue
				}
				d := decided(a.value)
				for _, x := range sends {
					if a.own && x.region != a.region && d.controls(x.instr.Block()) {
						what := fmt.Sprintf("tests %s and then sends on a channel that is closed elsewhere", short(a.name))
						found[tallyKey{declared(p, fn), what}]++
					}
				}
				for _, b := range parts {
					if s.isTorn(p, a, b, d, parts) && (all || a.name != b.name || !s.waitsBetween(p, a.instr, b.instr)) {
						verb := "reads"
						if b.write {
							verb = "writes"
						}
						what := fmt.Sprintf("tests %s and then %s %s", short(a.name), verb, short(b.name))
						found[tallyKey{declared(p, fn), what}]++
					}
				}
			}
		}
	}
	return found
}

// apart counts updates of the claim's variable and reads of it in other regions of the same function, where it
// cannot wait in between. Such a read is meant to see the update, and no other; what a callee does counts where the
// function returns what is read.
//
//	c.n++; return c.n        id := c.n; c.n++        c.inc(); return c.get()
func (s *side) apart(p *session.Package, fn *ssa.Function, parts []part, found tally) {
	for _, w := range parts {
		if !w.write || !w.own || s.isEntry(w) || !w.updates(parts) {
			continue
		}
		for _, r := range parts {
			if r.own && !r.write && r.base == w.base && r.region != w.region && r.instr != w.instr &&
				!r.isOverwritten(p, parts) && s.isNext(p, w, r) &&
				(w.inner == nil && r.inner == nil || returnsFrom(fn, r.value)) {
				what := fmt.Sprintf("updates %s and reads it", short(w.name))
				found[tallyKey{declared(p, fn), what}]++
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
			decided(r.value).feeds(w.instr)
	})
}

// isOverwritten reports whether r reads what its own region has stored before, or what that region only updates.
func (r part) isOverwritten(p *session.Package, parts []part) bool {
	return slices.ContainsFunc(parts, func(w part) bool {
		if !w.write || !w.own || w.region != r.region || w.base != r.base {
			return false
		}
		return w.instr == r.instr || p.IR.Flow(w.instr.Parent()).Leads(w.instr, r.instr) || decided(r.value).feeds(w.instr)
	})
}

// isTestOf reports whether go test runs the function that fn stands in.
func isTestOf(p *session.Package, fn *ssa.Function) bool {
	name := ir.Outermost(fn).Name()
	isTest := strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Benchmark") || strings.HasPrefix(name, "Fuzz")
	return isTest && p.IR.InTestFile(fn)
}

// concerns reports whether the patch touches fn, or a function that it calls.
func (j *judge) concerns(p *session.Package, fn *ssa.Function) bool {
	if j.touched[declared(p, fn)] {
		return true
	}
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			if call, ok := instr.(*ssa.Call); ok {
				if callee, _ := callgraph.Target(call.Common()); callee != nil && j.touched[fullName(callee)] {
					return true
				}
			}
		}
	}
	return false
}

// parts lists the accesses of fn under the lock, by itself and in callees.
func (s *side) parts(p *session.Package, fn *ssa.Function, shared map[string]bool) []part {
	var parts []part
	p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) {
		if call, ok := instr.(*ssa.Call); ok && !s.mayHold(st) {
			parts = append(parts, s.partsOfCallee(call, shared)...)
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
		addr, x.value = instr.X, instr
	case *ssa.Lookup:
		addr, x.value, x.tests = instr.X, instr, instr.CommaOk
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

func pathOf(v ssa.Value) accesspath.Path {
	if v == nil {
		return accesspath.Path{}
	}
	return accesspath.Of(v)
}

// partsOfCallee lists what a callee does in a region that it opens itself: the
// variables that its results depend on, and those that it writes.
func (s *side) partsOfCallee(call *ssa.Call, shared map[string]bool) []part {
	return s.inCaller(call, func(b *body) (inner []part) {
		b.pkg.Locks.WalkOwn(b.fn, func(instr ssa.Instruction, st *lockset.State) {
			x, ok := s.partOf(b.pkg, instr, shared)
			if x.region = s.regionOf(st); ok && x.region != nil {
				inner = append(inner, x)
			}
		})
		return inner
	})
}

// inCaller lists the parts of a callee as its caller sees them, each with the call as its region.
func (s *side) inCaller(call *ssa.Call, partsOf func(*body) []part) (list []part) {
	fn, args := callgraph.Target(call.Common())
	b := s.bodyOf(fn)
	if fn == nil || b == nil || len(args) == 0 {
		return nil
	}
	inner := partsOf(b)
	for _, x := range inner {
		if !x.write && !returnsFrom(b.fn, x.value) {
			continue
		}
		// The callee's receiver is the caller's argument.
		base := accesspath.Path{}
		if i := x.base.Param(b.fn); i >= 0 && i < len(args) {
			base = accesspath.Of(args[i]).Plus(x.base.Fields)
		}
		y := part{instr: call, name: x.name, own: x.own, base: base, region: call, write: x.write, tests: true,
			inner: x.instr, update: x.write && x.own && x.updates(inner)}
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
	d := decided(v)
	for _, b := range fn.Blocks {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok {
			if slices.ContainsFunc(ret.Results, func(r ssa.Value) bool { return d.values[r] }) || d.controls(b) {
				return true
			}
		}
	}
	return false
}

// decisions is what a value decides about: values computed from it, and blocks
// that only one outcome of a test leads to.
type decisions struct {
	values map[ssa.Value]bool
	blocks []*ssa.BasicBlock
}

// decided follows of through operations, locals and tests.
func decided(of ssa.Value) decisions {
	d := decisions{values: map[ssa.Value]bool{}}
	var visit func(v ssa.Value)
	visit = func(v ssa.Value) {
		if d.values[v] || v.Referrers() == nil {
			return
		}
		d.values[v] = true
		for _, ref := range *v.Referrers() {
			switch ref := ref.(type) {
			case *ssa.BinOp, *ssa.Phi, *ssa.Convert, *ssa.ChangeType, *ssa.Extract, *ssa.Field, *ssa.MakeInterface,
				*ssa.TypeAssert, *ssa.Slice:
				visit(ref.(ssa.Value))
			case *ssa.UnOp:
				if ref.Op.String() != "*" {
					visit(ref)
				}
			case *ssa.Call:
				if _, ok := ref.Call.Value.(*ssa.Builtin); ok { // len, append, min and the like
					visit(ref)
				}
			case *ssa.Store: // n := v
				if cell, ok := ref.Addr.(*ssa.Alloc); ok && ref.Val == v {
					for _, load := range *cell.Referrers() {
						if load, ok := load.(*ssa.UnOp); ok {
							visit(load)
						}
					}
				}
			case *ssa.If:
				// A block with several ways in runs whatever the outcome, and so does what follows a loop over
				// something that was read before it.
				for _, next := range ref.Block().Succs {
					if len(next.Preds) == 1 && (isRepeated(of, ref.Block()) || passesBy(ref.Block(), next)) {
						d.blocks = append(d.blocks, next)
					}
				}
			}
		}
	}
	visit(of)
	return d
}

// isRepeated reports whether v is computed again behind b.
func isRepeated(v ssa.Value, b *ssa.BasicBlock) bool {
	instr, ok := v.(ssa.Instruction)
	return ok && leads(b, nil, func(c *ssa.BasicBlock) bool { return c == instr.Block() })
}

// passesBy reports whether the function may end behind b without next.
func passesBy(b, next *ssa.BasicBlock) bool {
	return leads(b, next, func(c *ssa.BasicBlock) bool { return len(c.Succs) == 0 })
}

// leads reports whether a way from b, not through the block without, leads to one that is sought.
func leads(b, without *ssa.BasicBlock, isSought func(*ssa.BasicBlock) bool) bool {
	seen := map[*ssa.BasicBlock]bool{without: true}
	var visit func(c *ssa.BasicBlock) bool
	visit = func(c *ssa.BasicBlock) bool {
		if seen[c] {
			return false
		}
		seen[c] = true
		return isSought(c) || slices.ContainsFunc(c.Succs, visit)
	}
	return slices.ContainsFunc(b.Succs, visit)
}

// controls reports whether a test of the value decides whether b runs.
func (d decisions) controls(b *ssa.BasicBlock) bool {
	return slices.ContainsFunc(d.blocks, func(c *ssa.BasicBlock) bool { return c.Dominates(b) })
}

// feeds reports whether instr takes a value that was computed from the first.
func (d decisions) feeds(instr ssa.Instruction) bool {
	return slices.ContainsFunc(instr.Operands(nil), func(op *ssa.Value) bool { return *op != nil && d.values[*op] })
}

// stores reports whether a value that was computed from the first goes into
// the write b. A call takes it as an argument: the callee has to store it, or
// to do so depending on it. One that compares it with what it reads under the
// lock has tested that once more.
func (d decisions) stores(b part) bool {
	call, ok := b.instr.(*ssa.Call)
	if !ok || b.inner == nil {
		return d.feeds(b.instr)
	}
	_, args := callgraph.Target(call.Common())
	for i, param := range b.inner.Parent().Params {
		if i >= len(args) || !d.values[args[i]] {
			continue
		}
		if inner := decided(param); inner.feeds(b.inner) || inner.controls(b.inner.Block()) {
			return true
		}
	}
	return false
}

// isTorn reports whether a, which decides d, and b are one step in two regions.
func (s *side) isTorn(p *session.Package, a, b part, d decisions, parts []part) bool {
	switch {
	case a.region == b.region || a.instr == b.instr || a.base != b.base:
		return false
	case !b.write && (a.name == b.name && b.tests):
		return false // the variable is read once more
	case !p.IR.Flow(a.instr.Parent()).Leads(a.instr, b.instr):
		return false
	}
	stored := b.write && d.stores(b)
	if !stored && !d.controls(b.instr.Block()) {
		return false
	}
	return stored || !testedAgain(a, b, parts) && !slices.Contains(b.again, a.name)
}

// testedAgain reports whether the region of b reads the variable of a once more
// and decides about b by that.
func testedAgain(a, b part, parts []part) bool {
	return slices.ContainsFunc(parts, func(c part) bool {
		again := c.region == b.region && c.name == a.name && c.base == a.base && c.value != nil
		return again && decided(c.value).controls(b.instr.Block())
	})
}

// waitsBetween reports whether the function waits, or may, on the way from a to b.
func (s *facts) waitsBetween(p *session.Package, a, b ssa.Instruction) bool {
	flow := p.IR.Flow(a.Parent())
	for _, block := range a.Parent().Blocks {
		for _, instr := range block.Instrs {
			if flow.Leads(a, instr) && flow.Leads(instr, b) && s.hazard(p, instr) != "" {
				return true
			}
		}
	}
	return false
}

// channels are those that somebody closes: by their names, and all others by whether there is one.
type channels struct {
	named   map[accesspath.Name]bool
	unnamed bool
}

func (c channels) has(ch ssa.Value) bool {
	name, ok := accesspath.NameOf(ch)
	return c.named[name] || !ok && c.unnamed
}

// closedChannels lists the channels that the packages close.
func (s *side) closedChannels() channels {
	c := channels{named: map[accesspath.Name]bool{}}
	for _, p := range s.packages() {
		each(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			call, ok := instr.(ssa.CallInstruction)
			if !ok {
				return
			}
			if b, ok := call.Common().Value.(*ssa.Builtin); !ok || b.Name() != "close" {
				return
			}
			if name, ok := accesspath.NameOf(call.Common().Args[0]); ok {
				c.named[name] = true
			} else {
				c.unnamed = true
			}
		})
	}
	return c
}

// sending is a send, and what took the claim's lock for it, if fn itself did.
type sending struct {
	instr  ssa.Instruction
	region ssa.Instruction
}

// sends lists the sends of fn on channels that are closed somewhere. A flag that is
// tested before, and not under one lock with the send, does not keep it from
// a closed channel:
//
//	if p.closed.Load() { return }; p.ch <- v        p.closed.Store(true); close(p.ch)
func (s *side) sends(p *session.Package, fn *ssa.Function, closed channels) (list []sending) {
	p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) {
		var on []ssa.Value
		switch instr := instr.(type) {
		case *ssa.Send:
			on = []ssa.Value{instr.Chan}
		case *ssa.Select:
			for _, c := range instr.States {
				if c.Dir == types.SendOnly {
					on = append(on, c.Chan)
				}
			}
		}
		if slices.ContainsFunc(on, closed.has) {
			list = append(list, sending{instr, s.regionOf(st)})
		}
	})
	return list
}

// usedInStep demands that what the claim's test decides about is done in the region of the test: that a use reads its
// variable there is not enough where what it reads is used behind the lock.
//
//	if s.closed { … }
//	ch := s.ch	// which is closed when s.closed is set
//	s.mu.Unlock()
//	ch <- v
func (j *judge) usedInStep() {
	claim := j.now.claim
	switch {
	case claim.Tested == "":
		return
	case claim.Tested == claim.Variable.Name:
		j.sendsInStep()
		return
	case claim.Kind != Guarded:
		j.add("one step", "the test of %s and the use of %s stay apart", claim.Tested, claim.Variable)
		return
	}
	shared := j.now.writtenUnder()
	isProven := false
	for _, p := range j.now.snap.Packages {
		for _, fn := range p.IR.Funcs {
			if p.IR.InTest(fn) || !j.touched[declared(p, fn)] {
				continue
			}
			// Each test with the reads of the variable that it decides about.
			parts := j.now.parts(p, fn, shared)
			for _, a := range parts {
				isTest := a.value != nil && strings.HasSuffix(a.name, "."+claim.Tested)
				for _, b := range parts {
					if !isTest || !b.own || b.value == nil || !decided(a.value).controls(b.instr.Block()) {
						continue
					}
					isProven = isProven || a.region == b.region
					if use := j.now.usedBehind(p, fn, b); a.region != b.region {
						j.add("one step", "%s: tests %s and then reads %s, in two regions", short(declared(p, fn)), short(a.name),
							short(b.name))
					} else if use != nil {
						j.add("one step", "%s: tests %s and then uses what %s refers to behind the lock (%s)",
							short(declared(p, fn)), short(a.name), short(b.name), at(p, use))
					}
				}
			}
		}
	}
	if !isProven {
		j.add("one step", "the test of %s and the use of %s stay apart", claim.Tested, claim.Variable)
	}
}

// sendsInStep demands that no touched function tests the claim's variable and sends, in another region, on a channel
// that is closed somewhere.
func (j *judge) sendsInStep() {
	shared, closed := j.now.writtenUnder(), j.now.closedChannels()
	for _, p := range j.now.packages() {
		for _, fn := range p.IR.Funcs {
			if p.IR.InTest(fn) || !j.touched[declared(p, fn)] {
				continue
			}
			sends := j.now.sends(p, fn, closed)
			for _, a := range j.now.parts(p, fn, shared) {
				for _, x := range sends {
					isBehind := a.own && a.value != nil && x.region != a.region
					if isBehind && decided(a.value).controls(x.instr.Block()) {
						j.add("one step", "%s: tests %s and then sends on a channel that is closed elsewhere behind the lock (%s)",
							short(declared(p, fn)), short(a.name), at(p, x.instr))
					}
				}
			}
		}
	}
}

// usedBehind returns an instruction that uses what the read b refers to in another region of the lock, or in none; nil
// if there is none. A literal that captures it may run at any time. What is returned is the caller's.
func (s *side) usedBehind(p *session.Package, fn *ssa.Function, b part) (use ssa.Instruction) {
	values, cells := decided(b.value).values, map[ssa.Value]bool{}
	isValue := func(op *ssa.Value) bool { return *op != nil && values[*op] && isHandle((*op).Type()) }
	p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) {
		switch instr := instr.(type) {
		case *ssa.Phi, *ssa.BinOp, *ssa.DebugRef, *ssa.Return, *ssa.Extract, *ssa.ChangeType, *ssa.MakeInterface:
		case *ssa.Store:
			if cell, ok := instr.Addr.(*ssa.Alloc); ok {
				cells[cell] = cells[cell] || values[instr.Val]
			} else if values[instr.Val] && use == nil {
				use = instr
			}
		case *ssa.MakeClosure:
			if use == nil && slices.ContainsFunc(instr.Bindings, func(v ssa.Value) bool { return cells[v] }) {
				use = instr
			}
		default:
			if use == nil && s.regionOf(st) != b.region && slices.ContainsFunc(instr.Operands(nil), isValue) {
				use = instr
			}
		}
	})
	return use
}

// isHandle reports whether what is done with a value of the type may depend on what others do with its object.
func isHandle(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Chan, *types.Signature:
		return true
	}
	return refers(t)
}
