package endpoints

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// tracer follows a value back to the reads that it stems from.
type tracer struct {
	f    *function
	seen map[ssa.Value]map[*event]Outcome
}

func (t *tracer) traceValue(v ssa.Value, depth int) map[*event]Outcome {
	if done, ok := t.seen[v]; ok || depth > knowledge.OperatorsFollowed {
		return done
	}
	t.seen[v] = nil
	hits := map[*event]Outcome{}
	for _, e := range t.f.outcomes[v] {
		if !e.call {
			hits[e] = Outcome{Sense: 1, Element: e.inMap}
			continue
		}
		for _, result := range e.tells {
			if result.Index == 0 && e.at.(*ssa.Call).Call.Signature().Results().Len() == 1 {
				hits[e] = result.Outcome
			}
		}
	}
	t.traceOperands(v, depth, hits)
	t.seen[v] = hits
	return hits
}

// traceOperands adds the events of the operands of v.
func (t *tracer) traceOperands(v ssa.Value, depth int, hits map[*event]Outcome) {
	add := func(from ssa.Value, change func(Outcome) Outcome) {
		for e, o := range t.traceValue(from, depth+1) {
			if _, have := hits[e]; !have {
				hits[e] = change(o)
			}
		}
	}
	// Operators change the meaning of the value: !x is its contrary, x < y neither. A conversion changes
	// nothing, and a value from a channel is another one.
	if from := ir.Back(v, ir.Converted|ir.Retyped|ir.Boxed|ir.Asserted); from != nil {
		add(from, func(o Outcome) Outcome { return o })
		return
	}
	switch v := v.(type) {
	case *ssa.UnOp:
		switch v.Op {
		case token.NOT:
			add(v.X, negated)
		case token.MUL:
			t.traceCell(v.X, add)
			if fa, ok := v.X.(*ssa.FieldAddr); ok {
				add(fa.X, inside)
			}
		case token.ARROW:
		default:
			add(v.X, dropMeaning)
		}
	case *ssa.BinOp:
		t.binary(v, add)
	case *ssa.Field:
		add(v.X, dropMeaning)
	case *ssa.Extract:
		t.extract(v, add, hits)
	case *ssa.Phi:
		t.tracePhi(v, add)
	case *ssa.Call:
		t.traceArguments(v, add)
	}
}

func negated(o Outcome) Outcome {
	o.Sense = -o.Sense
	return o
}

func inside(o Outcome) Outcome {
	o.Sense, o.Inside = 0, true
	return o
}

func dropMeaning(o Outcome) Outcome {
	o.Sense = 0
	return o
}

func ordering(o Outcome) Outcome {
	o.Ordered = true
	return comparing(o)
}

func comparing(o Outcome) Outcome {
	o.Sense, o.Compares = 0, true
	return o
}

func likening(o Outcome) Outcome {
	o.Own = true
	return comparing(o)
}

// isOwnValue reports whether v, compared in block b, may differ between goroutines that find the same in memory. A
// value that a goroutine has loaded farther back may have changed since.
func isOwnValue(v ssa.Value, b *ssa.BasicBlock) bool {
	switch v := v.(type) {
	case *ssa.Parameter, *ssa.FreeVar, *ssa.Call, *ssa.Phi:
		return true
	case *ssa.Convert:
		return isOwnValue(v.X, b)
	case *ssa.BinOp:
		return isOwnValue(v.X, b) || isOwnValue(v.Y, b)
	case *ssa.UnOp:
		return v.Op == token.MUL && v.Block() != b
	}
	return false
}

// traceCell follows a local variable in memory to the values stored in it; one that a closure has captured to the
// values that the closure itself stores there.
func (t *tracer) traceCell(addr ssa.Value, add func(ssa.Value, func(Outcome) Outcome)) {
	var stored []ssa.Value
	switch addr := addr.(type) {
	case *ssa.Alloc:
		if stored = accesspath.Stored(addr); slices.Contains(stored, ssa.Value(addr)) {
			return
		}
	case *ssa.FreeVar:
		for _, ref := range *addr.Referrers() {
			if st, ok := ref.(*ssa.Store); ok && st.Addr == addr {
				stored = append(stored, st.Val)
			}
		}
	}
	for _, s := range stored {
		add(s, func(o Outcome) Outcome { return o })
	}
}

