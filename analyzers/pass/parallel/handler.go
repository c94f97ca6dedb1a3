package parallel

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// handlers finds the literals that package net/http runs in a goroutine for each request, and that change in each a
// variable that their function has declared for all. A variable that a handler sets once, as the answer to the one
// request that is expected, is left out, and so are handlers in tests, which mostly make one request after another.
//
//	hits := map[string]int{}; return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hits[r.Host]++ })
func (b *builder) handlers() {
	for _, fn := range b.prog.Funcs {
		sum := b.summaries[fn]
		if sum == nil || !isHandler(fn) || b.prog.InTest(fn) || takesTest(ir.Outermost(fn)) {
			continue
		}
		for _, t := range sum.touches {
			if t.calls == 0 && t.writes() && capturedBy(fn, t.Place) && accumulates(t) && len(t.locks) == 0 &&
				len(strong(t.after)) == 0 {
				b.report(&Race{In: fn.Parent(), Handler: fn, Inside: t, Other: t})
			}
		}
	}
}

// isHandler reports whether a literal becomes a handler of package net/http.
func isHandler(fn *ssa.Function) bool {
	if fn.Parent() == nil || len(fn.Params) != 2 || types.TypeString(fn.Params[1].Type(), nil) != "*net/http.Request" {
		return false
	}
	return slices.ContainsFunc(*fn.Referrers(), func(made ssa.Instruction) bool {
		mk, ok := made.(*ssa.MakeClosure)
		return ok && slices.ContainsFunc(*mk.Referrers(), func(use ssa.Instruction) bool {
			switch use := use.(type) {
			case *ssa.ChangeType:
				return types.TypeString(use.Type(), nil) == "net/http.HandlerFunc"
			case *ssa.Call:
				callee := use.Call.StaticCallee()
				return callee != nil && ir.PackagePath(callee) == "net/http" && callee.Name() == "HandleFunc"
			}
			return false
		})
	})
}

// takesTest reports whether fn is a test, or a helper that is handed one.
func takesTest(fn *ssa.Function) bool {
	return slices.ContainsFunc(fn.Params, func(p *ssa.Parameter) bool {
		return strings.HasPrefix(strings.TrimPrefix(types.TypeString(p.Type(), nil), "*"), "testing.")
	})
}

// capturedBy reports whether p is a variable that a function around fn has declared, or the map in it.
func capturedBy(fn *ssa.Function, p Place) bool {
	switch p.Path.Root.(type) {
	case *ssa.Alloc, *ssa.MakeMap:
		return p.Path.Root.Parent() != fn && p.Path.Fields == ""
	}
	return false
}

// accumulates reports whether t changes a map, or computes the stored value from the one that was there.
func accumulates(t *Touch) bool {
	if t.Place.aspect == contents {
		return true
	}
	store, ok := t.Instr.(*ssa.Store)
	if !ok {
		return false
	}
	op, ok := store.Val.(*ssa.BinOp)
	return ok && accesspath.Of(op.X) == accesspath.Of(store.Addr)
}
