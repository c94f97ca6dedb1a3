package validate

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// leftOpen demands that nobody closes the claim's channel any more, and judges who may have waited for that.
func (j *judge) leftOpen() {
	v, closes := j.now.claim.Variable, 0
	for _, p := range j.old.Packages {
		for _, fn := range p.IR.Funcs {
			for instr := range ir.Instructions(fn) {
				if ch := order.On(instr, order.Close); ch != nil && nameOfAddr(ch) == j.old.claimName() && !p.IR.InTest(fn) {
					closes++
				}
			}
		}
	}
	if closes == 0 {
		j.add("left open", "%s was not closed under that name", v)
	}
	j.eachOutsideTests(j.useLeftOpen)
}

// useLeftOpen judges one instruction by what it does with the claim's channel.
func (j *judge) useLeftOpen(p *session.Package, instr ssa.Instruction) {
	s, v := j.now, j.now.claim.Variable
	if ch := order.On(instr, order.Close); ch != nil && nameOfAddr(ch) == s.claimName() {
		j.add("left open", "%s is still closed at %s", v, at(p, instr))
	}
	if !s.isReceived(instr) {
		j.handedOpen(p, instr)
		return
	}
	sel, isSelect := instr.(*ssa.Select)
	switch {
	case isSelect && !sel.Blocking && asksIfClosed(sel):
		j.add("left open", "the receive at %s asks whether the channel is closed", at(p, instr))
	case !isSelect:
		if receive := instr.(*ssa.UnOp); receive.CommaOk {
			j.add("left open", "the receive at %s ended by the close alone", at(p, instr))
		} else {
			j.doubt(place{p, instr}, finding.Light, "left open", "if nothing is there by then, it waits",
				"the receive at %s was freed by the close", at(p, instr))
		}
	case sel.Blocking && len(sel.States) == 1:
		j.add("left open", "the receive at %s ended by the close alone", at(p, instr))
	case !sel.Blocking:
		j.doubt(place{p, instr}, finding.Heavy, "left open", "if what it does with that ends something, that goes on",
			"the receive at %s did not wait, and found nil or zero once %s was closed", at(p, instr), v)
	case sel.Blocking:
		j.doubt(place{p, instr}, finding.Heavy, "left open", "if nobody ends the other case then, it waits for ever",
			"the wait at %s ended by the close of %s too, and ends by its other cases alone now", at(p, instr), v)
	}
}

// handedOpen judges an instruction that hands the claim's channel on, where others may receive from it.
func (j *judge) handedOpen(p *session.Package, instr ssa.Instruction) {
	load, ok := instr.(*ssa.UnOp)
	if !ok || nameOfAddr(load.X) != j.now.claimName() || !isChannelType(load.Type()) || load.Referrers() == nil {
		return
	}
	for _, ref := range *load.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Send, *ssa.Select, *ssa.UnOp, *ssa.BinOp, *ssa.DebugRef:
			continue
		case *ssa.ChangeType:
			if ch, ok := ref.Type().Underlying().(*types.Chan); ok && ch.Dir() == types.SendOnly {
				continue
			}
		case ssa.CallInstruction:
			if _, isBuiltin := ref.Common().Value.(*ssa.Builtin); isBuiltin {
				continue
			}
		}
		j.doubt(place{p, ref}, finding.Heavy, "left open", "if it waits for the close, it waits for ever",
			"%s is handed on at %s, where another one may receive from it", j.now.claim.Variable, at(p, ref))
	}
}

// asksIfClosed reports whether a case of a select uses the second value of its receive.
func asksIfClosed(sel *ssa.Select) bool {
	return slices.ContainsFunc(*sel.Referrers(), func(ref ssa.Instruction) bool {
		ok, isPart := ref.(*ssa.Extract)
		return isPart && ok.Index == 1 && len(*ok.Referrers()) > 0
	})
}