func (t *tracer) binary(v *ssa.BinOp, add func(ssa.Value, func(Outcome) Outcome)) {
	x, y := v.X, v.Y
	zero, isConst := y.(*ssa.Const)
	if !isConst {
		zero, isConst = x.(*ssa.Const)
		x = y
	}
	atZero := isConst && ir.IsZero(zero)
	switch v.Op {
	case token.EQL, token.NEQ:
		switch {
		case atZero && v.Op == token.EQL:
			add(x, negated)
			return
		case atZero:
			add(x, func(o Outcome) Outcome { return o })
			return
		}
	case token.GTR:
		if atZero && x == v.X { // x > 0
			add(x, func(o Outcome) Outcome { return o })
			return
		}
	}
	how := dropMeaning
	switch v.Op {
	case token.EQL, token.NEQ:
		how = comparing
		if isOwnValue(v.X, v.Block()) || isOwnValue(v.Y, v.Block()) {
			how = likening
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		how = ordering
	}
	add(v.X, how)
	add(v.Y, how)
}

func (t *tracer) extract(v *ssa.Extract, add func(ssa.Value, func(Outcome) Outcome), hits map[*event]Outcome) {
	call, ok := v.Tuple.(*ssa.Call)
	if !ok { // comma-ok forms
		add(v.Tuple, func(o Outcome) Outcome { return o })
		return
	}
	for _, e := range t.f.outcomes[call] {
		if !e.call { // an atomic or sync.Map operation
			hits[e] = Outcome{Sense: 1}
		}
		for _, result := range e.tells {
			if result.Index == v.Index {
				hits[e] = result.Outcome
			}
		}
	}
}

// tracePhi adds the values chosen, and the conditions of the choice among constants.
func (t *tracer) tracePhi(v *ssa.Phi, add func(ssa.Value, func(Outcome) Outcome)) {
	constants := 0
	for _, e := range v.Edges {
		if _, ok := e.(*ssa.Const); ok {
			constants++
		}
		add(e, func(o Outcome) Outcome { return o })
	}
	if constants == 0 || v.Block().Idom() == nil {
		return
	}
	d := v.Block().Idom()
	if last, ok := d.Instrs[len(d.Instrs)-1].(*ssa.If); ok {
		add(last.Cond, func(o Outcome) Outcome {
			o.Sense *= chosenSense(v, d)
			return o
		})
	}
}

// chosenSense returns 1 if v is true where the branch at the end of d is taken, -1
// if it is false there, 0 if neither is clear.
func chosenSense(v *ssa.Phi, d *ssa.BasicBlock) int {
	if len(v.Edges) != 2 {
		return 0
	}
	for i, e := range v.Edges {
		c, ok := e.(*ssa.Const)
		if !ok {
			continue
		}
		p := v.Block().Preds[i]
		taken := 0
		switch {
		case p == d && d.Succs[0] == v.Block() || len(p.Preds) == 1 && p == d.Succs[0]:
			taken = 1
		case p == d && d.Succs[1] == v.Block() || len(p.Preds) == 1 && p == d.Succs[1]:
			taken = -1
		}
		if ir.IsZero(c) {
			taken = -taken
		}
		if taken != 0 {
			return taken
		}
	}
	return 0
}

// traceArguments follows arguments: of len and the like, and plain values of functions that compute with them.
// An object behind a pointer is a variable of its own.
func (t *tracer) traceArguments(v *ssa.Call, add func(ssa.Value, func(Outcome) Outcome)) {
	if b, ok := v.Call.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "len", "cap":
			add(v.Call.Args[0], func(o Outcome) Outcome {
				if o.Element {
					o.Inside = true // another thing than how many keys there are
				} else {
					o.Length = true
				}
				return o
			})
		case "min", "max":
			for _, a := range v.Call.Args {
				add(a, dropMeaning)
			}
		}
		return
	}
	if v.Call.IsInvoke() {
		return
	}
	for _, a := range v.Call.Args {
		switch a.Type().Underlying().(type) {
		case *types.Basic, *types.Struct, *types.Array:
			add(a, func(o Outcome) Outcome {
				o.Sense, o.Computed = 0, true
				return o
			})
		case *types.Pointer:
			add(a, inside)
		}
	}
}
