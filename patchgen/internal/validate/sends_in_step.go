package validate

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

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
func closedChannels(packages []*session.Package) channels {
	c := channels{named: map[accesspath.Name]bool{}}
	for _, p := range packages {
		each(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			ch := order.On(instr, order.Close)
			if name, ok := accesspath.NameOf(ch); ok && ch != nil {
				c.named[name] = true
			} else if ch != nil {
				c.unnamed = true
			}
		})
	}
	return c
}

// sending is a send or an Add, and what took the claim's lock for it, if fn itself did.
type sending struct {
	instr  ssa.Instruction
	region ssa.Instruction
}

// countings lists the calls of Add for a WaitGroup that is waited for by a function which sets the claim's variable:
// who has found the variable as it was may still add when that wait has ended.
//
//	if s.stopped { return }; s.wg.Add(1)        s.stopped = true; s.wg.Wait()
func (s *side) countings() map[ssa.Instruction]bool {
	if s.counts != nil {
		return s.counts
	}
	s.counts = map[ssa.Instruction]bool{}
	setters := map[*ssa.Function]bool{}
	for _, u := range s.uses() {
		setters[ir.Outermost(u.fn)] = setters[ir.Outermost(u.fn)] || u.write
	}
	for _, p := range s.packages() {
		t := tracer{s.isVariable(p)}
		for _, fn := range p.IR.Funcs {
			for instr := range ir.Instructions(fn) {
				call, ok := instr.(*ssa.Call)
				if ok && isAtomicOn(call, t) && !isLoad(call) {
					setters[ir.Outermost(fn)] = true
				}
			}
		}
	}
	isWaited := func(op *syncops.Op) bool { return op.Mode == finding.Wait && setters[ir.Outermost(op.Fn)] }
	for _, p := range s.packages() {
		for _, op := range p.Ops.All {
			if op.Mode == finding.Add && slices.ContainsFunc(p.Ops.ByKey[op.Key], isWaited) {
				s.counts[op.Instr] = true
			}
		}
	}
	return s.counts
}

// countedIn lists the countings of fn, each with what took the claim's lock for it, if fn itself did.
func (s *side) countedIn(p *session.Package, fn *ssa.Function) map[ssa.Instruction]ssa.Instruction {
	counts, list := s.countings(), map[ssa.Instruction]ssa.Instruction{}
	if len(counts) > 0 {
		p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) {
			if counts[instr] {
				list[instr] = s.regionOf(st)
			}
		})
	}
	return list
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

// sendsInStep demands that no touched function tests the claim's variable and sends, in another region, on a channel
// that is closed somewhere.
func (j *judge) sendsInStep() {
	shared, closed := j.now.writtenUnder(), closedChannels(j.now.packages())
	for _, p := range j.now.packages() {
		for _, fn := range p.IR.Funcs {
			if p.IR.InTest(fn) || !j.touched[declared(p, fn)] {
				continue
			}
			sends := j.now.sends(p, fn, closed)
			for _, a := range j.now.parts(p, fn, shared) {
				for _, x := range sends {
					isBehind := a.own && a.value != nil && x.region != a.region
					if isBehind && facts.Decided(a.value).Controls(x.instr.Block()) {
						j.add("one step", "%s: tests %s and then sends on a channel that is closed elsewhere behind the lock (%s)",
							short(declared(p, fn)), short(a.name), at(p, x.instr))
					}
				}
			}
		}
	}
}
