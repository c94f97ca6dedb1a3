package ownership

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Analyzer answers which goroutines own an object at an instruction.
var Analyzer = &analysis.Analyzer{
	Name:       "interlockownership",
	Doc:        "find objects that no other goroutine can reach yet",
	Run:        run,
	Requires:   []*analysis.Analyzer{ir.Analyzer, callgraph.Analyzer},
	FactTypes:  []analysis.Fact{new(Behaviour)},
	ResultType: reflect.TypeFor[*Result](),
}

// Level is how far an object is known to others, in ascending order.
type Level int

const (
	Fresh  Level = iota // only this goroutine can reach it
	Handed              // passed on to code or objects not known to share it
	Shared              // other goroutines can reach it, or nothing is known of it
)

// Behaviour is the fact of how a function changes ownership.
type Behaviour struct {
	// FreshResults are the indexes of results that are nil or fresh.
	FreshResults []int
	// Leaks is how far the function publishes its parameters (receiver
	// first); those behind the end it keeps private. No map: the encoding of
	// a fact is part of cache keys, and that of maps is not always the same.
	Leaks []Level
}

// AFact marks Behaviour as a fact.
func (*Behaviour) AFact() {}

// leakOfParam returns how far parameter i is published.
func (b *Behaviour) leakOfParam(i int) Level {
	if i < len(b.Leaks) {
		return b.Leaks[i]
	}
	return Fresh
}

func (b *Behaviour) String() string {
	if len(b.FreshResults) > 0 {
		return "fresh result"
	}
	for i := range 16 {
		if b.leakOfParam(i) > Fresh {
			return fmt.Sprintf("publishes parameter %d", i)
		}
	}
	return "keeps its parameters private"
}

// Result answers for the functions of one package. It works out answers when
// asked, under a lock: checks run at the same time.
type Result struct {
	mu sync.Mutex // guards all maps below, once run has returned

	prog  *ir.Program
	graph *callgraph.Graph
	pass  *analysis.Pass

	published map[ssa.Value][]publication
	leaks     map[paramKey]Level
	results   map[resultKey]bool
	built     map[resultKey]bool
	large     map[*ssa.Function]bool // see tooLarge
	arounds   map[[2]*ssa.BasicBlock]map[*ssa.BasicBlock]bool
	used      map[ssa.Value][]ssa.Instruction
	methods   map[methodKey]bool // of interfaces: whether one that is known returns fresh objects
	held      map[heldKey]stored
	params    map[*ssa.Parameter]Level    // how far callers share the argument; absent: Shared
	stores    map[*types.Var][]*ssa.Store // of the fields that findPointees is about
	sharing   map[*types.Var]bool         // see pointsToShared
	// valueCalls are the calls of function values by their signatures.
	valueCalls []*valueCalls

	// strict: calls in tests count, and objects are followed through those that
	// they are stored in.
	strict bool
	proven *Result
}

type paramKey struct {
	fn    *ssa.Function
	index int
}

type resultKey struct {
	fn    *ssa.Function
	index int
}

type methodKey struct {
	method *types.Func
	index  int
}

func run(pass *analysis.Pass) (any, error) {
	graph := pass.ResultOf[callgraph.Analyzer].(*callgraph.Graph)
	r := newResult(pass, graph, false)
	r.proven = newResult(pass, graph.WithTests(), true)
	r.prog.Analyse(pass, r.export)
	return r, nil
}

func newResult(pass *analysis.Pass, graph *callgraph.Graph, strict bool) *Result {
	r := &Result{
		prog:      pass.ResultOf[ir.Analyzer].(*ir.Program),
		graph:     graph,
		strict:    strict,
		pass:      pass,
		published: map[ssa.Value][]publication{},
		leaks:     map[paramKey]Level{},
		results:   map[resultKey]bool{},
		built:     map[resultKey]bool{},
		large:     map[*ssa.Function]bool{},
		arounds:   map[[2]*ssa.BasicBlock]map[*ssa.BasicBlock]bool{},
		used:      map[ssa.Value][]ssa.Instruction{},
		methods:   map[methodKey]bool{},
		params:    map[*ssa.Parameter]Level{},
		held:      map[heldKey]stored{},
	}
	r.prog.Analyse(pass, func() {
		r.findParamLevels()
		if !strict {
			r.findPointees()
		}
	})
	return r
}

