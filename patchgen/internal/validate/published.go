package validate

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// published demands that every write of the variable is made before others can
// reach its object, and that the patch only moves writes.
func (j *judge) published() {
	v := j.now.claim.Variable
	for _, u := range j.now.uses() {
		if u.write {
			if why := j.now.tooLate(u); why != "" {
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

// tooLate returns why another goroutine may reach the object at the write u.
func (s *side) tooLate(u use) string {
	flow := u.pkg.IR.Flow(u.fn)
	for _, b := range u.fn.Blocks {
		for _, instr := range b.Instrs {
			if _, isGo := instr.(*ssa.Go); isGo && flow.Leads(instr, u.instr) {
				return "behind the go statement at " + at(u.pkg, instr)
			}
		}
	}
	if len(u.pkg.Calls.Roles(u.fn).Goroutines) > 0 {
		return "in a goroutine of its own"
	}
	if u.base != nil && u.pkg.Owners.Made(u.base, u.instr) {
		return "where its object is known to others already" // or it were exempt
	}
	starts := false
	for _, b := range u.fn.Blocks {
		for _, instr := range b.Instrs {
			_, isGo := instr.(*ssa.Go)
			starts = starts || isGo
		}
	}
	if !starts {
		return "where nothing is started after it"
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
		if cell := cellOf(x.X); cell != nil && x.Op.String() == "*" {
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

// unshared demands that no function literal captures the claim's local any more.
// What the goroutines work on instead is their own.
func (j *judge) unshared() {
	for _, p := range j.now.packages() {
		isVariable := j.now.isVariable(p)
		for _, fn := range p.IR.Funcs {
			for _, b := range fn.Blocks {
				for _, instr := range b.Instrs {
					closure, ok := instr.(*ssa.MakeClosure)
					if !ok {
						continue
					}
					for _, v := range closure.Bindings {
						if isVariable(v) {
							j.add("unshared", "%s is still captured at %s", j.now.claim.Variable, at(p, closure))
						}
					}
				}
			}
		}
	}
}
