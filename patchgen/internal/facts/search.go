package facts

import (
	"fmt"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Search asks one question about code: whether an instruction, or what it calls in the module, does something.
type Search struct {
	// look returns what an instruction does itself, "" for nothing, and else the functions that it runs before it ends.
	look  func(instr ssa.Instruction) (what string, calls []*ssa.Function)
	own   map[*ssa.Function]step
	found map[*ssa.Function]string
}

// step is what a function does itself, or what it calls.
type step struct {
	what  string
	calls []*ssa.Function
}

// NewSearch returns the search for what look finds.
func NewSearch(look func(ssa.Instruction) (string, []*ssa.Function)) *Search {
	return &Search{look: look, own: map[*ssa.Function]step{}, found: map[*ssa.Function]string{}}
}

// Does returns what an instruction does, itself or by the nearest of the functions that it leads to; "" for nothing.
func (s *Search) Does(instr ssa.Instruction) string {
	what, calls := s.look(instr)
	for _, fn := range calls {
		if what == "" {
			what = s.Through(fn)
		}
	}
	return what
}

// Through returns what a call of a function does.
//
//	calls flush, which calls write, which sends on a channel
func (s *Search) Through(fn *ssa.Function) string {
	if what, known := s.found[fn]; known {
		return what
	}
	caller := map[*ssa.Function]*ssa.Function{fn: nil}
	what := ""
	for work := []*ssa.Function{fn}; len(work) > 0 && what == ""; work = work[1:] {
		f := work[0]
		step := s.stepOf(f)
		what = step.what
		for ; f != nil && what != ""; f = caller[f] {
			what = fmt.Sprintf("calls %s, which %s", nameOf(f), what)
		}
		for _, next := range step.calls {
			if _, seen := caller[next]; !seen {
				caller[next] = work[0]
				work = append(work, next)
			}
		}
	}
	s.found[fn] = what
	return what
}

// stepOf looks at the instructions of one function, up to the first that does something.
func (s *Search) stepOf(fn *ssa.Function) step {
	if known, ok := s.own[fn]; ok {
		return known
	}
	var own step
	for instr := range ir.Instructions(fn) {
		if own.what == "" {
			what, calls := s.look(instr)
			own.what, own.calls = what, append(own.calls, calls...)
		}
	}
	s.own[fn] = own
	return own
}

// nameOf names a function for reasons.
func nameOf(fn *ssa.Function) string {
	if fn.Parent() != nil {
		return "a function literal"
	}
	return fn.Name()
}
