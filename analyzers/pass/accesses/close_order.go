package accesses

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
)

// afterSignal reports whether a reads after its function has found a channel of
// the same object closed, and b does not come after the closing: it is closed by code
// that is done with the variable that a reads.
//
//	<-c.done
//	return c.err
func (l *List) afterSignal(a, b *Access) bool {
	if a.Writes() || a.Name.Type == "" {
		return false
	}
	for name, received := range l.signals[a.Fn].received {
		sameType := name.Package == a.Name.Package && name.Type == a.Name.Type
		if sameType && received[0].signal && l.isAfterReceipt(received, a.Instr) {
			return !slices.ContainsFunc(l.signals[b.Fn].closings, func(c closing) bool {
				return c.name == name && l.Leads(c.instr, b.Instr)
			})
		}
	}
	return false
}

// signalling is where a function closes channels that only signal, and where
// it receives from channels.
type signalling struct {
	closings []closing
	received map[accesspath.Name][]receipt
}

type closing struct {
	instr ssa.Instruction
	name  accesspath.Name
}

// receipt is a receive, or the block that a select goes on to after one.
type receipt struct {
	instr  ssa.Instruction // nil for a select
	block  *ssa.BasicBlock
	signal bool // the channel carries nothing but its closing
}

// findSignals fills l.signals.
func (l *List) findSignals() {
	l.signals = map[*ssa.Function]signalling{}
	for _, fn := range l.Prog.Funcs {
		s := signalling{received: map[accesspath.Name][]receipt{}}
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if ch := l.ending(instr); ch != nil {
					if name, ok := accesspath.NameOf(ch); ok {
						s.closings = append(s.closings, closing{instr, name})
					}
				}
				if ch := order.On(instr, order.Receive); ch != nil {
					s.addReceipt(ch, receipt{instr, b, signals(ch)})
				}
			}
			if c := ir.Selected(b); c != nil && c.Dir == types.RecvOnly {
				s.addReceipt(c.Chan, receipt{nil, b, signals(c.Chan)})
			}
		}
		if len(s.closings)+len(s.received) > 0 {
			l.signals[fn] = s
		}
	}
}

func (s *signalling) addReceipt(ch ssa.Value, r receipt) {
	if name, ok := accesspath.NameOf(ch); ok {
		s.received[name] = append(s.received[name], r)
	}
}

// ending returns the channel that instr closes, if it only signals, or on which it sends once in the
// function, as one does that is done; else nil.
//
//	job.err <- job.run()
func (l *List) ending(instr ssa.Instruction) ssa.Value {
	if ch := order.On(instr, order.Close); ch != nil && signals(ch) {
		return ch
	}
	if ch := order.On(instr, order.Send); ch != nil && !l.isInLoop(instr.Block()) {
		return ch
	}
	return nil
}

// isInLoop reports whether control can come back to b.
func (l *List) isInLoop(b *ssa.BasicBlock) bool { return l.Prog.Flow(b.Parent()).Follows(b, b) }

// signals reports whether ch is a channel of empty structs, which carries nothing
// except its closing.
func signals(ch ssa.Value) bool {
	c, ok := ch.Type().Underlying().(*types.Chan)
	if !ok {
		return false
	}
	s, ok := c.Elem().Underlying().(*types.Struct)
	return ok && s.NumFields() == 0
}

// isAfterReceipt reports whether every path to at passes one of the receipts.
func (l *List) isAfterReceipt(received []receipt, at ssa.Instruction) bool {
	flow := l.Prog.Flow(at.Parent())
	return slices.ContainsFunc(received, func(r receipt) bool {
		if r.instr == nil {
			return r.block.Dominates(at.Block())
		}
		return flow.Precedes(r.instr, at)
	})
}
