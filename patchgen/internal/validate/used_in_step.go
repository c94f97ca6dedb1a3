package validate

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// waitsBetween reports whether the function waits, or may, on the way from a to b.
func (s *state) waitsBetween(p *session.Package, a, b ssa.Instruction) bool {
	flow := p.IR.Flow(a.Parent())
	for instr := range ir.Instructions(a.Parent()) {
		if flow.Leads(a, instr) && flow.Leads(instr, b) && s.Hazard(instr) != "" {
			return true
		}
	}
	return false
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
	for _, p := range j.now.Packages {
		for _, fn := range p.IR.Funcs {
			if p.IR.InTest(fn) || !j.touched[declared(p, fn)] {
				continue
			}
			// Each test with the reads of the variable that it decides about.
			parts := j.now.parts(p, fn, shared)
			for _, a := range parts {
				isTest := a.value != nil && strings.HasSuffix(a.name, "."+claim.Tested)
				for _, b := range parts {
					if !isTest || !b.own || b.value == nil || !facts.Decided(a.value).Controls(b.instr.Block()) {
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

// usedBehind returns an instruction that uses what the read b refers to in another region of the lock, or in none; nil
// if there is none. A literal that captures it may run at any time. What is returned is the caller's.
func (s *side) usedBehind(p *session.Package, fn *ssa.Function, b part) (use ssa.Instruction) {
	values, cells := facts.Decided(b.value).Values, map[ssa.Value]bool{}
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
