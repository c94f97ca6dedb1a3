package lockfacts

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"strings"

	"golang.org/x/tools/go/cfg"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// Hold is one lock held: its class, and whether only the read side is.
type Hold struct {
	Class string
	Read  bool
}

// Holds is a set of held locks by place.
type Holds map[string]Hold

// State is what is held at a point: on every way there, on some way.
type State struct{ Must, May Holds }

func (s State) clone() State { return State{maps.Clone(s.Must), maps.Clone(s.May)} }

// Facts knows what is held where. Locks held by all callers of an
// unexported function, tests apart, count as held in it (callers that call it
// through an interface, a function value or a go statement hold nothing for
// it).
type Facts struct {
	Module   *source.Module
	mayBlock map[*source.Function]string             // see blocking.go; filled on demand
	entry    map[*source.Function]Holds              // must, by callers
	states   map[*source.Function]map[ast.Node]State // before each node of the control-flow graph
	graphs   map[*source.Function]*cfg.CFG
	Calls    map[string][]CallSite // static call sites by full name of the callee
	Values   map[string]bool       // functions that are used as values, by full name
	ifaces   map[string]bool       // names of methods that some interface of the module demands
}

type CallSite struct {
	In   *source.Function
	Call *ast.CallExpr
	kind token.Token // token.GO, token.DEFER, or token.ILLEGAL for a plain call
}

// callers' locks go through this many levels of calls.
const entryRounds = 4

// New analyses a module.
func New(m *source.Module) *Facts {
	facts := &Facts{Module: m, mayBlock: map[*source.Function]string{}, entry: map[*source.Function]Holds{},
		states: map[*source.Function]map[ast.Node]State{}, graphs: map[*source.Function]*cfg.CFG{},
		Calls: map[string][]CallSite{}, Values: map[string]bool{}, ifaces: map[string]bool{}}
	fns := m.Functions()
	facts.findCalls()
	for _, f := range fns {
		facts.states[f] = facts.solve(f)
	}
	for range entryRounds {
		changed := false
		for _, f := range fns {
			held := facts.heldByCallers(f)
			if len(held) != len(facts.entry[f]) {
				facts.entry[f], changed = held, true
			}
		}
		if !changed {
			break
		}
		for _, f := range fns {
			if len(facts.entry[f]) > 0 {
				facts.states[f] = facts.solve(f)
			}
		}
	}
	return facts
}

func (facts *Facts) findCalls() {
	for _, p := range facts.Module.Packages {
		for _, file := range p.Files {
			called := map[*ast.Ident]bool{}
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					facts.addCall(file, n, called)
				case *ast.Ident:
					if f, ok := file.Package.Info.Uses[n].(*types.Func); ok && !called[n] {
						facts.Values[f.Origin().FullName()] = true
					}
				case *ast.InterfaceType:
					for _, field := range n.Methods.List {
						for _, name := range field.Names {
							facts.ifaces[name.Name] = true
						}
					}
				}
				return true
			})
		}
	}
}

func (facts *Facts) addCall(file *source.File, call *ast.CallExpr, called map[*ast.Ident]bool) {
	callee := file.Callee(call)
	if callee == nil {
		return
	}
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		called[fun] = true
	case *ast.SelectorExpr:
		called[fun.Sel] = true
	case *ast.IndexExpr, *ast.IndexListExpr: // explicit instantiation: leave it a value
	}
	site := CallSite{In: file.FunctionOf(call), Call: call}
	switch file.Parents[call].(type) {
	case *ast.GoStmt:
		site.kind = token.GO
	case *ast.DeferStmt:
		site.kind = token.DEFER
	}
	name := callee.Object.FullName()
	facts.Calls[name] = append(facts.Calls[name], site)
}

// heldByCallers is what is held at every call of f, in f's own terms.
func (facts *Facts) heldByCallers(f *source.Function) Holds {
	if f.Object == nil {
		return facts.heldByUser(f)
	}
	name := f.Object.FullName()
	sites := withoutTests(facts.Calls[name])
	if f.Object.Exported() || len(sites) == 0 || facts.Values[name] || f.Recv != nil && facts.ifaces[f.Object.Name()] {
		return nil
	}
	var common Holds
	for i, site := range sites {
		if site.In == nil || site.kind != token.ILLEGAL {
			return nil
		}
		held := facts.translate(f, site)
		if i == 0 {
			common = held
		} else {
			common = intersect(common, held)
		}
	}
	return common
}

