package validate

import (
	"fmt"
	"go/types"
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

// published demands that every write of the variable is made before others can
// reach its object, and that the patch only moves writes.
func (j *judge) published() {
	v := j.now.claim.Variable
	for _, u := range j.now.uses() {
		if u.write {
			switch why := j.now.tooLate(u); why {
			case "":
			case knownToOthers, startsNothing:
				j.doubt(place{u.pkg, u.instr}, finding.Heavy, "published", stillRace, "%s is written at %s, %s", v,
					at(u.pkg, u.instr), why)
			default:
				j.add("published", "%s is written at %s, %s", v, at(u.pkg, u.instr), why)
			}
		}
	}
	old, now := j.old.writes(), j.now.writes()
	if !slices.Equal(old, now) {
		j.add("published", "the patch changes what is written to %s: %s before, %s now",
			v, strings.Join(old, ", "), strings.Join(now, ", "))
	}
}

// What is not known to be too late, but may be.
const (
	knownToOthers = "where its object is known to others already"
	startsNothing = "where nothing is started after it"
)

// tooLate returns why another goroutine may reach the object at the write u.
func (s *side) tooLate(u use) string {
	flow := u.pkg.IR.Flow(u.fn)
	for instr := range ir.Instructions(u.fn) {
		if _, isGo := instr.(*ssa.Go); isGo && flow.Leads(instr, u.instr) {
			return "behind the go statement at " + at(u.pkg, instr)
		}
	}
	if len(u.pkg.Calls.Roles(u.fn).Goroutines) > 0 {
		return "in a goroutine of its own"
	}
	if u.base != nil && u.pkg.Owners.Made(u.base, u.instr) {
		return knownToOthers // or it were exempt
	}
	starts := false
	for instr := range ir.Instructions(u.fn) {
		_, isGo := instr.(*ssa.Go)
		starts = starts || isGo
	}
	if !starts {
		return startsNothing
	}
	return ""
}

// writes lists what is written to the variable, as text, sorted.
func (s *side) writes() []string {
	var list []string
	for _, p := range s.packages() {
		t := tracer{s.isVariable(p)}
		each(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			if st, ok := instr.(*ssa.Store); ok && t.isRoot(st.Addr) {
				list = append(list, valueText(st.Val, 0))
			}
		})
	}
	slices.Sort(list)
	return list
}

// valueText writes a value as an expression that is the same wherever the
// statement stands: captured variables have the name of what they capture.
func valueText(v ssa.Value, depth int) string {
	if depth > 6 {
		return "…"
	}
	switch x := v.(type) {
	case *ssa.Const:
		return x.Name()
	case *ssa.Parameter:
		return x.Name()
	case *ssa.UnOp:
		if cell := facts.CellOf(x.X); cell != nil && x.Op.String() == "*" {
			if stored := accesspath.Stored(cell); len(stored) == 1 {
				return valueText(stored[0], depth+1)
			}
			return cell.Comment
		}
	case *ssa.Alloc:
		return "&" + types.TypeString(x.Type(), nil)
	case *ssa.Function:
		return x.Name()
	}
	// An operation is its kind and its operands.
	instr, ok := v.(ssa.Instruction)
	if !ok {
		return v.Name()
	}
	var parts []string
	for _, op := range instr.Operands(nil) {
		if *op != nil {
			parts = append(parts, valueText(*op, depth+1))
		}
	}
	return fmt.Sprintf("%T(%s)", v, strings.Join(parts, ","))
}

