// Package waits is the shared pass that finds waits which nobody may end: on
// channels, WaitGroups, Conds and locks; and channels that are closed or sent on
// when they are closed. It simulates functions with all the goroutines that they
// start (package simulation).
//
// Scopes are the tests of the package, and the functions that make a channel, lock
// or the like, or call one that does. In a scope of a test, goroutines that are left waiting
// do not count where the test has failed before, nor in package main where main
// returns: the process ends.
//
// Cost: at most knowledge.StepsOfScope steps a scope; of all scopes
// knowledge.StepsOfPackage, and StepsOfInstruction for each instruction of the
// package, or ThoroughFactor times as many for [Thorough]. Scopes of the package come before its
// tests, and small ones first; the first one that is left out is reported. Those that make
// a channel or the like and start goroutines are simulated without most of their callees, then, at up to
// one in knowledge.ShallowShare of these steps. Where a driver lends the passes a memory, a scope
// in which nothing was found is simulated again only if code that had a part in it has changed.
package waits

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/simulation"
	"github.com/interlock-go/interlock/analyzers/syncapi"
)

// Analyzer finds waits that nobody may end.
var Analyzer = &analysis.Analyzer{
	Name:       "interlockwaits",
	Doc:        "find waits that nobody may end",
	Run:        run,
	Requires:   []*analysis.Analyzer{ir.Analyzer, lockset.Analyzer},
	ResultType: reflect.TypeFor[*Result](),
}

// Thorough means that large packages are searched further than their size allows otherwise. It is set by the flags
// of the summary.
var Thorough bool

// Result is the endless waits of one package. It is read-only once built.
type Result struct {
	Prog  *ir.Program
	Waits []Wait
	// Races are accesses of two goroutines that nothing orders, in tests and in programs.
	Races []Race
	// Problems are scopes that could not be simulated.
	Problems []string

	locks  *lockset.Result
	called map[*ssa.Function]bool // by functions of the package
}

// Wait is an operation that may wait for ever, or panics on a closed channel or after the end of a test, and why.
type Wait struct {
	// Code is the class of the fault.
	Code finding.Code
	Side
	// Others are the other operations that hang, and where locks were taken.
	Others []Side
	// Why is a sentence: why nobody ends it.
	Why string
	// Guessed: it is for as many as a number says that is not known, or computed from one that is not; or for a message
	// where no second goroutine has been started; or it hangs on an argument of a helper of tests.
	Guessed bool
	// LeftBehind: a goroutine waits at a channel, and all others of the scope, with the one that runs the scope's
	// function, have returned.
	LeftBehind bool
}

// rank orders the faults at one place: one that is sure of more comes before others.
func (w Wait) rank() int {
	switch {
	case w.Guessed:
		return 0
	case w.LeftBehind:
		return 2
	}
	return 1
}

// Race is a race in a run of Root.
type Race struct {
	Root *ssa.Function
	simulation.Race
}

// Side is one operation.
type Side struct {
	Fn   *ssa.Function
	Pos  token.Pos
	Mode finding.Mode
	// On is the variable of the operation.
	On ssa.Value
	// Held: a lock that is waited for was taken here.
	Held bool
	// Select: it is a select, and On is the first of its channels.
	Select bool
}

func run(pass *analysis.Pass) (any, error) {
	r := &Result{
		Prog:   pass.ResultOf[ir.Analyzer].(*ir.Program),
		locks:  pass.ResultOf[lockset.Analyzer].(*lockset.Result),
		called: map[*ssa.Function]bool{},
	}
	r.Prog.Analyse(pass, func() { r.simulate(pass) })
	return r, nil
}

