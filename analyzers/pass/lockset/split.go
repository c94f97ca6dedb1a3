package lockset

import (
	"go/constant"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Where ways meet that disagree on a lock, its state is maybe, and so it stays
// although a condition that both asked says which way was taken:
//
//	if last { mu.Unlock() }
//	…
//	if !last { mu.Unlock() }
//
// So functions in which ways disagree are solved again with the state of each
// block split by the known outcomes of conditions that they ask more than once.
// The author relies on it that a condition on memory, c.f == nil, comes out alike
// as long as the function itself does not assign it.

// condition is a question of several branches: a boolean value, or how a value
// or a location compares with a constant.
type condition struct {
	value    ssa.Value
	path     accesspath.Path
	constant string // with the relation; empty: the value itself is asked
}

// relations are those by which conditions compare, each for its opposite as well.
var relations = map[token.Token]string{
	token.EQL: "==", token.NEQ: "==", token.LSS: "<", token.GEQ: "<", token.LEQ: "<=", token.GTR: "<=",
}

// known has a byte for each condition of the function: '0' or '1' for
// its outcome, '?' where that is not known.
type known string

func (k known) withOutcome(i int, outcome byte) known {
	if k[i] == outcome {
		return k
	}
	b := []byte(k)
	b[i] = outcome
	return known(b)
}

// point of a split solution.
type splitPoint struct {
	block *ssa.BasicBlock
	known known
}

// splitWays replaces the solution of fn by one split by conditions, where ways
// disagree and some condition may separate them.
func (f *flow) splitWays(fn *ssa.Function, entry *State) {
	if f.r.united[fn] || !f.disagree() {
		return
	}
	// Only conditions that are asked more than once can tell two paths apart later.
	conditions := repeated(fn)
	if len(conditions) == 0 || len(conditions) > knowledge.ConditionsSplit {
		f.r.united[fn] = true
		return
	}
	in := f.solveSplit(fn, entry, conditions, allUnknown(conditions))
	if in == nil {
		f.r.united[fn] = true
		return
	}
	f.in = in
}

// allUnknown returns the outcomes of conditions none of which is known.
func allUnknown(conditions []condition) known { return known(strings.Repeat("?", len(conditions))) }

// solveSplit returns the state at the start of each block, where the first one has the entry state and known outcomes;
// nil if there are too many points. A point is a block with the known outcomes of the conditions there.
func (f *flow) solveSplit(fn *ssa.Function, entry *State, conditions []condition,
	start known) map[*ssa.BasicBlock]*State {
	first := splitPoint{fn.Blocks[0], start}
	in, order := map[splitPoint]*State{first: entry}, []splitPoint{first}
	for work := []splitPoint{first}; len(work) > 0; work = work[1:] {
		at := work[0]
		out, facts := in[at], at.known
		for _, instr := range at.block.Instrs {
			out = f.stepInstruction(out, instr, nil)
			facts = forget(facts, conditions, instr)
		}
		// A branch on a condition that is known has one successor.
		for i, succ := range at.block.Succs {
			after, possible := outcomesTaken(facts, conditions, at.block, i)
			if !possible {
				continue
			}
			to := splitPoint{succ, after}
			next := joinStates(in[to], f.branch(out, at.block, i))
			if in[to] == nil || !equalStates(next, in[to]) {
				if in[to] == nil {
					order = append(order, to)
				}
				in[to] = next
				work = append(work, to)
			}
		}
		if len(order) > knowledge.StatesSplit {
			return nil
		}
	}
	// The state of a block joins those of its points.
	joined := map[*ssa.BasicBlock]*State{}
	for _, at := range order {
		joined[at.block] = joinStates(joined[at.block], in[at])
	}
	return joined
}

// disagree reports whether a lock is held on some ways to a block only.
func (f *flow) disagree() bool {
	for _, s := range f.in {
		for _, h := range s.locks {
			if h.status == maybe || h.status == unsure {
				return true
			}
		}
	}
	return false
}

// repeated lists the conditions that at least two branches of fn ask, and those
// that are set to constants on the way, as by `locked = true`.
func repeated(fn *ssa.Function) []condition {
	asked := map[condition]int{}
	var order []condition
	for _, b := range fn.Blocks {
		if c, _, ok := conditionOf(b); ok {
			if asked[c]++; asked[c] == 1 {
				order = append(order, c)
			}
		}
	}
	var list []condition
	for _, c := range order {
		phi, chosen := c.value.(*ssa.Phi)
		if asked[c] > 1 || chosen && c.constant == "" && hasConstant(phi) {
			list = append(list, c)
		}
	}
	// A value that is set on one way only is handed on: locked = φ(locked, true).
	for i := 0; i < len(list) && len(list) <= knowledge.ConditionsSplit; i++ {
		phi, ok := list[i].value.(*ssa.Phi)
		if !ok || list[i].constant != "" {
			continue
		}
		for _, e := range phi.Edges {
			if _, ok := e.(*ssa.Phi); ok && !slices.Contains(list, condition{value: e}) {
				list = append(list, condition{value: e})
			}
		}
	}
	return list
}

func hasConstant(phi *ssa.Phi) bool {
	for _, e := range phi.Edges {
		if _, ok := e.(*ssa.Const); ok {
			return true
		}
	}
	return false
}

// conditionOf returns the condition of the branch at the end of b, and on which of its
// successors it holds.
func conditionOf(b *ssa.BasicBlock) (c condition, yes int, ok bool) {
	if len(b.Instrs) == 0 {
		return condition{}, 0, false
	}
	last, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok {
		return condition{}, 0, false
	}
	v := last.Cond
	for {
		not, isNot := v.(*ssa.UnOp)
		if !isNot || not.Op != token.NOT {
			break
		}
		v, yes = not.X, 1-yes
	}
	if cmp, isCmp := v.(*ssa.BinOp); isCmp {
		if constant, isConst := cmp.Y.(*ssa.Const); isConst {
			switch cmp.Op {
			case token.NEQ, token.GEQ, token.GTR: // these are not ==, <, <=
				yes = 1 - yes
			}
			return located(condition{value: cmp.X, constant: relations[cmp.Op] + constant.String()}), yes, true
		}
	}
	return located(condition{value: v}), yes, true
}

// located puts the path of a field or package variable in the place of the
// value that was loaded from there: the next load is another value.
func located(c condition) condition {
	switch addr := ir.Back(c.value, ir.Loaded).(type) {
	case *ssa.FieldAddr, *ssa.Global, *ssa.FreeVar:
		c.value, c.path = nil, accesspath.Of(addr)
	}
	return c
}

// forget returns the known outcomes after instr: it may compute the value of a condition
// anew, or assign it.
func forget(k known, conditions []condition, instr ssa.Instruction) known {
	for i, c := range conditions {
		switch instr := instr.(type) {
		case *ssa.Phi: // set on the way, see taken
		case *ssa.Store:
			if _, under := c.path.Under(accesspath.Of(instr.Addr)); c.value == nil && under {
				k = k.withOutcome(i, '?')
			}
		case ssa.Value:
			if c.value == instr || c.value == nil && accesspath.MayRoot(instr) && c.path.Uses(instr) {
				k = k.withOutcome(i, '?')
			}
		}
	}
	return k
}

// outcomesTaken returns the known outcomes when control goes from b to its i-th successor,
// and whether control can go there.
func outcomesTaken(k known, conditions []condition, b *ssa.BasicBlock, i int) (known, bool) {
	if ir.Exhausted(b, i) {
		return k, false
	}
	if c, yes, ok := conditionOf(b); ok && b.Succs[0] != b.Succs[1] {
		for j := range conditions {
			outcome := outcomeOf(i == yes)
			switch {
			case conditions[j] != c:
			case k[j] != '?' && k[j] != outcome:
				return k, false
			default:
				k = k.withOutcome(j, outcome)
			}
		}
	}
	return chosen(k, conditions, b, b.Succs[i]), true
}

// chosen returns the known outcomes once the conditions that the ways to succ choose
// have their values.
func chosen(k known, conditions []condition, from, succ *ssa.BasicBlock) known {
	before := k
	for i, c := range conditions {
		phi, ok := c.value.(*ssa.Phi)
		if !ok || phi.Block() != succ {
			continue
		}
		k = k.withOutcome(i, '?')
		for e, pred := range succ.Preds {
			if pred != from {
				continue
			}
			v := phi.Edges[e]
			if cst, ok := v.(*ssa.Const); ok && c.constant == "" && cst.Value != nil && cst.Value.Kind() == constant.Bool {
				k = k.withOutcome(i, outcomeOf(constant.BoolVal(cst.Value)))
				continue
			}
			for j, d := range conditions {
				if d.value == v && d.constant == c.constant && d.value != nil {
					k = k.withOutcome(i, before[j])
				}
			}
		}
	}
	return k
}

func outcomeOf(yes bool) byte {
	if yes {
		return '1'
	}
	return '0'
}
