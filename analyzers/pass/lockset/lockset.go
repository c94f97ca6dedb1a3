package lockset

import (
	"go/types"
	"reflect"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// Analyzer finds the locks held at each instruction.
var Analyzer = &analysis.Analyzer{
	Name:       "interlocklockset",
	Doc:        "find the locks held at each instruction",
	Run:        run,
	Requires:   []*analysis.Analyzer{ir.Analyzer, callgraph.Analyzer, ownership.Analyzer},
	FactTypes:  []analysis.Fact{new(Effects)},
	ResultType: reflect.TypeFor[*Result](),
}

// Result holds the locks of one package. It is read-only once built.
type Result struct {
	prog  *ir.Program
	graph *callgraph.Graph
	owner *ownership.Result
	pass  *analysis.Pass

	summaries map[*ssa.Function][]effect
	local     map[*ssa.Function]*flow // from an entry state without locks
	quiet     map[*ssa.Function]bool  // nothing in it changes a lock
	conds     map[accesspath.Name]condAlias
	spins     map[*ssa.Function]kind // methods that are lock operations by their bodies
	turns     map[string]turn        // channels that are locks, by class
	flags     map[string]bool        // atomic flags that are locks, by class
	rounds    map[*ssa.BasicBlock]*round
	points    map[*ssa.Function][]point
	takes     map[*ssa.Function][]Acquire // of functions of the package
	foreign   *foreign                    // of others
	outlives  map[string]bool
	wants     map[*ssa.Function]bool // name or comment says: with the lock held
	declared  map[*ssa.Function][]effect
	entry     map[*ssa.Function]*State
	flagged   map[*ssa.Function]*flagged // beside entry
	flows     map[*ssa.Function]*flow
	onObject  map[siteKey]ownership.Level // memo of calledOn
	united    map[*ssa.Function]bool      // in which no condition separates the paths
}

// foreign holds the locks that functions of other packages take, as far as a pass has asked. Passes
// that run side by side ask.
type foreign struct {
	mu    sync.Mutex
	takes map[*ssa.Function][]Acquire // guarded by mu
}

type siteKey struct {
	call   ssa.CallInstruction
	callee *ssa.Function
}

func run(pass *analysis.Pass) (any, error) {
	r := &Result{
		prog:      pass.ResultOf[ir.Analyzer].(*ir.Program),
		graph:     pass.ResultOf[callgraph.Analyzer].(*callgraph.Graph),
		owner:     pass.ResultOf[ownership.Analyzer].(*ownership.Result),
		pass:      pass,
		summaries: map[*ssa.Function][]effect{},
		local:     map[*ssa.Function]*flow{},
		quiet:     map[*ssa.Function]bool{},
		conds:     map[accesspath.Name]condAlias{},
		spins:     map[*ssa.Function]kind{},
		turns:     map[string]turn{},
		flags:     map[string]bool{},
		rounds:    map[*ssa.BasicBlock]*round{},
		points:    map[*ssa.Function][]point{},
		takes:     map[*ssa.Function][]Acquire{},
		foreign:   &foreign{takes: map[*ssa.Function][]Acquire{}},
		outlives:  map[string]bool{},
		wants:     map[*ssa.Function]bool{},
		declared:  map[*ssa.Function][]effect{},
		entry:     map[*ssa.Function]*State{},
		flagged:   map[*ssa.Function]*flagged{},
		flows:     map[*ssa.Function]*flow{},
		onObject:  map[siteKey]ownership.Level{},
		united:    map[*ssa.Function]bool{},
	}
	r.prog.Analyse(pass, func() {
		// Find the locks beside those of package sync.
		r.findConds()
		r.findSpins()
		r.findTurns()
		r.findFlags()
		// Sum up how each function changes the locks of its callers, callees first, and
		// read its comments and its name for them.
		for _, fn := range r.prog.Funcs {
			r.effects(fn)
			r.readDeclarations(fn)
		}
		// Which locks it may wait for, with its callees, and which outlive a function.
		r.sumTakes()
		r.findOutliving()
		for _, fn := range r.prog.Funcs {
			r.declareReleased(fn)
		}
		// Find the locks that callers hold when they call it: only now each function is solved.
		r.inferEntries()
		r.export()
	})
	return r, nil
}

// Walk visits each reachable instruction of fn with the locks held before it.
func (r *Result) Walk(fn *ssa.Function, visit func(ssa.Instruction, *State)) {
	if f := r.flows[fn]; f != nil {
		f.walkBlocks(fn, visit)
	}
}

func (r *Result) export() {
	for _, fn := range r.prog.Funcs {
		obj, ok := fn.Object().(*types.Func)
		if !ok || !obj.Exported() || r.prog.InTest(fn) {
			continue
		}
		fact := &Effects{Takes: exported(r.takes[fn], fn), Locks: relative(r.summaries[fn], fn), Under: map[int][]Effect{}}
		for i, p := range fn.Params {
			if _, isFunc := p.Type().Underlying().(*types.Signature); isFunc {
				if under := relative(r.heldAround(fn, i), fn); len(under) > 0 {
					fact.Under[i] = under
				}
			}
		}
		if len(fact.Locks)+len(fact.Takes)+len(fact.Under) > 0 {
			r.pass.ExportObjectFact(obj, fact)
		}
	}
}

// relative keeps the effects on locks that are reached from parameters.
func relative(effects []effect, fn *ssa.Function) []Effect {
	var list []Effect
	for _, e := range effects {
		if i := e.path.Param(fn); i >= 0 && !isTurn(e.class) {
			list = append(list, Effect{i, e.path.Fields, int(e.status), e.class})
		}
	}
	return list
}
