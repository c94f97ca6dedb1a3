package simulation

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// joinBlock returns the block behind a branch of which both ways do nothing that
// matters to waits; nil if they do.
func (m *machine) joinBlock(b *ssa.BasicBlock) *ssa.BasicBlock {
	to, known := m.layouts.joins[b]
	if !known {
		m.layouts.joinBy[b] = m.listen(func() { to = m.findJoin(b) })
		m.layouts.joins[b] = to
	}
	for _, fn := range m.layouts.joinBy[b] {
		m.relyOnCode(fn)
	}
	return to
}

// listen returns the functions that isQuiet is asked about while f runs.
func (m *machine) listen(f func()) (list []*ssa.Function) {
	before := m.asked
	m.asked = &list
	f()
	m.asked = before
	return list
}

// relyOnCode notes that the code of fn had a part, and that of all functions that made it quiet or not.
func (m *machine) relyOnCode(fn *ssa.Function) {
	if m.relied[fn] {
		return
	}
	m.touched[fn], m.relied[fn] = true, true
	for _, by := range m.layouts.quietBy[fn] {
		m.relyOnCode(by)
	}
}

// findJoin tries the blocks that b dominates as places where all ways from b meet.
func (m *machine) findJoin(b *ssa.BasicBlock) *ssa.BasicBlock {
	work := maxQuiet
	for _, to := range b.Dominees() {
		if region, ok := between(b, to, &work); ok {
			for r := range region {
				if !m.isQuietBlock(r) {
					return nil
				}
			}
			if setsCount(to) || region[b] && setsCount(b) {
				return nil
			}
			m.layouts.rounds[b] = region[b]
			return to
		}
		if work < 0 {
			return nil
		}
	}
	return nil
}

// setsCount reports whether the ways to a block set a number differently that is the size of a channel, or that a
// WaitGroup waits for.
//
//	n := 0; if a != nil { n++ }; …; ch := make(chan int, n); if a != nil { go func() { ch <- a() }() }
func setsCount(to *ssa.BasicBlock) bool {
	for _, instr := range to.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		if countsFor(phi, map[ssa.Value]bool{}) {
			return true
		}
	}
	return false
}

func countsFor(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] || !isInteger(v.Type()) {
		return false
	}
	seen[v] = true
	return slices.ContainsFunc(*v.Referrers(), func(use ssa.Instruction) bool {
		switch use := use.(type) {
		case *ssa.MakeChan:
			return true
		case *ssa.Call:
			fn := use.Call.StaticCallee()
			return fn != nil && fn.String() == "(*sync.WaitGroup).Add"
		case *ssa.Phi, *ssa.BinOp, *ssa.Convert:
			return countsFor(use.(ssa.Value), seen)
		}
		return false
	})
}

func isInteger(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

// between returns the blocks that control passes from b on before it comes to
// block to; not ok if it may end before.
func between(b, to *ssa.BasicBlock, work *int) (region map[*ssa.BasicBlock]bool, ok bool) {
	region = map[*ssa.BasicBlock]bool{}
	stack := append([]*ssa.BasicBlock(nil), b.Succs...)
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if x == to || region[x] {
			continue
		}
		if *work -= len(x.Instrs); *work < 0 || len(x.Succs) == 0 {
			return nil, false
		}
		region[x] = true
		stack = append(stack, x.Succs...)
	}
	return region, true
}

// isQuietBlock reports whether nothing in the block matters to waits.
func (m *machine) isQuietBlock(b *ssa.BasicBlock) bool {
	for _, instr := range b.Instrs {
		if !m.isQuietInstr(instr) {
			return false
		}
	}
	return true
}

// isQuiet reports whether nothing in fn, and in its callees, matters to waits.
func (m *machine) isQuiet(fn *ssa.Function) bool {
	if m.asked != nil {
		*m.asked = append(*m.asked, fn)
	} else {
		defer m.relyOnCode(fn)
	}
	if q, known := m.layouts.quiet[fn]; known {
		return q
	}
	m.layouts.quiet[fn] = true // of a recursive function the rest decides
	m.layouts.quietBy[fn] = m.listen(func() {
		if slices.ContainsFunc(fn.Blocks, func(b *ssa.BasicBlock) bool { return !m.isQuietBlock(b) }) {
			m.layouts.quiet[fn] = false
		}
	})
	return m.layouts.quiet[fn]
}

func (m *machine) isQuietInstr(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.Send, *ssa.Select, *ssa.Go, *ssa.Defer, *ssa.Panic, *ssa.MakeChan:
		return false
	case *ssa.UnOp:
		return instr.Op != token.ARROW
	case *ssa.Store:
		return !matters(instr.Val.Type())
	case *ssa.MapUpdate:
		return !carries(instr.Key.Type(), 3) && !matters(instr.Value.Type())
	case *ssa.Call:
		return m.isQuietCall(instr.Common())
	}
	return true
}

func (m *machine) isQuietCall(common *ssa.CallCommon) bool {
	if b, ok := common.Value.(*ssa.Builtin); ok {
		return b.Name() != "close" && b.Name() != "recover"
	}
	fn := common.StaticCallee()
	switch {
	case fn == nil:
		return common.IsInvoke() && quietSignature(common.Signature())
	case modelOf(fn) != nil:
		return false
	case len(origin(fn).Blocks) > 0:
		return m.isQuiet(origin(fn))
	case harmless(fn):
		return true
	}
	return quietSignature(fn.Signature)
}

// quietSignature reports whether a function can neither be handed nor return
// an object that a goroutine waits for.
func quietSignature(sig *types.Signature) bool {
	if recv := sig.Recv(); recv != nil && carries(recv.Type(), 3) {
		return false
	}
	for v := range sig.Params().Variables() {
		if carries(v.Type(), 3) {
			return false
		}
	}
	return true
}

// carries reports whether a value of type t may lead to something that
// somebody waits for, as far as the type says.
func carries(t types.Type, depth int) bool {
	if depth == 0 {
		return true
	}
	switch types.TypeString(t, nil) {
	case "error", "context.Context", "time.Time", "time.Duration":
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Slice:
		return carries(u.Elem(), depth-1)
	case *types.Array:
		return carries(u.Elem(), depth-1)
	case *types.Map:
		return carries(u.Key(), depth-1) || carries(u.Elem(), depth-1)
	case *types.Struct:
		for f := range u.Fields() {
			if carries(f.Type(), depth-1) {
				return true
			}
		}
		return false
	}
	return true
}

// matters reports whether branches, or waits, may depend on a variable of type t.
func matters(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsInteger|types.IsBoolean) != 0
	case *types.Slice:
		return matters(u.Elem())
	}
	return true
}

// jumpOver goes to block to; values that the ways there may have set differently are not known, such as those of the
// loop that is left:
//
//	n := 0; for _, a := range all { if a != nil { n++ } }; …
func (m *machine) jumpOver(st *state, g int, f *frame, to *ssa.BasicBlock) {
	if from := f.block; m.layouts.rounds[from] {
		for _, instr := range from.Instrs {
			switch v := instr.(type) {
			case *ssa.Phi:
				f = st.topFrame(g)
				m.setRegister(f, v, m.freshSymbol(st, g, v))
			case *ssa.BinOp: // made of one
				if !isTemporary(v, from) {
					f = st.topFrame(g)
					m.setRegister(f, v, m.freshSymbol(st, g, v))
				}
			}
		}
	}
	f.block, f.pc = to, 0
	for _, instr := range to.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		f = st.topFrame(g)
		m.setRegister(f, phi, m.freshSymbol(st, g, phi))
		f.pc++
	}
}
