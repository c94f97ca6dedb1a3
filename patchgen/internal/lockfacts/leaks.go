package lockfacts

import (
	"fmt"
	"go/ast"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// Leaks counts, per function and lock class, the returns at which the lock
// may still be held although nothing deferred unlocks it.
func (facts *Facts) Leaks() map[siteKey]int {
	out := map[siteKey]int{}
	for _, f := range facts.Module.Functions() {
		g := facts.graphs[f]
		deferred := deferredUnlocks(f)
		for _, b := range g.Blocks {
			ret := b.Return()
			if !b.Live || ret == nil {
				continue
			}
			state, ok := facts.states[f][ast.Node(ret)]
			if !ok {
				continue
			}
			for class := range Classes(state.May) {
				if !deferred[class] && !Classes(facts.entry[f])[class] {
					out[siteKey{lockEdge{from: class}, f.File.Package.Path + "." + f.Name()}]++
				}
			}
		}
	}
	return out
}

func deferredUnlocks(f *source.Function) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		d, ok := n.(*ast.DeferStmt)
		if !ok {
			return true
		}
		ast.Inspect(d, func(x ast.Node) bool {
			if call, ok := x.(*ast.CallExpr); ok {
				if op, ok := f.File.LockOp(call); ok && !op.Acquire {
					out[op.Path.Class] = true
				}
			}
			return true
		})
		return false
	})
	return out
}

// MoreLeaks returns where a lock stays held that did not before.
func MoreLeaks(before, after map[siteKey]int) error {
	for s, n := range after {
		if n > before[s] {
			return fmt.Errorf("%s may stay locked when %s returns", source.Short(s.from), s.fn)
		}
	}
	return nil
}
