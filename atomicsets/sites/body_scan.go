package sites

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/cfg"
)

type lockStep struct {
	kind int
	lockMethod
}

// bodyScan is one function.
type bodyScan struct {
	*releaseScan
	steps  map[ast.Node][]lockStep // by the node of a block, in the order of their execution
	cells  map[string]lockMethod   // released in the function, by cell
	values []lockMethod            // releases that others call: method values, go statements
	work   int                     // steps made by isLoose, for all locks
	// waits: the function waits for a Cond, which releases its lock. acquires: it acquires some lock itself.
	waits, acquires bool
}

// addStep adds a step of a node of a block.
func (b *bodyScan) addStep(node ast.Node, kind int, m lockMethod) {
	b.steps[node] = append(b.steps[node], lockStep{kind, m})
	if kind == releaseNow || kind == releaseLater {
		b.cells[m.cell] = m
	}
}

// collect adds the steps of n, which is part of node of a block.
func (b *bodyScan) collect(node, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			b.markLoose(b.function(n.Body))
			return false
		case *ast.DeferStmt:
			b.deferred(node, n.Call)
			return false
		case *ast.GoStmt:
			b.collect(node, n.Call.Fun) // a method value, as far as this goroutine is concerned
			b.collectAll(node, n.Call.Args)
			return false
		case *ast.CallExpr:
			return !b.addCall(node, n)
		case *ast.SelectorExpr:
			if m, ok := b.method(n); ok && m.releases() {
				b.values = append(b.values, m)
			}
		case *ast.AssignStmt:
			b.collectAll(node, n.Rhs)
			for _, x := range n.Lhs {
				b.collect(node, x)
				b.addStep(node, forget, lockMethod{parts: b.assigned(x)})
			}
			return false
		case *ast.IncDecStmt:
			b.addStep(node, forget, lockMethod{parts: b.assigned(n.X)})
		case *ast.ValueSpec:
			for _, id := range n.Names {
				b.addStep(node, forget, lockMethod{parts: b.assigned(id)})
			}
		}
		return true
	})
}

func (b *bodyScan) collectAll(node ast.Node, list []ast.Expr) {
	for _, x := range list {
		b.collect(node, x)
	}
}

// deferred adds the releases of a call that a defer statement makes.
func (b *bodyScan) deferred(node ast.Node, call *ast.CallExpr) {
	if lit, ok := call.Fun.(*ast.FuncLit); ok {
		for _, m := range b.function(lit.Body) {
			b.addStep(node, releaseLater, m)
		}
	} else if m, ok := b.called(call); !ok {
		b.collect(node, call.Fun)
	} else if m.releases() {
		b.addStep(node, releaseLater, m)
	}
	b.collectAll(node, call.Args)
}

// addCall adds a call of a method of a lock, and reports whether it is one.
func (b *bodyScan) addCall(node ast.Node, call *ast.CallExpr) bool {
	m, ok := b.called(call)
	if !ok {
		fn := calleeOf(b.info, call)
		b.waits = b.waits || fn != nil && fn.FullName() == "(*sync.Cond).Wait"
		return false
	}
	b.acquires = b.acquires || !m.releases()
	b.collect(node, ast.Unparen(call.Fun).(*ast.SelectorExpr).X)
	switch {
	case m.releases():
		b.addStep(node, releaseNow, m)
	case strings.HasPrefix(m.name, "Try"):
		b.addStep(node, tryAcquire, m)
	default:
		b.addStep(node, acquire, m)
	}
	return true
}

// called returns the method of a lock that a call calls.
func (b *bodyScan) called(call *ast.CallExpr) (m lockMethod, ok bool) {
	e, isSelector := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !isSelector {
		return m, false
	}
	if sel := b.info.Selections[e]; sel == nil || sel.Kind() != types.MethodVal {
		return m, false
	}
	return b.method(e)
}

