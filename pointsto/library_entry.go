package pointsto

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/pointsto/load"
)

// A library is open: packages of other modules call its exported functions, and
// read and write its exported variables.

// enterable returns the functions that code may call which is no part of the
// program.
func (a *program) enterable() map[*ssa.Function]bool {
	fns := map[*ssa.Function]bool{}
	for _, fn := range a.loaded.Called {
		if len(fn.Blocks) > 0 {
			fns[fn] = true
		}
	}
	if !a.opts.Open {
		return fns
	}
	a.members(func(p *load.Package, m ssa.Member) {
		switch m := m.(type) {
		case *ssa.Function:
			switch {
			case m.TypeParams().Len() > 0:
				usedBy(m, fns)
			case m.Object() != nil && m.Object().Exported():
				fns[m] = true
			}
		case *ssa.Type:
			a.methodsFor(m.Type(), fns)
		}
	})
	return fns
}

// members calls do for each member of the libraries.
func (a *program) members(do func(*load.Package, ssa.Member)) {
	for _, p := range a.loaded.Own {
		if !p.Library {
			continue
		}
		for _, m := range p.SSA.Members {
			do(p, m)
		}
	}
}

// methodsFor adds the exported methods of t. Those of types that are not
// exported can be called through interfaces. Of those of generic types, which
// are there for the instances only that the program has, the callees are
// added.
func (a *program) methodsFor(t types.Type, fns map[*ssa.Function]bool) {
	n, ok := t.(*types.Named)
	if !ok || types.IsInterface(t) {
		return
	}
	if n.TypeParams().Len() > 0 {
		a.genericMethods(n, func(fn *ssa.Function) { usedBy(fn, fns) })
		return
	}
	for _, t := range []types.Type{t, types.NewPointer(t)} {
		set := a.loaded.SSA.MethodSets.MethodSet(t)
		for sel := range set.Methods() {
			if sel.Obj().Exported() {
				if fn := a.loaded.SSA.MethodValue(sel); fn != nil {
					fns[fn] = true
				}
			}
		}
	}
}

func (a *program) genericMethods(n *types.Named, do func(*ssa.Function)) {
	for m := range n.Methods() {
		if fn := a.loaded.SSA.FuncValue(m); fn != nil {
			do(fn)
		}
	}
}

// usedBy adds the functions that generic function fn, of which others may make
// instances, calls or hands on.
func usedBy(fn *ssa.Function, fns map[*ssa.Function]bool) {
	eachOperand(fn, func(_ ssa.Instruction, v ssa.Value) {
		if used, ok := v.(*ssa.Function); ok && used.TypeParams().Len() == 0 && used.Parent() == nil {
			fns[used] = true
		}
	})
}

// eachOperand calls do for each operand in fn and the functions in it.
func eachOperand(fn *ssa.Function, do func(ssa.Instruction, ssa.Value)) {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			for _, op := range instr.Operands(nil) {
				if *op != nil {
					do(instr, *op)
				}
			}
		}
	}
	for _, anon := range fn.AnonFuncs {
		eachOperand(anon, do)
	}
}

// exposeLibraries records that others use the exported variables, and all that instances of
// generic functions use.
func (a *program) exposeLibraries() {
	a.members(func(p *load.Package, m ssa.Member) {
		switch m := m.(type) {
		case *ssa.Global:
			if m.Object() != nil && m.Object().Exported() {
				a.expose(m)
			}
		case *ssa.Function:
			if m.TypeParams().Len() > 0 {
				a.exposeAll(m)
			}
		case *ssa.Type:
			if n, ok := m.Type().(*types.Named); ok && n.TypeParams().Len() > 0 {
				a.genericMethods(n, a.exposeAll)
			}
		}
	})
}

// exposeAll records that others use the functions and types that generic function fn uses.
func (a *program) exposeAll(fn *ssa.Function) {
	eachOperand(fn, func(_ ssa.Instruction, v ssa.Value) {
		switch v := v.(type) {
		case *ssa.Global:
			a.expose(v)
		case *ssa.FieldAddr:
			a.exposeLocation(a.fieldLocation(pointedType(v.X.Type()), v.Field))
		}
	})
}

// expose records that others use the variable at address v.
func (a *program) expose(v ssa.Value) {
	a.addMarks(a.nodeOf(v), escapesExternal|unknown)
	if p := a.variable(v); p != nil {
		a.exposeLocation(p)
	}
}

func (a *program) exposeLocation(p *location) {
	p.byOutside.addVerdict(accessedBy{anyone, anyone})
	a.addMarks(p.contents, escapesExternal|unknown|shared)
	for _, part := range a.partsOfWhole(p.typ) {
		part.byOutside.addVerdict(accessedBy{anyone, anyone})
	}
}