// unshared demands that no function literal captures the claim's local any more, and that nobody misses what it was
// for: a goroutine with a variable of its own sets it before it reads it, nobody else reads what it sets, and a copy
// that it captures in its place is one for each goroutine, and set before it starts.
func (j *judge) unshared() {
	v := j.now.claim.Variable
	j.now.eachOfFunction(func(p *session.Package, instr ssa.Instruction) {
		isVariable := j.now.isVariable(p)
		if closure, ok := instr.(*ssa.MakeClosure); ok {
			j.capturesCopies(p, closure)
		}
		for _, op := range instr.Operands(nil) {
			if isVariable(*op) && isSharing(instr, *op) {
				j.add("unshared", "%s is still shared at %s", v, at(p, instr))
			}
		}
	})
	j.old.eachOfFunction(func(p *session.Package, instr ssa.Instruction) {
		closure, ok := instr.(*ssa.MakeClosure)
		if !ok {
			return
		}
		if i := slices.IndexFunc(closure.Bindings, j.old.isVariable(p)); i >= 0 {
			j.valuesKept(p, closure, i)
		}
	})
}

// eachOfFunction visits the instructions of the function that declares the claim's local, those of its literals too.
func (s *side) eachOfFunction(visit func(*session.Package, ssa.Instruction)) {
	for _, p := range s.packages() {
		for _, fn := range p.IR.Funcs {
			if callgraph.FullName(ir.Outermost(fn)) != s.claim.Variable.Func {
				continue
			}
			for instr := range ir.Instructions(fn) {
				visit(p, instr)
			}
		}
	}
}

// isSharing reports whether an instruction hands the address of a local on.
func isSharing(instr ssa.Instruction, addr ssa.Value) bool {
	switch instr := instr.(type) {
	case *ssa.UnOp, *ssa.DebugRef, *ssa.FieldAddr, *ssa.IndexAddr:
		return false
	case *ssa.Store:
		return instr.Val == addr
	}
	return true
}

// capturesCopies judges the locals that a literal captures, those that literals captured before the patch apart: a copy
// is set once, before the literal is made, and made again for each literal.
func (j *judge) capturesCopies(p *session.Package, closure *ssa.MakeClosure) {
	isVariable := j.now.isVariable(p)
	for _, b := range closure.Bindings {
		cell, ok := b.(*ssa.Alloc)
		if !ok {
			continue
		}
		if isVariable(cell) || j.wasCaptured(cell.Comment) {
			continue
		}
		stores := 0
		for _, ref := range *cell.Referrers() {
			store, ok := ref.(*ssa.Store)
			if !ok {
				continue
			}
			if stores++; !makesAnew(cell, closure, store) {
				j.add("unshared", "the copy is set at %s, where the goroutine may run already", at(p, store))
			}
		}
		if stores != 1 || setsCaptured(closure, cell) {
			j.add("unshared", "the copy that is captured at %s is more than read", at(p, closure))
		}
		if !makesAnew(cell, closure, closure) {
			j.add("unshared", "the goroutines that capture it at %s share one copy", at(p, closure))
		}
	}
}

// wasCaptured reports whether a literal of the claim's function captured a local of a name before the patch, other than
// the claim's.
func (j *judge) wasCaptured(name string) (found bool) {
	j.old.eachOfFunction(func(p *session.Package, instr ssa.Instruction) {
		closure, ok := instr.(*ssa.MakeClosure)
		if !ok {
			return
		}
		isVariable := j.old.isVariable(p)
		found = found || slices.ContainsFunc(closure.Bindings, func(v ssa.Value) bool {
			cell, ok := v.(*ssa.Alloc)
			return ok && cell.Comment == name && !isVariable(cell)
		})
	})
	return found
}

// makesAnew reports whether control can only come from one instruction to the other by way of where a cell is made.
func makesAnew(cell *ssa.Alloc, from, to ssa.Instruction) bool {
	return leadsWithout(from, func(instr ssa.Instruction) bool { return instr == ssa.Instruction(cell) },
		func(instr ssa.Instruction) bool { return instr == to }) == nil
}