// assigned returns the variable or field that an assignment to x changes.
func (b *bodyScan) assigned(x ast.Expr) []types.Object {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		if v := b.info.ObjectOf(x); v != nil {
			return []types.Object{v}
		}
	case *ast.SelectorExpr:
		if v := b.info.Uses[x.Sel]; v != nil {
			return []types.Object{v}
		}
	case *ast.IndexExpr:
		return b.assigned(x.X)
	case *ast.StarExpr:
		return b.assigned(x.X)
	}
	return nil
}

// states is a set of possible states of a lock: bit h+2d, where h is 1 if the activation holds it, and d is 1
// if it releases it when it returns.
type states uint8

// afterStep returns the states behind a step, and whether it may release a lock that is not held.
func (st states) afterStep(step lockStep, m lockMethod) (next states, loose bool) {
	if step.kind == forget {
		if slices.ContainsFunc(step.parts, func(o types.Object) bool { return slices.Contains(m.parts, o) }) {
			return st&notHeld | st&held>>1, false
		}
		return st, false
	}
	if step.cell != m.cell {
		return st, false
	}
	switch step.kind {
	case acquire:
		return st&held | st&notHeld<<1, false
	case releaseNow:
		return st&notHeld | st&held>>1, st&notHeld != 0
	case releaseLater:
		return (st | st<<2) & (whenHeld | whenEnds), false
	}
	return st, false
}

// isLoose reports whether the function may release the lock of m where it does not hold it. The answer means
// nothing when the work is beyond its limit.
func (b *bodyScan) isLoose(graph *cfg.CFG, m lockMethod) bool {
	in := map[*cfg.Block]states{graph.Blocks[0]: beginning}
	work := []*cfg.Block{graph.Blocks[0]}
	for len(work) > 0 && b.work <= workLimit {
		block := work[len(work)-1]
		work = work[:len(work)-1]
		st, loose := b.through(block, in[block], m)
		if loose || len(block.Succs) == 0 && st&whenEnds != 0 {
			return true
		}
		for i, next := range block.Succs {
			out := st
			if m, on := b.endsWithTry(block, m); m && i == on {
				out = st&held | st&notHeld<<1
			}
			if in[next]|out != in[next] {
				in[next] |= out
				work = append(work, next)
			}
		}
	}
	return false
}

// through returns the states behind a block.
func (b *bodyScan) through(block *cfg.Block, st states, m lockMethod) (states, bool) {
	if r, ok := block.Stmt.(*ast.RangeStmt); ok && block.Kind == cfg.KindRangeBody {
		for _, x := range []ast.Expr{r.Key, r.Value} {
			if x != nil {
				st, _ = st.afterStep(lockStep{forget, lockMethod{parts: b.assigned(x)}}, m)
			}
		}
	}
	b.work++
	for _, n := range block.Nodes {
		b.work += 1 + len(b.steps[n])
		for _, step := range b.steps[n] {
			next, loose := st.afterStep(step, m)
			if loose {
				return next, true
			}
			st = next
		}
	}
	return st, false
}

// endsWithTry reports whether the block ends with a condition that tries to acquire the lock of m, and in which of the
// two successors it has done so: if mu.TryLock() { … }.
func (b *bodyScan) endsWithTry(block *cfg.Block, m lockMethod) (ok bool, on int) {
	if len(block.Succs) != 2 || len(block.Nodes) == 0 {
		return false, 0
	}
	cond, isExpr := block.Nodes[len(block.Nodes)-1].(ast.Expr)
	for isExpr {
		switch x := ast.Unparen(cond).(type) {
		case *ast.UnaryExpr:
			if x.Op != token.NOT {
				return false, 0
			}
			cond, on = x.X, 1-on
			continue
		case *ast.CallExpr:
			t, isLock := b.called(x)
			return isLock && strings.HasPrefix(t.name, "Try") && t.cell == m.cell, on
		}
		return false, 0
	}
	return false, 0
}
