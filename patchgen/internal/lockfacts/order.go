package lockfacts

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/dominikbraun/graph"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// LockOrder is the lock-order graph of a module: an edge from one lock class
// to another that may be acquired while the first is held, by the same
// function or by what calls it. Two instances of a class are one vertex, so a
// class may have an edge to itself, which counts as a cycle.
type LockOrder struct {
	g     graph.Graph[string, string]
	edges map[lockEdge]bool
	sites map[siteKey]int // how many acquisitions make the edge in a function
	where map[siteKey]string
}

type lockEdge struct{ from, to string }

type siteKey struct {
	lockEdge
	fn string
}

// LockOrder computes the graph. Calls through interfaces and function values
// are resolved by variable type analysis over the module's own code.
func (facts *Facts) LockOrder() (*LockOrder, error) {
	m := facts.Module
	dynamic, err := dynamicCallees(m)
	if err != nil {
		return nil, err
	}
	out := &LockOrder{g: graph.New(graph.StringHash, graph.Directed()),
		edges: map[lockEdge]bool{}, sites: map[siteKey]int{}, where: map[siteKey]string{}}
	above := facts.heldAbove(m, dynamic)
	for _, f := range m.Functions() {
		f.EachCall(func(call *ast.CallExpr) {
			op, ok := f.File.LockOp(call)
			if !ok || !op.Acquire || op.Try {
				return
			}
			held := Classes(facts.At(f, call).May)
			maps.Copy(held, above[f])
			for from := range held {
				out.add(siteKey{lockEdge{from, op.Path.Class}, f.File.Package.Path + "." + f.Name()}, f.File.At(call))
			}
		})
	}
	return out, nil
}

func (o *LockOrder) add(s siteKey, at string) {
	o.edges[s.lockEdge] = true
	o.sites[s]++
	o.where[s] = at
	_ = o.g.AddVertex(s.from) // that it is there already is no error to us
	_ = o.g.AddVertex(s.to)
	if s.from != s.to {
		_ = o.g.AddEdge(s.from, s.to)
	}
}

// Worse returns as an error what o has that before has not: an acquisition that closes a
// cycle, its own class included. A cycle that was there already is no excuse
// for one more way into it.
func (o *LockOrder) Worse(before *LockOrder) error {
	cyclic := o.cyclic()
	for _, s := range slices.SortedFunc(maps.Keys(o.sites), compareSites) {
		if !cyclic[s.lockEdge] || o.sites[s] <= before.sites[s] {
			continue
		}
		if s.from == s.to {
			return fmt.Errorf("%s could be locked again while it is held (%s)", source.Short(s.to), o.where[s])
		}
		return fmt.Errorf("%s would be locked while %s is held (%s), which closes the cycle %s", source.Short(s.to),
			source.Short(s.from), o.where[s], o.cycle(s.lockEdge))
	}
	return nil
}

func compareSites(a, b siteKey) int {
	return strings.Compare(a.from+"\x00"+a.to+"\x00"+a.fn, b.from+"\x00"+b.to+"\x00"+b.fn)
}

// cyclic are the edges within strongly connected components, loops included.
func (o *LockOrder) cyclic() map[lockEdge]bool {
	out := map[lockEdge]bool{}
	comps, err := graph.StronglyConnectedComponents(o.g)
	if err != nil {
		return o.edges // only an undirected graph fails
	}
	comp := map[string]int{}
	for i, c := range comps {
		for _, v := range c {
			comp[v] = i
		}
	}
	for e := range o.edges {
		if comp[e.from] == comp[e.to] {
			out[e] = true
		}
	}
	return out
}

// cycle names the way back from the head of the edge to its tail.
func (o *LockOrder) cycle(e lockEdge) string {
	way, err := graph.ShortestPath(o.g, e.to, e.from)
	if err != nil {
		return "unknown"
	}
	names := []string{source.Short(e.from)}
	for _, v := range way {
		names = append(names, source.Short(v))
	}
	return strings.Join(names, " -> ")
}

