package waits

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
)

// isGuessed reports whether instruction at waits for a WaitGroup to which its function has added a number that the
// simulation does not know, other than the length of something: it may well be that of the goroutines.
//
//	wg.Add(r.MetricCount()); for range r.metrics { go … }; wg.Wait()
func isGuessed(at ssa.Instruction) bool {
	group, ok := onGroup(at, "Wait")
	if !ok {
		return false
	}
	for _, b := range at.Parent().Blocks {
		for _, instr := range b.Instrs {
			added, ok := onGroup(instr, "Add")
			if !ok || accesspath.Of(added) != accesspath.Of(group) {
				continue
			}
			switch n := instr.(*ssa.Call).Call.Args[1].(type) {
			case *ssa.Const:
			case *ssa.Call:
				if _, builtin := n.Call.Value.(*ssa.Builtin); !builtin {
					return true
				}
			default:
				return true
			}
		}
	}
	return false
}

// onGroup returns the WaitGroup on which instr calls the method.
func onGroup(instr ssa.Instruction, method string) (ssa.Value, bool) {
	call, ok := instr.(*ssa.Call)
	if !ok || call.Call.StaticCallee() == nil || call.Call.StaticCallee().Name() != method || len(call.Call.Args) == 0 {
		return nil, false
	}
	on := call.Call.Args[0]
	return on, types.TypeString(on.Type(), nil) == "*sync.WaitGroup"
}