// Proven returns answers that a proof may rest on: code of tests counts, and an
// object that lies in another one goes where that goes. Those of r itself are
// opinions on how the package is meant to be used.
func (r *Result) Proven() *Result { return r.proven }

// Of returns how far the object that base lies in is known to others when
// instruction at runs. Base is an address within the object, or a reference to it.
func (r *Result) Of(base ssa.Value, at ssa.Instruction) Level {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.levelAt(base, at)
}

func (r *Result) levelAt(base ssa.Value, at ssa.Instruction) Level {
	return r.levelOf(base, at, map[ssa.Value]bool{})
}

func (r *Result) levelOf(v ssa.Value, at ssa.Instruction, seen map[ssa.Value]bool) Level {
	if seen[v] {
		return Fresh // a loop: the other edges decide
	}
	seen[v] = true
	if from := ir.Back(v, ir.Field|ir.Element|ir.Piece|ir.Retyped|ir.Boxed|ir.Asserted); from != nil {
		return r.levelOf(from, at, seen)
	}
	switch v := v.(type) {
	case *ssa.Const:
		return Fresh // nil
	case *ssa.Phi:
		return r.worstLevel(v.Edges, at, seen)
	case *ssa.FreeVar:
		if bound := accesspath.Binding(v); bound != nil {
			return r.levelOf(bound, at, seen)
		}
	case *ssa.UnOp:
		return r.loaded(v, at, seen)
	case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice:
		return r.objectLevel(v, at)
	case *ssa.Parameter:
		if level, ok := r.params[v]; ok {
			return max(level, r.objectLevel(v, at))
		}
	case *ssa.Call:
		if transfersOwnership(v) {
			return Handed
		}
		return r.called(v, v, 0, at)
	case *ssa.Extract:
		switch tuple := v.Tuple.(type) {
		case *ssa.Call:
			return r.called(v, tuple, v.Index, at)
		case *ssa.Select:
			return Handed // received, as below
		case *ssa.UnOp, *ssa.TypeAssert:
			return r.levelOf(tuple, at, seen)
		}
	}
	return Shared
}

// called judges v, result i of a call.
func (r *Result) called(v ssa.Value, call *ssa.Call, i int, at ssa.Instruction) Level {
	switch {
	case r.freshResult(call, i):
		return r.objectLevel(v, at)
	case r.builtResult(call, i):
		return max(Handed, r.objectLevel(v, at))
	case r.freshFromInterface(call, i):
		return Handed
	}
	return Shared
}

func (r *Result) worstLevel(values []ssa.Value, at ssa.Instruction, seen map[ssa.Value]bool) Level {
	level := Fresh
	for _, v := range values {
		level = max(level, r.levelOf(v, at, seen))
	}
	return level
}

// loaded judges the value of a load: the contents of a captured variable, or the
// pointee of a field of another object, of which nothing is certain.
func (r *Result) loaded(load *ssa.UnOp, at ssa.Instruction, seen map[ssa.Value]bool) Level {
	if load.Op == token.ARROW {
		return Handed // a received object is the receiver's by custom
	}
	addr := load.X
	if fv, ok := addr.(*ssa.FreeVar); ok {
		if bound := accesspath.Binding(fv); bound != nil {
			addr = bound
		}
	}
	if cell, ok := addr.(*ssa.Alloc); ok {
		stored := accesspath.Stored(cell)
		if !slices.Contains(stored, ssa.Value(cell)) {
			return r.worstLevel(stored, at, seen)
		}
		return Shared
	}
	if r.levelOf(load.X, at, seen) == Shared || r.copied(load.X, at, seen) || r.pointsToShared(load.X) {
		return Shared
	}
	return Handed
}

