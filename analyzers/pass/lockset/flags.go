package lockset

import (
	"go/constant"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
)

// A parameter may say whether the caller holds the lock:
//
//	func (i *item) close(locked bool) {
//		if locked {
//			i.state = closed
//			return
//		}
//		i.mu.Lock()
//		…
//	}
//
// So the entry state of a function that tests a boolean parameter is also kept by the value that callers pass for it,
// and code that only one value leads to has the state of the callers that pass it.

// flagged is the entry state of a function by the value of a parameter.
type flagged struct {
	param *ssa.Parameter
	index int
	when  [2]*State // for false and true; nil if no call passes it
}

// flagOf returns the first boolean parameter that a branch of fn tests; nil if there is none.
func flagOf(fn *ssa.Function) *flagged {
	for i, p := range fn.Params {
		if b, ok := p.Type().Underlying().(*types.Basic); !ok || b.Kind() != types.Bool {
			continue
		}
		for _, b := range fn.Blocks {
			if c, _, ok := conditionOf(b); ok && c == (condition{value: p}) {
				return &flagged{param: p, index: i}
			}
		}
	}
	return nil
}

// arrive joins the state of a call into those of the values that it may pass, and reports whether that changed one.
func (f *flagged) arrive(site callgraph.Site, in *State) (changed bool) {
	values := []int{0, 1}
	if f.index < len(site.Args) {
		if c, ok := site.Args[f.index].(*ssa.Const); ok && c.Value != nil && c.Value.Kind() == constant.Bool {
			values = values[:1]
			if constant.BoolVal(c.Value) {
				values[0] = 1
			}
		}
	}
	for _, v := range values {
		old := f.when[v]
		f.when[v] = joinEntry(old, in)
		changed = changed || old == nil || !equalStates(old, f.when[v])
	}
	return changed
}

// differs reports whether callers that pass one value hold other locks than those that pass the other.
func (f *flagged) differs() bool {
	return f != nil && f.when[0] != nil && f.when[1] != nil && !equalStates(f.when[0], f.when[1])
}

// byFlag replaces the state of the blocks that only one value of a parameter leads to.
func (f *flow) byFlag(fn *ssa.Function, flag *flagged) {
	conditions := append([]condition{{value: flag.param}}, repeated(fn)...)
	var in [2]map[*ssa.BasicBlock]*State
	for v, entry := range flag.when {
		in[v] = f.solveSplit(fn, entry, conditions, allUnknown(conditions).withOutcome(0, outcomeOf(v == 1)))
		if in[v] == nil {
			return
		}
	}
	for _, b := range fn.Blocks {
		no, yes := in[0][b], in[1][b]
		switch {
		case no == nil && yes != nil:
			f.in[b] = yes
		case no != nil && yes == nil:
			f.in[b] = no
		}
	}
}
