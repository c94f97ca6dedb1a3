package pointsto

import (
	"fmt"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/callgraph/rta"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/pointsto/load"
)

// Options are facts of the program.
type Options struct {
	// Open reports whether packages of other modules may import those of the program, and
	// call their exported functions from any goroutine. Without it the program is all that there is,
	// as for a test binary.
	Open bool
}

// program is an analysis on its way.
type program struct {
	*flows
	loaded    *load.Program
	opts      Options
	reachable []*ssa.Function         // in the order of the source, more or less
	methods   map[int][]*ssa.Function // by the id of their receiver
	ctx       contexts
	entered   map[*ssa.Function]bool // external code may call them
	anytime   map[*ssa.Function]bool // printing or the runtime may call it, with known arguments
	globals   map[*ssa.Global]*globalUse
	// The objects and functions that the program and external code have of each other.
	escaped       map[int]bool           // ids of types of which external code has objects
	escapedFuncs  map[*ssa.Function]bool // functions that external code has
	boundaries    map[boundaryKey]*boundary
	boundaryCalls []boundaryCall
	externalCalls map[ssa.CallInstruction]bool
	byName        bool // methods are called, or functions made, by reflection
	touched       map[types.Type]marks

	changed bool            // entered or anytime has grown
	live    []*ssa.Function // some goroutine runs them
	built   int             // so many of them are in the graph
}

type globalUse struct {
	by     []*ssa.Function
	shared bool
}

// Analyze works out for a program which objects several goroutines may reach,
// and which code they may run at the same time.
func Analyze(p *load.Program, o Options) *Result {
	a := &program{
		flows: newFlows(), loaded: p, opts: o,
		methods: map[int][]*ssa.Function{}, entered: map[*ssa.Function]bool{}, anytime: map[*ssa.Function]bool{},
		globals: map[*ssa.Global]*globalUse{},
		escaped: map[int]bool{}, escapedFuncs: map[*ssa.Function]bool{}, boundaries: map[boundaryKey]*boundary{},
		externalCalls: map[ssa.CallInstruction]bool{},
		touched:       map[types.Type]marks{},
	}
	a.calledExternal, a.runs = a.callExternal, a.runAnytime
	a.graph.grow, a.graph.marked = a.growMarks, a.noteMarks
	a.findReachable()
	a.callGraph()
	// The graph of pointers grows with the code that runs, and the code that runs
	// with the graph: solve goes round until neither does.
	a.captures()
	a.solveTogether()
	a.countAccesses()
	return &Result{program: a}
}

// findReachable finds the functions that may run.
func (a *program) findReachable() {
	var roots []*ssa.Function
	for _, m := range a.loaded.Mains {
		roots = append(roots, m.Func("init"), m.Func("main"))
	}
	for fn := range a.enterable() {
		roots = append(roots, fn)
	}
	for _, fn := range a.loaded.Linked {
		roots = append(roots, fn) // it runs only if somebody calls it
	}
	if len(roots) == 0 {
		return
	}
	res := rta.Analyze(roots, false)
	a.reachable = slices.SortedFunc(maps.Keys(res.Reachable), func(f, g *ssa.Function) int {
		if f.Pos() != g.Pos() {
			return int(f.Pos() - g.Pos())
		}
		return compareNames(f, g)
	})
	for _, fn := range a.reachable {
		if recv := fn.Signature.Recv(); recv != nil {
			t := a.receiver(recv.Type())
			a.methods[t] = append(a.methods[t], fn)
		}
	}
}

func compareNames(f, g *ssa.Function) int {
	switch a, b := f.String(), g.String(); {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// methodsOf returns the methods of t, or of the type that it points to, that may run.
func (a *program) methodsOf(t types.Type) []*ssa.Function { return a.methods[a.receiver(t)] }

// receiver numbers the types that have methods, a type and pointers to it alike.
func (a *program) receiver(t types.Type) int { return a.typeNumber(pointedType(t)) }

func (a *program) callGraph() {
	set := map[*ssa.Function]bool{}
	for _, fn := range a.reachable {
		set[fn] = true
	}
	a.ctx = contexts{of: map[*ssa.Function]context{}, calls: map[*ssa.Function][]ssa.CallInstruction{}}
	a.ctx.found = func(fn *ssa.Function) { a.live = append(a.live, fn) }
	a.ctx.to = calleesOf(vta.CallGraph(set, nil))
	for _, fn := range a.reachable {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if call, ok := instr.(ssa.CallInstruction); ok {
					a.ctx.calls[fn] = append(a.ctx.calls[fn], call)
					if static := call.Common().StaticCallee(); static != nil && !slices.Contains(a.ctx.to[call], static) {
						a.ctx.to[call] = append(a.ctx.to[call], static)
					}
					a.resolveLinked(call)
				}
			}
		}
	}
	a.ctx.findBeside(a.reachable)
	a.beside = a.ctx.beside
}

// resolveLinked replaces callees without a body by the functions that are linked for them.
func (a *program) resolveLinked(call ssa.CallInstruction) {
	for i, fn := range a.ctx.to[call] {
		if target := a.loaded.Linked[fn]; target != nil {
			a.ctx.to[call][i] = target
		}
	}
}

// captures finds the variables that closures capture.
func (a *program) captures() {
	for _, fn := range a.reachable {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if mk, ok := instr.(*ssa.MakeClosure); ok {
					a.capture(mk)
				}
			}
		}
	}
}

