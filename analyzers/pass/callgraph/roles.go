package callgraph

import (
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Roles is which goroutines may run a function: the closure of its callers.
type Roles struct {
	API     bool // any goroutine of an importing package
	Main    bool // the main goroutine of a command
	Init    bool // package initialisation
	Unknown bool // something that could not be followed
	// Goroutines are the go statements (and calls that start their
	// argument) that start the goroutines which run it, in order of position.
	Goroutines []*Goroutine
}

// Goroutine is the goroutines that one place starts.
type Goroutine struct {
	Start ssa.CallInstruction
	Entry *ssa.Function
	// Many: the place is in a loop, so several run at once.
	Many bool
}

// Pos is where the goroutine is started.
func (g *Goroutine) Pos() token.Pos { return g.Start.Pos() }

// Roles returns the roles of f; a function that nothing outside of tests calls has none.
func (g *Graph) Roles(f *ssa.Function) *Roles {
	if r := g.roles[f]; r != nil {
		return r
	}
	return new(Roles)
}

// Concurrent reports whether two goroutines may run code with roles r at once.
func (r *Roles) Concurrent() bool {
	return r.API || len(r.Goroutines) > 1 || len(r.Goroutines) == 1 && (r.Main || r.Goroutines[0].Many)
}

// Single returns the one goroutine that runs the code, if it is just one.
func (r *Roles) Single() *Goroutine {
	if r.API || r.Main || r.Unknown || len(r.Goroutines) != 1 || r.Goroutines[0].Many {
		return nil
	}
	return r.Goroutines[0]
}

// None reports whether nothing outside of tests runs the code.
func (r *Roles) None() bool {
	return !r.API && !r.Main && !r.Init && !r.Unknown && len(r.Goroutines) == 0
}

// OnlyInit reports whether the code runs during package initialisation only.
func (r *Roles) OnlyInit() bool {
	return r.Init && !r.API && !r.Main && !r.Unknown && len(r.Goroutines) == 0
}

// Once reports whether f runs only as the function of a sync.Once, or is only
// called by such functions.
func (g *Graph) Once(f *ssa.Function) bool { return g.runsInOnce(f, 0) }

func (g *Graph) runsInOnce(f *ssa.Function, depth int) bool {
	if depth > knowledge.CallsToRole || !g.Closed(f) || len(g.sites[f]) == 0 {
		return false
	}
	for _, s := range g.sites[f] {
		if s.Mode == Go || !isOnceDo(s.Through) && !g.runsInOnce(s.Caller, depth+1) {
			return false
		}
	}
	return true
}

func isOnceDo(f *ssa.Function) bool {
	return f != nil && f.Name() == "Do" && f.Signature.Recv() != nil &&
		f.Signature.Recv().Type().String() == "*sync.Once"
}

// spreadRoles propagates roles from roots along calls to a fixed point.
func (g *Graph) spreadRoles() {
	started := map[ssa.CallInstruction]*Goroutine{}
	for _, f := range g.prog.Funcs {
		g.roles[f] = g.rootRoles(f)
		for _, s := range g.sites[f] {
			if s.Mode == Go {
				if started[s.Instr] == nil {
					started[s.Instr] = &Goroutine{Start: s.Instr, Entry: f, Many: InLoop(s.Instr.Block())}
				}
				g.roles[f].joinRoles(&Roles{Goroutines: []*Goroutine{started[s.Instr]}})
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, f := range g.CallersFirst() {
			for _, s := range g.sites[f] {
				if s.Mode != Go && g.roles[s.Caller] != nil {
					changed = g.roles[f].joinRoles(g.roles[s.Caller]) || changed
				}
			}
		}
	}
}

func (g *Graph) rootRoles(f *ssa.Function) *Roles {
	r := &Roles{API: g.open[f], Unknown: g.escapes[f]}
	if f.Parent() != nil || f.Signature.Recv() != nil {
		if ir.Outermost(f) == g.prog.Pkg.Func("init") {
			r.Init = true
		}
		return r
	}
	r.Init = f.Object() != nil && f.Object().Name() == "init"
	r.Main = f.Name() == "main" && g.prog.Pkg.Pkg.Name() == "main"
	if isTest(f) && g.prog.InTestFile(f) && (g.tests || !g.prog.InTest(f)) {
		r.Main = !callsParallel(f)
		r.Unknown = !r.Main
	}
	return r
}

// isTest reports whether the go command runs f as a test: one after the other,
// each in the only goroutine that there is beside those it starts, unless it
// calls Parallel.
func isTest(f *ssa.Function) bool {
	return len(f.Params) == 1 && strings.HasPrefix(f.Name(), "Test") && f.Params[0].Type().String() == "*testing.T"
}

// joinRoles adds o's roles to r and reports whether that changed r.
func (r *Roles) joinRoles(o *Roles) bool {
	before := *r
	r.API, r.Main = r.API || o.API, r.Main || o.Main
	r.Init, r.Unknown = r.Init || o.Init, r.Unknown || o.Unknown
	for _, goroutine := range o.Goroutines {
		if !slices.Contains(r.Goroutines, goroutine) {
			r.Goroutines = append(slices.Clip(r.Goroutines), goroutine)
		}
	}
	slices.SortFunc(r.Goroutines, func(a, b *Goroutine) int { return int(a.Pos() - b.Pos()) })
	return len(before.Goroutines) != len(r.Goroutines) || before.API != r.API ||
		before.Main != r.Main || before.Init != r.Init || before.Unknown != r.Unknown
}

// InLoop reports whether control can come back to b.
func InLoop(b *ssa.BasicBlock) bool {
	seen := map[*ssa.BasicBlock]bool{}
	var reach func(from *ssa.BasicBlock) bool
	reach = func(from *ssa.BasicBlock) bool {
		for _, s := range from.Succs {
			if s == b {
				return true
			}
			if !seen[s] {
				seen[s] = true
				if reach(s) {
					return true
				}
			}
		}
		return false
	}
	return reach(b)
}