// withoutTests leaves out calls by tests, which often call an unexported
// function alone and without its lock; unless only tests call it.
func withoutTests(sites []CallSite) []CallSite {
	var out []CallSite
	for _, s := range sites {
		if s.In == nil || !s.In.File.Test {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return sites
	}
	return out
}

// heldByUser is what is held when a function literal runs that is called on
// the spot, or handed to a function that certainly calls it before it returns.
func (facts *Facts) heldByUser(f *source.Function) Holds {
	if call := f.File.RunsAt(f); call != nil && f.Outer != nil {
		return facts.At(f.Outer, call).Must
	}
	return nil
}

// translate returns the locks held at a call with the callee's parameters in
// place of the arguments.
func (facts *Facts) translate(f *source.Function, site CallSite) Holds {
	out := Holds{}
	args, params := f.Arguments(site.Call), f.Params()
	for key, h := range facts.At(site.In, site.Call).Must {
		if !strings.Contains(key, "@") {
			out[key] = h // rooted at a package variable
			continue
		}
		for i, arg := range args {
			if params[i] == nil {
				continue
			}
			p, ok := site.In.File.PathOf(arg)
			if rest, found := strings.CutPrefix(key, p.Key); ok && found && (rest == "" || rest[0] == '.') {
				out[source.ObjectKey(facts.Module, params[i])+rest] = h
			}
		}
	}
	return out
}

// At returns what is held when n, somewhere in f, is evaluated.
func (facts *Facts) At(f *source.Function, n ast.Node) State {
	var best ast.Node
	for node := range facts.states[f] {
		if node.Pos() <= n.Pos() && n.End() <= node.End() && (best == nil || node.End()-node.Pos() < best.End()-best.Pos()) {
			best = node
		}
	}
	if best == nil {
		return State{facts.entry[f], facts.entry[f]}
	}
	return facts.states[f][best]
}

// solve runs the data flow of f: locks held before each node.
func (facts *Facts) solve(f *source.Function) map[ast.Node]State {
	g := facts.graphs[f]
	if g == nil {
		g = cfg.New(f.Body, func(call *ast.CallExpr) bool { return !source.IsBuiltin(f.File, call, "panic") })
		facts.graphs[f] = g
	}
	in := make(map[*cfg.Block]State)
	before := map[ast.Node]State{}
	start := State{maps.Clone(facts.entry[f]), maps.Clone(facts.entry[f])}
	if start.Must == nil {
		start = State{Holds{}, Holds{}}
	}
	if len(g.Blocks) == 0 {
		return before
	}
	in[g.Blocks[0]] = start
	work := []*cfg.Block{g.Blocks[0]}
	for len(work) > 0 {
		b := work[0]
		work = work[1:]
		s := in[b].clone()
		for _, n := range b.Nodes {
			before[n] = s.clone()
			transfer(f.File, n, &s)
		}
		for _, succ := range b.Succs {
			old, seen := in[succ]
			joined := s.clone()
			if seen {
				joined = join(old, s)
			}
			if !seen || !equalState(old, joined) {
				in[succ] = joined
				work = append(work, succ)
			}
		}
	}
	return before
}

// transfer applies the lock operations that n performs. Deferred ones happen
// at the end of the function, so they change nothing here.
func transfer(file *source.File, n ast.Node, s *State) {
	ast.Inspect(n, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
			return false
		case *ast.CallExpr:
			op, ok := file.LockOp(x)
			if !ok {
				return true
			}
			h := Hold{op.Path.Class, op.Read}
			if op.Acquire {
				s.May[op.Path.Key] = h
				if !op.Try {
					s.Must[op.Path.Key] = h
				}
			} else {
				delete(s.Must, op.Path.Key)
				delete(s.May, op.Path.Key)
			}
		}
		return true
	})
}

func join(a, b State) State {
	out := State{intersect(a.Must, b.Must), maps.Clone(a.May)}
	maps.Copy(out.May, b.May)
	return out
}

func intersect(a, b Holds) Holds {
	out := Holds{}
	for k, h := range a {
		if o, ok := b[k]; ok {
			h.Read = h.Read || o.Read
			out[k] = h
		}
	}
	return out
}

func equalState(a, b State) bool { return maps.Equal(a.Must, b.Must) && maps.Equal(a.May, b.May) }

// Classes returns the lock classes of a set of held locks.
func Classes(h Holds) map[string]bool {
	out := map[string]bool{}
	for _, x := range h {
		out[x.Class] = true
	}
	return out
}