// buildFlow takes the functions into the graph that have been found to run.
func (a *program) buildFlow() {
	for ; a.built < len(a.live); a.built++ {
		fn := a.live[a.built]
		a.findByName(fn)
		if modelOf(fn).apply != nil {
			continue
		}
		a.noteGlobals(fn)
		a.function(fn)
		for _, call := range a.ctx.calls[fn] {
			a.addCall(call, a.ctx.to[call])
		}
	}
}

// noteGlobals notes which package variables fn uses.
func (a *program) noteGlobals(fn *ssa.Function) {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			for _, op := range instr.Operands(nil) {
				g, ok := (*op).(*ssa.Global)
				if !ok {
					continue
				}
				u := a.globals[g]
				if u == nil {
					u = new(globalUse)
					a.globals[g] = u
				}
				if len(u.by) == 0 || u.by[len(u.by)-1] != fn {
					u.by = append(u.by, fn)
				}
			}
		}
	}
}

// solveTogether finds out together which goroutines run which code, and which objects they share: each
// bears on the other.
func (a *program) solveTogether() {
	for _, m := range a.loaded.Mains {
		a.ctx.addContext(m.Func("init"), inInit)
		a.ctx.addContext(m.Func("main"), inMain)
	}
	for fn := range a.enterable() {
		a.enterFromOutside(fn)
	}
	if a.opts.Open {
		a.exposeLibraries()
	}
	for fn := range a.ctx.beside {
		a.graph.addMarks(a.nodeOf(fn), escapes)
	}
	for {
		a.changed = false
		a.spreadContexts()
		a.buildFlow()
		a.shareGlobals()
		a.graph.spread()
		if !a.changed && a.built == len(a.live) {
			return
		}
	}
}

func (a *program) spreadContexts() {
	for fn := range a.entered {
		a.ctx.addContext(fn, anyone)
	}
	for fn := range a.anytime {
		a.ctx.addContext(fn, anyone)
	}
	a.spreadBoundaries()
	a.ctx.spread()
}

// shareGlobals marks the package variables that started goroutines use as shared.
func (a *program) shareGlobals() {
	for g, u := range a.globals {
		if u.shared {
			continue
		}
		var by context
		for _, fn := range u.by {
			by |= a.ctx.of[fn]
		}
		if parallel(by, by) {
			u.shared, a.changed = true, true
			a.graph.addMarks(a.nodeOf(g), escapes)
		}
	}
}

// growMarks adds the marks that follow for the objects that a node of type t leads to.
func (a *program) growMarks(n node, t types.Type, m marks) {
	within := a.within(t)
	if a.isInterfaceSlice[n] && isInterfaceSlice(t) {
		within = []*location{a.lists.elementLocation(n, t.Underlying().(*types.Slice).Elem())}
	}
	if c := contentMarks(m); c != 0 {
		for _, p := range within {
			a.graph.addMarks(p.contents, c)
		}
	}
	if types.IsInterface(t) {
		return
	}
	a.noteOutsideAccesses(t, within, m)
	if m&(escapesExternal|typeKnown) != 0 {
		a.escapeType(t)
	}
	if m&printed != 0 {
		a.printNode(n, t)
	}
}

// noteOutsideAccesses notes the accesses that external code, and code that prints, may make to objects
// that a value of type t leads to: marks do not show them for memory that holds no pointers.
func (a *program) noteOutsideAccesses(t types.Type, within []*location, m marks) {
	m &= escapesExternal | unknown | printed
	if m == 0 || m&^a.touched[t] == 0 && !isInterfaceSlice(t) {
		return
	}
	a.touched[t] |= m
	by := accessedBy{reads: anyone}
	if m&(escapesExternal|unknown) != 0 {
		by.writes = anyone
	}
	for _, p := range within {
		p.byOutside.addVerdict(by)
		for _, part := range a.partsOfWhole(p.typ) {
			part.byOutside.addVerdict(by)
		}
	}
}

// printNode has the methods that printing calls run on the values of n.
func (a *program) printNode(n node, t types.Type) {
	for _, fn := range a.methodsOf(t) {
		if !slices.Contains(printMethods, fn.Name()) || len(fn.Params) == 0 {
			continue
		}
		if types.Identical(fn.Params[0].Type(), t) {
			a.connect(n, a.nodeOf(fn.Params[0]), flow)
		}
		a.runAnytime(fn)
	}
}

// runAnytime records that code that prints, or the runtime, calls fn, in any goroutine.
func (a *program) runAnytime(fn *ssa.Function) {
	if !a.anytime[fn] {
		a.anytime[fn], a.changed = true, true
	}
}

// noteMarks enters functions that external code may call, and lets calls of
// external code lead there.
func (a *program) noteMarks(n node, m marks) {
	if m&unknown != 0 {
		for _, call := range a.dynamic[n] {
			a.callExternal(call)
		}
	}
	if m&escapesExternal != 0 {
		if fn := a.functions[n]; fn != nil {
			a.enterFromOutside(fn)
			a.escapeFunc(fn)
		}
	}
}

// String returns the size of the analysis.
func (a *program) String() string {
	return fmt.Sprintf("%d functions, %d nodes, %d edges", len(a.live), len(a.marks), len(a.edges))
}
