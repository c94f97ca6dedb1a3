package validate

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// lockReached doubts where a function comes to the claim's lock by a pointer in a field that it did not follow before:
// the pointer may be nil there.
//
//	func (c *conn) write(n int) {
//		c.pool.mu.Lock()	// a conn may have no pool
func (j *judge) lockReached() {
	followed := map[tallyKey]bool{} // before, by function and field
	for _, p := range j.old.Packages {
		for _, fn := range p.IR.Funcs {
			for instr := range ir.Instructions(fn) {
				if field, ok := instr.(*ssa.FieldAddr); ok {
					followed[tallyKey{declared(p, fn), pointerField(field.X).String()}] = true
				}
			}
		}
	}
	for _, p := range j.now.Packages {
		for _, fn := range p.IR.Funcs {
			if j.touched[declared(p, fn)] && !p.IR.InTest(fn) {
				j.locksReached(p, fn, followed)
			}
		}
	}
}

// locksReached judges the operations on the claim's lock in one function.
func (j *judge) locksReached(p *session.Package, fn *ssa.Function, followed map[tallyKey]bool) {
	for instr := range ir.Instructions(fn) {
		lock, ok := p.Locks.Receiver(instr).(*ssa.FieldAddr)
		if !ok {
			continue
		}
		name, known := accesspath.NameOf(lock)
		through := pointerField(lock.X)
		isNew := known && name.String() == j.now.claim.Lock && through.Field != "" &&
			!followed[tallyKey{declared(p, fn), through.String()}]
		if isNew && j.isMadeWithout(through) {
			j.doubt(place{p, instr}, finding.Heavy, "covered", "if it is nil, this panics",
				"%s comes to the lock by %s at %s, which it did not follow before", short(declared(p, fn)), through.Short(),
				at(p, instr))
			return
		}
	}
}

// isMadeWithout reports whether a struct is made somewhere without a field of it.
func (j *judge) isMadeWithout(field accesspath.Name) (found bool) {
	m := maker{home{field.Package, field.Type}, field.Field}
	for _, p := range j.now.Packages {
		each(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			found = found || m.makesWithout(instr)
		})
	}
	return found
}

// pointerField names the field that holds a pointer; the zero name for other values.
func pointerField(v ssa.Value) (name accesspath.Name) {
	load, ok := v.(*ssa.UnOp)
	if !ok {
		return name
	}
	if field, ok := load.X.(*ssa.FieldAddr); ok {
		name, _ = accesspath.NameOf(field)
	}
	return name
}
