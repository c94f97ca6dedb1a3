package validate

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// leftBehind doubts a send that nobody need receive any more, by room in the channel or a stop: what owns something
// would have to be closed or given back by somebody.
//
//	c, err := net.Dial(…); ch <- result{c, err}	// the receiver has left: c stays open
func (j *judge) leftBehind() {
	s := j.now
	for _, p := range s.packages() {
		for _, op := range p.Ops.All {
			if op.Mode != finding.Send || op.Path.Root == nil || !s.isChannel(p, op) {
				continue
			}
			var ch ssa.Value
			switch instr := op.Instr.(type) {
			case *ssa.Send:
				ch = instr.Chan
			case *ssa.Select:
				for _, st := range instr.States {
					if st.Dir == types.SendOnly && st.Pos == op.Pos {
						ch = st.Chan
					}
				}
			}
			if ch == nil {
				continue
			}
			elem, ok := ch.Type().Underlying().(*types.Chan)
			if what := owned(elem.Elem(), 0); ok && what != "" {
				j.doubt(place{p, op.Instr}, finding.Heavy, "left behind", "it is never closed",
					"nobody receives what is sent at %s when the receiver has left, and %s has to be closed", at(p, op.Instr), what)
			}
		}
	}
}

// owned names a type in t whose values have to be closed or given back; "" for none.
func owned(t types.Type, depth int) string {
	if hasMethod(t, "Close", "Release", "Cancel", "Free", "Unlock") {
		return "a " + types.TypeString(t, func(p *types.Package) string { return p.Name() })
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if what := owned(f.Type(), depth+1); what != "" && depth < maxLevel {
				return what
			}
		}
	case *types.Pointer:
		if st, ok := u.Elem().Underlying().(*types.Struct); ok && depth < maxLevel {
			return owned(st, depth+1)
		}
	}
	return ""
}