// simulate runs the scopes of the package before those of its tests, and the small ones first.
func (r *Result) simulate(pass *analysis.Pass) {
	layouts, known := simulation.NewLayouts(), recall(r.Prog, pass)
	scopes := newScopes(r.Prog)
	left := knowledge.StepsOfPackage
	for _, fn := range r.Prog.Funcs {
		left += knowledge.StepsOfInstruction * sizeOf(fn)
		visitCalls(fn, func(callee *ssa.Function) { r.called[callee] = true })
	}
	if Thorough {
		left *= knowledge.ThoroughFactor
	}
	// A place is reported once, however many scopes lead there.
	roots := scopes.listRoots()
	slices.SortStableFunc(roots, func(a, b *ssa.Function) int {
		return cmp.Or(cmp.Compare(r.isOfTests(a), r.isOfTests(b)), cmp.Compare(scopes.reachOf(a), scopes.reachOf(b)))
	})
	seen := map[token.Pos]int{}
	shallow := left / knowledge.ShallowShare
	for i, root := range roots {
		r.Prog.Proceed()
		scope := simulation.Scope{Pkg: r.Prog.Pkg, Root: root, Layouts: layouts, Test: r.Prog.InTest(root) && isTest(root),
			Program: r.Prog.InTestFile(root) && isTest(root) || isMain(root)}
		cut := left <= 0
		if !cut {
			scope.Steps, scope.States = min(left, knowledge.StepsOfScope), knowledge.StatesOfScope
			result := r.simulateScope(scope, known)
			left -= result.Steps
			cut = result.Cut
			r.gather(root, result, seen)
			if left <= 0 && i+1 < len(roots) {
				r.Prog.GiveUpFrom(pass, roots[i+1], len(roots)-i-2)
			}
		}
		// A scope that is too much with all its callees may be seen without most of them.
		if cut && shallow > 0 && scopes.starts(root) {
			scope.Shallow = true
			scope.Steps = min(shallow, knowledge.StepsOfScope/knowledge.ShallowShare)
			scope.States = knowledge.StatesOfScope / knowledge.ShallowShare
			result := r.simulateScope(scope, known)
			shallow -= result.Steps
			r.gather(root, result, seen)
		}
	}
	known.handOn()
	slices.SortFunc(r.Waits, func(a, b Wait) int { return cmp.Compare(a.Pos, b.Pos) })
}

// isOfTests returns 1 for a function of the tests, and 0 for one of the package.
func (r *Result) isOfTests(fn *ssa.Function) int {
	if r.Prog.InTestFile(fn) {
		return 1
	}
	return 0
}

// gather judges the ends that a simulation has found. Of several faults at one place the one of the highest rank is
// kept; seen counts the waits up to that of a place.
func (r *Result) gather(root *ssa.Function, result *simulation.Result, seen map[token.Pos]int) {
	add := func(w Wait) {
		switch n := seen[w.Pos]; {
		case n == 0:
			r.Waits = append(r.Waits, w)
			seen[w.Pos] = len(r.Waits)
		case r.Waits[n-1].rank() < w.rank():
			r.Waits[n-1] = w
		}
	}
	for _, end := range result.Ends {
		if w, ok := r.findFault(root, result, &end); ok {
			add(w)
		}
	}
	for _, race := range result.Races {
		r.Races = append(r.Races, Race{root, race})
	}
	for _, l := range result.Late {
		add(r.lateUse(root, l))
	}
	for _, c := range result.Crashes {
		add(r.crashed(c))
	}
}

// simulateScope simulates a scope, if its result is not known. A panic is kept as a problem, and the
// other scopes go on.
func (r *Result) simulateScope(s simulation.Scope, known *memory) (result *simulation.Result) {
	if result := known.result(s); result != nil {
		return result
	}
	defer func() {
		if v := recover(); v != nil {
			r.Problems = append(r.Problems, fmt.Sprintf("%s: internal error in the simulation of %s: %v (%s)",
				s.Pkg.Pkg.Path(), r.Prog.FuncName(s.Root), v, ir.Frame(debug.Stack())))
			result = &simulation.Result{}
		}
	}()
	result = simulation.Run(s)
	known.keepResult(s, result)
	return result
}

// scopes knows the objects that functions of a package make, and their callees.
type scopes struct {
	prog  *ir.Program
	makes map[*ssa.Function]bool // something to wait for, itself or in its literals
	sizes map[*ssa.Function]int
}

func newScopes(prog *ir.Program) *scopes {
	s := &scopes{prog, map[*ssa.Function]bool{}, map[*ssa.Function]int{}}
	for _, fn := range prog.Funcs {
		if makesShared(fn) {
			s.makes[ir.Outermost(fn)] = true
		}
	}
	return s
}

// listRoots lists the functions to begin with: declared ones, and literals that others call later.
func (s *scopes) listRoots() []*ssa.Function {
	var list []*ssa.Function
	waiting := reaching(s.prog)
	for _, fn := range s.prog.Funcs {
		isRoot := s.makes[fn] || s.callsMaker(fn) || s.prog.InTestFile(fn) && isTest(fn)
		if fn.Parent() != nil {
			isRoot = makesShared(fn) && isHandedOut(fn)
		}
		if isRoot && waiting[fn] && len(fn.Blocks) > 0 {
			list = append(list, fn)
		}
	}
	return list
}