func Classes(h Holds) map[string]bool {
	out := map[string]bool{}
	for _, x := range h {
		out[x.Class] = true
	}
	return out
}

// heldAbove returns for every function the lock classes that some caller, at
// any distance, may hold when it runs. A function is looked at again when a
// caller brings it a class: as often as there are classes, at most.
func (facts *Facts) heldAbove(m *source.Module,
	dynamic map[token.Pos][]*source.Function) map[*source.Function]map[string]bool {
	above := map[*source.Function]map[string]bool{}
	work, queued := m.Functions(), map[*source.Function]bool{}
	for _, f := range work {
		queued[f] = true
	}
	for len(work) > 0 {
		f := work[0]
		work, queued[f] = work[1:], false
		f.EachCall(func(call *ast.CallExpr) {
			if _, isGo := f.File.Parents[call].(*ast.GoStmt); isGo {
				return
			}
			held := Classes(facts.At(f, call).May)
			maps.Copy(held, above[f])
			for _, callee := range facts.callees(f, call, dynamic) {
				if addAll(above, callee, held) && !queued[callee] {
					work, queued[callee] = append(work, callee), true
				}
			}
		})
	}
	return above
}

func addAll(to map[*source.Function]map[string]bool, f *source.Function, classes map[string]bool) (changed bool) {
	for c := range classes {
		if to[f] == nil {
			to[f] = map[string]bool{}
		}
		if !to[f][c] {
			to[f][c], changed = true, true
		}
	}
	return changed
}

func (facts *Facts) callees(f *source.Function, call *ast.CallExpr,
	dynamic map[token.Pos][]*source.Function) []*source.Function {
	var out []*source.Function
	if callee := f.File.Callee(call); callee != nil {
		out = append(out, callee)
	} else {
		out = append(out, dynamic[call.Lparen]...)
	}
	literals := call.Args
	literals = append(literals[:len(literals):len(literals)], call.Fun)
	for _, arg := range literals { // a literal handed on may be run by the callee
		if lit, ok := ast.Unparen(arg).(*ast.FuncLit); ok {
			out = append(out, f.File.Module.FunctionAt(lit))
		}
	}
	return out
}

// dynamicCallees resolves calls that are not static, by position of their
// opening parenthesis.
func dynamicCallees(m *source.Module) (out map[token.Pos][]*source.Function, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("building the call graph for the lock-order check: %v", r)
		}
	}()
	if len(m.Packages) == 0 {
		return nil, errors.New("building the call graph: no packages")
	}
	prog := ssa.NewProgram(m.Fset, ssa.InstantiateGenerics|ssa.BuildSerially) // here, where a panic is recovered
	created := map[*types.Package]bool{}
	for _, p := range m.Packages {
		created[p.Types] = true
		prog.CreatePackage(p.Types, p.Syntax(), p.Info, true)
	}
	for _, p := range m.Packages {
		createImports(prog, p.Types, created)
	}
	prog.Build()
	cg := vta.CallGraph(ssautil.AllFunctions(prog), nil)
	out = map[token.Pos][]*source.Function{}
	for _, node := range cg.Nodes {
		for _, edge := range node.Out {
			f := m.FunctionAt(edge.Callee.Func.Syntax())
			if edge.Site != nil && f != nil && !slices.Contains(out[edge.Pos()], f) {
				out[edge.Pos()] = append(out[edge.Pos()], f)
			}
		}
	}
	return out, nil
}

// createImports makes bodiless packages of everything imported.
func createImports(prog *ssa.Program, p *types.Package, created map[*types.Package]bool) {
	for _, dep := range p.Imports() {
		if created[dep] {
			continue
		}
		created[dep] = true
		prog.CreatePackage(dep, nil, nil, true)
		createImports(prog, dep, created)
	}
}
