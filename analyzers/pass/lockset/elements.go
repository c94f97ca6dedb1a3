package lockset

import (
	"cmp"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
)

// round is the change of locks by a loop that has come to its end: by one round, for each element of a slice, an
// array or a map. The paths name all elements: c.shards[*].mu.
type round struct {
	exit    int // successor of the loop's header at the end
	changes []change
}

// change is an effect, and the instruction that took the lock.
type change struct {
	effect
	since ssa.Instruction
}

// atEnd returns the state behind a loop over all elements that ends in s at its header:
//
//	for i := range c.shards { c.shards[i].mu.Lock() }
func (f *flow) atEnd(s *State, header *ssa.BasicBlock, succ int) *State {
	l := f.roundOf(header)
	if l == nil || succ != l.exit {
		return s
	}
	for _, c := range l.changes {
		// The rounds have left some lock of the class, which is one of these.
		if some := anonymous(c.class); s.locks[some].status == maybe {
			s = s.withHold(some, hold{})
		}
		s = s.afterCall(c.effect, c.path, c.since)
	}
	return s
}

// runDeferred returns the state after d has run at the end of the function. Where a loop over all elements
// defers it, it runs for each of them:
//
//	for _, p := range parts { p.mu.Lock(); defer p.mu.Unlock() }
func (f *flow) runDeferred(s *State, d *ssa.Defer) *State {
	after := f.applyOp(s, d)
	if !isInElementLoop(d.Block()) {
		return after
	}
	for p, h := range s.locks {
		if h.status != maybe && after.locks[p].status == maybe && strings.Contains(p.Fields, accesspath.Every) {
			after = after.withHold(p, hold{})
		}
	}
	return after
}

// isInElementLoop reports whether b is run in a loop over all elements.
func isInElementLoop(b *ssa.BasicBlock) bool {
	for h := b.Idom(); h != nil; h = h.Idom() {
		if of, exit := elementsOf(h); of != nil && h.Succs[1-exit].Dominates(b) {
			return true
		}
	}
	return false
}

// roundOf returns the change of locks by the loop with the header; nil if it is no loop over all
// elements.
func (f *flow) roundOf(header *ssa.BasicBlock) *round {
	known := f.r.rounds
	if l, ok := known[header]; ok {
		return l
	}
	known[header] = nil // a function that calls itself in its loop
	known[header] = f.findRound(header)
	return known[header]
}

func (f *flow) findRound(header *ssa.BasicBlock) *round {
	of, exit := elementsOf(header)
	if of == nil {
		return nil
	}
	l := &round{exit: exit}
	for p, h := range f.solveRound(header, header.Succs[1-exit]).locks {
		all, ok := of(p)
		if ok && !h.back && h.status != absent {
			l.changes = append(l.changes, change{effect{path: all, status: h.status, class: h.class}, h.since})
		}
	}
	slices.SortFunc(l.changes, func(a, b change) int { return cmp.Compare(a.path.String(), b.path.String()) })
	return l
}

// solveRound returns the state at the end of one round that starts without locks.
func (f *flow) solveRound(header, body *ssa.BasicBlock) *State {
	var end *State
	in, work := map[*ssa.BasicBlock]*State{body: {}}, []*ssa.BasicBlock{body}
	for ; len(work) > 0; work = work[1:] {
		b := work[0]
		out := in[b]
		for _, instr := range b.Instrs {
			out = f.stepInstruction(out, instr, nil)
		}
		for i, succ := range b.Succs {
			after := f.branch(out, b, i)
			if succ == header {
				end = joinStates(end, after)
			}
			if succ == header || !header.Dominates(succ) {
				continue
			}
			if next := joinStates(in[succ], after); in[succ] == nil || !equalStates(next, in[succ]) {
				in[succ] = next
				work = append(work, succ)
			}
		}
	}
	return cmp.Or(end, &State{})
}

// elementsOf returns, for the header of a loop over all elements, the function that names all elements by the path
// of one, and the successor at the loop's end; nil for another block.
func elementsOf(header *ssa.BasicBlock) (func(accesspath.Path) (accesspath.Path, bool), int) {
	if len(header.Instrs) == 0 || !isHeader(header) {
		return nil, 0
	}
	cond, ok := header.Instrs[len(header.Instrs)-1].(*ssa.If)
	if !ok {
		return nil, 0
	}
	// for k, v := range m, over a map: ok, k, v = next
	if more, ok := cond.Cond.(*ssa.Extract); ok && more.Index == 0 {
		next, ok := more.Tuple.(*ssa.Next)
		if !ok || next.IsString {
			return nil, 0
		}
		entries := accesspath.Of(next.Iter.(*ssa.Range).X).Plus(accesspath.Every)
		return func(p accesspath.Path) (accesspath.Path, bool) {
			entry, ok := p.Root.(*ssa.Extract)
			return entries.Plus(p.Fields), ok && entry.Tuple == next
		}, 1
	}
	// for i := 0; i < len(s); i++, and by range
	less, ok := cond.Cond.(*ssa.BinOp)
	if !ok || less.Op != token.LSS || !countsFromZero(less.X, header) {
		return nil, 0
	}
	return func(p accesspath.Path) (accesspath.Path, bool) {
		for _, use := range *less.X.Referrers() {
			element, ok := use.(*ssa.IndexAddr)
			if !ok || element.Index != less.X || !isLengthOf(less.Y, element.X) {
				continue
			}
			if rest, ok := p.Under(accesspath.Of(element)); ok {
				return accesspath.Of(element.X).Plus(accesspath.Every + rest), true
			}
		}
		return p, false
	}, 1
}

// isHeader reports whether a way leads from b back to it that nothing enters behind it.
func isHeader(b *ssa.BasicBlock) bool {
	for _, pred := range b.Preds {
		if b.Dominates(pred) {
			return true
		}
	}
	return false
}

// countsFromZero reports whether index is 0 when header is reached, and one more in each round.
func countsFromZero(index ssa.Value, header *ssa.BasicBlock) bool {
	first := int64(0)
	phi, ok := index.(*ssa.Phi)
	if add, isAdd := index.(*ssa.BinOp); isAdd && isOneMore(add, add.X) {
		// A range starts at -1, and adds one before it compares.
		phi, ok = add.X.(*ssa.Phi)
		first = -1
	}
	if !ok || phi.Block() != header {
		return false
	}
	for i, e := range phi.Edges {
		if header.Dominates(header.Preds[i]) {
			if e != index && !isOneMore(e, phi) || e == phi {
				return false
			}
		} else if c, ok := e.(*ssa.Const); !ok || c.Value == nil || c.Int64() != first {
			return false
		}
	}
	return true
}

// isOneMore reports whether v is of + 1.
func isOneMore(v, of ssa.Value) bool {
	add, ok := v.(*ssa.BinOp)
	if !ok || add.Op != token.ADD || add.X != of {
		return false
	}
	one, ok := add.Y.(*ssa.Const)
	return ok && one.Value != nil && one.Value.Kind() == constant.Int && one.Int64() == 1
}

// isLengthOf reports whether v is the number of elements of list, a slice or an array.
func isLengthOf(v, list ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Const:
		t := list.Type().Underlying()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem().Underlying()
		}
		array, ok := t.(*types.Array)
		return ok && v.Value != nil && v.Int64() == array.Len()
	case *ssa.Call:
		b, ok := v.Call.Value.(*ssa.Builtin)
		return ok && b.Name() == "len" && accesspath.Of(v.Call.Args[0]) == accesspath.Of(list)
	}
	return false
}