// isHandedOut reports whether a literal is returned, or stored where other functions find it.
//
//	return func(ctx context.Context) error { … }
func isHandedOut(literal *ssa.Function) bool {
	isLiteral := func(v ssa.Value) bool {
		if made, ok := v.(*ssa.MakeClosure); ok {
			v = made.Fn
		}
		return v == literal
	}
	for instr := range ir.Instructions(literal.Parent()) {
		switch instr := instr.(type) {
		case *ssa.Return:
			if slices.ContainsFunc(instr.Results, isLiteral) {
				return true
			}
		case *ssa.MapUpdate:
			if isLiteral(instr.Value) {
				return true
			}
		case *ssa.Store:
			if _, isLocal := instr.Addr.(*ssa.Alloc); !isLocal && isLiteral(instr.Val) {
				return true
			}
		}
	}
	return false
}

// starts reports whether fn, which is no test, makes a channel or the like, and starts goroutines itself.
func (s *scopes) starts(fn *ssa.Function) bool {
	return s.makes[fn] && !s.prog.InTest(fn) && startsGoroutine(fn)
}

func startsGoroutine(fn *ssa.Function) bool {
	for instr := range ir.Instructions(fn) {
		if _, ok := instr.(*ssa.Go); ok {
			return true
		}
	}
	return slices.ContainsFunc(fn.AnonFuncs, startsGoroutine)
}

// callsMaker reports whether fn, or a literal in it, calls a function of the package that makes something to wait for.
func (s *scopes) callsMaker(fn *ssa.Function) bool {
	found := false
	visitCalls(fn, func(callee *ssa.Function) { found = found || s.makes[callee] })
	return found || slices.ContainsFunc(fn.AnonFuncs, s.callsMaker)
}

// reachOf is about how large the scope of fn is: its own size and that of its callees.
func (s *scopes) reachOf(fn *ssa.Function) int {
	if n, known := s.sizes[fn]; known {
		return n
	}
	s.sizes[fn] = sizeOf(fn)
	n := sizeOf(fn)
	visitCalls(fn, func(callee *ssa.Function) { n += s.sizes[callee] })
	s.sizes[fn] = n
	return n
}

func visitCalls(fn *ssa.Function, visit func(*ssa.Function)) {
	for instr := range ir.Instructions(fn) {
		if call, ok := instr.(ssa.CallInstruction); ok {
			if callee := ir.Origin(call.Common().StaticCallee()); callee != nil {
				visit(callee)
			}
		}
	}
}

func sizeOf(fn *ssa.Function) int {
	n := 0
	for _, b := range fn.Blocks {
		n += len(b.Instrs)
	}
	return n
}

// makesShared reports whether fn makes a channel, or a variable in which somebody may wait.
func makesShared(fn *ssa.Function) bool {
	for instr := range ir.Instructions(fn) {
		switch instr := instr.(type) {
		case *ssa.MakeChan:
			return true
		case *ssa.Alloc:
			if waitable(instr.Type().Underlying().(*types.Pointer).Elem(), knowledge.NestedStructs) {
				return true
			}
		}
	}
	return false
}

// waitable reports whether somebody may wait in a variable of type t.
func waitable(t types.Type, depth int) bool {
	if strings.HasPrefix(syncapi.Type(t), "sync.") {
		return true
	}
	if _, isChan := t.Underlying().(*types.Chan); isChan {
		return true
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok || depth == 0 {
		return false
	}
	for f := range st.Fields() {
		if waitable(f.Type(), depth-1) {
			return true
		}
	}
	return false
}

// isTest reports whether go test calls fn.
func isTest(fn *ssa.Function) bool {
	return fn.Signature.Recv() == nil && slices.ContainsFunc([]string{"Test", "Benchmark", "Example", "Fuzz"},
		func(prefix string) bool { return strings.HasPrefix(fn.Name(), prefix) })
}

// isMain reports whether a program begins with fn.
func isMain(fn *ssa.Function) bool { return fn.Name() == "main" && fn.Pkg.Pkg.Name() == "main" }