// leadsWithout returns the first instruction found that control comes to behind from before one that stops it; nil if
// there is none.
func leadsWithout(from ssa.Instruction, stops, found func(ssa.Instruction) bool) ssa.Instruction {
	seen := map[*ssa.BasicBlock]bool{}
	var walk func(b *ssa.BasicBlock, start int) ssa.Instruction
	walk = func(b *ssa.BasicBlock, start int) ssa.Instruction {
		for _, instr := range b.Instrs[start:] {
			if found(instr) {
				return instr
			}
			if stops(instr) {
				return nil
			}
		}
		for _, next := range b.Succs {
			if !seen[next] {
				seen[next] = true
				if instr := walk(next, 0); instr != nil {
					return instr
				}
			}
		}
		return nil
	}
	return walk(from.Block(), slices.Index(from.Block().Instrs, from)+1)
}

// readBefore returns a load of the cell behind an instruction that no store to it comes before; nil if there is none.
// Literals that capture it are taken to read it, except those in skip.
func readBefore(from ssa.Instruction, cell ssa.Value, skip ssa.Instruction) ssa.Instruction {
	return leadsWithout(from,
		func(instr ssa.Instruction) bool {
			store, ok := instr.(*ssa.Store)
			return ok && store.Addr == cell
		},
		func(instr ssa.Instruction) bool {
			if _, isDefer := instr.(*ssa.RunDefers); isDefer || instr == skip {
				return false
			}
			_, isStore := instr.(*ssa.Store)
			isCell := func(op *ssa.Value) bool { return *op == cell }
			return !isStore && slices.ContainsFunc(instr.Operands(nil), isCell)
		})
}

// valuesKept judges one literal that captured the claim's local before the patch, as its ith binding. If it has a
// variable of its own now, what it read and what it set must be nobody else's.
func (j *judge) valuesKept(p *session.Package, closure *ssa.MakeClosure, i int) {
	v, fn := j.now.claim.Variable, closure.Fn.(*ssa.Function)
	outer := closure.Bindings[i]
	// A literal that only hands it on to another one within does nothing with it.
	cell, inner := fn.FreeVars[i], closure
	for next, at := handsOn(cell); next != nil; next, at = handsOn(cell) {
		fn = next.Fn.(*ssa.Function)
		cell, inner = fn.FreeVars[at], next
	}
	if j.stillCaptures(fn.String(), v.Name) {
		return
	}
	first := fn.Blocks[0].Instrs[0]
	isRead := func(instr ssa.Instruction) bool {
		load, ok := instr.(*ssa.UnOp)
		return ok && load.X == ssa.Value(cell)
	}
	if load := readBefore(first, cell, nil); load != nil || isRead(first) {
		j.add("unshared", "the literal at %s reads what %s was before it", at(p, closure), v)
	}
	if load := readBefore(closure, outer, closure); load != nil && (inner != closure || setsCaptured(closure, outer)) {
		j.doubt(place{p, closure}, finding.Heavy, "unshared", "if so, the value is lost",
			"what the literal at %s sets %s to may be meant for %s", at(p, closure), v, at(p, load))
	}
}

// handsOn returns the literal that captures a captured variable again, and as which of its own, where nothing else is
// done with it:
//
//	func() {
//		go func() { err = serve() }()
//	}()
func handsOn(cell *ssa.FreeVar) (inner *ssa.MakeClosure, as int) {
	for _, ref := range *cell.Referrers() {
		closure, ok := ref.(*ssa.MakeClosure)
		if !ok || inner != nil {
			return nil, 0
		}
		inner, as = closure, slices.Index(closure.Bindings, ssa.Value(cell))
	}
	return inner, as
}

// stillCaptures reports whether a literal captures a local of a name after the patch.
func (j *judge) stillCaptures(literal, name string) bool {
	for _, p := range j.now.packages() {
		for _, fn := range p.IR.Funcs {
			isNamed := func(v *ssa.FreeVar) bool { return v.Name() == name }
			if fn.String() == literal && slices.ContainsFunc(fn.FreeVars, isNamed) {
				return true
			}
		}
	}
	return false
}