// copied reports whether addr is a field of a local struct that was copied as
// a whole from an object with pointees that others may reach: the copy is
// private, its pointees are not. A field that the function assigns itself is
// judged by that.
func (r *Result) copied(addr ssa.Value, at ssa.Instruction, seen map[ssa.Value]bool) bool {
	selected := map[int]bool{} // fields of the local itself
	for {
		fa, ok := addr.(*ssa.FieldAddr)
		if !ok {
			break
		}
		addr, selected = fa.X, map[int]bool{fa.Field: true}
	}
	local, ok := addr.(*ssa.Alloc)
	if !ok || len(selected) == 0 {
		return false
	}
	var sources []ssa.Value
	for _, ref := range *local.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Addr == local {
				sources = append(sources, ref.Val)
			}
		case *ssa.FieldAddr:
			if selected[ref.Field] && assigned(ref) {
				return false
			}
		}
	}
	return slices.ContainsFunc(sources, func(v ssa.Value) bool { return r.copyOfShared(v, at, seen) })
}

// assigned reports whether something is stored in the field at fa, or in a
// part of it, or its address is used for more than loads.
func assigned(fa *ssa.FieldAddr) bool {
	return slices.ContainsFunc(*fa.Referrers(), func(ref ssa.Instruction) bool {
		switch ref := ref.(type) {
		case *ssa.UnOp, *ssa.DebugRef:
			return false
		case *ssa.FieldAddr:
			return assigned(ref)
		}
		return true
	})
}

// copyOfShared reports whether v, a struct, is a copy of one that others may
// reach: loaded from a shared object, or passed by value by callers that did
// not make it themselves.
func (r *Result) copyOfShared(v ssa.Value, at ssa.Instruction, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return false
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.UnOp:
		return v.Op == token.MUL && (r.levelOf(v.X, v, seen) == Shared || r.copied(v.X, v, seen))
	case *ssa.Phi:
		return slices.ContainsFunc(v.Edges, func(e ssa.Value) bool { return r.copyOfShared(e, at, seen) })
	case *ssa.Parameter:
		return r.passedByValue(v, seen)
	}
	return false
}

// passedByValue reports whether some caller passes a copy of a shared struct as
// p; callers of other packages may.
func (r *Result) passedByValue(p *ssa.Parameter, seen map[ssa.Value]bool) bool {
	fn := p.Parent()
	if !r.graph.Closed(fn) {
		return r.graph.Open(fn)
	}
	i := slices.Index(fn.Params, p)
	return slices.ContainsFunc(r.graph.Sites(fn), func(s callgraph.Site) bool {
		return i < len(s.Args) && r.copyOfShared(s.Args[i], s.Instr, seen)
	})
}

// transfersOwnership reports whether the result of a call belongs to its caller, as that of a pool does.
func transfersOwnership(call *ssa.Call) bool {
	fn := call.Call.StaticCallee()
	return fn != nil && fn.Name() == "Get" && fn.Signature.Recv() != nil &&
		types.TypeString(fn.Signature.Recv().Type(), nil) == "*sync.Pool"
}

// objectLevel judges object v, allocated in its function, at an instruction
// of that function or of a closure that it runs.
func (r *Result) objectLevel(v ssa.Value, at ssa.Instruction) Level {
	level := Fresh
	for _, point := range r.pointsIn(v.Parent(), at, 0) {
		level = max(level, point.level)
		if point.instr == nil {
			continue
		}
		for _, p := range r.publications(v) {
			if p.level > level && r.reaches(p.instr, point.instr, v) {
				level = p.level
			}
		}
	}
	return level
}
