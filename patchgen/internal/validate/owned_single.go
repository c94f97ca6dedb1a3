package validate

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// isSingle reports whether a program has one object of a struct type: one place makes it, and runs once. Then the lock
// of the object is as good as one of the package.
func (s *state) isSingle(h home) bool {
	p := s.Package(h.pkg)
	if p == nil || token.IsExported(h.name) && p.Types.Name() != "main" {
		return false // code outside of the module may make others
	}
	made := s.makings(h, s.Packages)
	return len(made) == 1 && made[0].isOnce(0)
}

// madeTwice lists the places that make an object of a struct type, where two of them are known to be there in one
// program or test.
func (s *state) madeTwice(h home) (places []string) {
	packages := slices.Clone(s.Packages)
	for _, path := range []string{h.pkg, h.pkg + "_test"} {
		if p := s.Tests(path); p != nil {
			packages = append(slices.DeleteFunc(packages, func(q *session.Package) bool { return q.Path == path }), p)
		}
	}
	byFunction := map[string]int{} // of tests; the rest of the module is one program
	for _, m := range s.makings(h, packages) {
		for _, place := range m.calls() {
			key := ""
			if place.fn != nil && place.pkg.IR.InTest(place.fn) {
				key = declared(place.pkg, place.fn)
			}
			byFunction[key]++
			if place.instr != nil && callgraph.InLoop(place.instr.Block()) {
				byFunction[key]++
			}
			places = append(places, place.String())
		}
	}
	for _, n := range byFunction {
		if n > 1 {
			slices.Sort(places)
			return slices.Compact(places)
		}
	}
	return nil
}

// maken is a place that makes an object: an instruction of a function, or the declaration of a package variable.
type maken struct {
	pkg   *session.Package
	fn    *ssa.Function
	instr ssa.Instruction
	where token.Pos
}

// String returns file:line.
func (m maken) String() string {
	if m.instr != nil {
		return at(m.pkg, m.instr)
	}
	return placeOf(m.pkg, m.where)
}

// makings lists the places in some packages that make a struct of a type, or another that holds one in place.
func (s *state) makings(h home, packages []*session.Package) (list []maken) {
	for _, p := range packages {
		for _, member := range p.IR.Pkg.Members {
			if g, ok := member.(*ssa.Global); ok && h.isIn(ir.Pointee(g.Type())) {
				list = append(list, maken{pkg: p, where: g.Pos()})
			}
		}
		for _, fn := range functionsOf(p) {
			for instr := range ir.Instructions(fn) {
				if h.isMadeBy(instr) {
					list = append(list, maken{p, fn, instr, instr.Pos()})
				}
			}
		}
	}
	return list
}

// isMadeBy reports whether an instruction makes a struct of the type, or a list of them.
func (h home) isMadeBy(instr ssa.Instruction) bool {
	switch x := instr.(type) {
	case *ssa.Alloc:
		isLiteral := !x.Heap && x.Comment == "complit" // which is copied to where it belongs
		return h.isIn(ir.Pointee(x.Type())) && !isLiteral
	case *ssa.MakeSlice:
		return h.isElement(x.Type())
	case *ssa.MakeMap:
		return h.isElement(x.Type())
	}
	return false
}

// isOnce reports whether a program comes to the place once.
func (m maken) isOnce(depth int) bool {
	switch {
	case m.instr == nil:
		return true
	case depth > maxLevel || callgraph.InLoop(m.instr.Block()) || m.fn.Parent() != nil:
		return false
	case m.fn.Name() == "init" || m.fn.Name() == "main" && m.pkg.Types.Name() == "main":
		return true
	}
	sites, all := callsOf(m.pkg, m.pkg.Calls, m.fn)
	return all && len(sites) == 1 && maken{m.pkg, sites[0].Caller, sites[0].Instr, sites[0].Instr.Pos()}.isOnce(depth+1)
}

// calls lists the calls of a constructor, tests included; another place is its own.
func (m maken) calls() (list []maken) {
	if m.fn != nil {
		sites, _ := callsOf(m.pkg, m.pkg.Calls.WithTests(), m.fn)
		for _, site := range sites {
			list = append(list, maken{m.pkg, site.Caller, site.Instr, site.Instr.Pos()})
		}
	}
	if len(list) == 0 {
		list = append(list, m)
	}
	return list
}

// functionsOf lists the functions of a package, with that which initialises its variables.
func functionsOf(p *session.Package) []*ssa.Function {
	return append(slices.Clip(p.IR.Funcs), p.IR.Pkg.Func("init"))
}

// callsOf lists the calls of a function, with those that initialise package variables, and reports whether there are
// some and these are all.
func callsOf(p *session.Package, graph *callgraph.Graph, fn *ssa.Function) (sites []callgraph.Site, all bool) {
	sites, all = slices.Clip(graph.Sites(fn)), graph.Closed(fn)
	start := p.IR.Pkg.Func("init")
	for instr := range ir.Instructions(start) {
		call, isCall := instr.(*ssa.Call)
		isCall = isCall && ir.Origin(call.Call.StaticCallee()) == fn
		switch {
		case isCall:
			sites = append(sites, callgraph.Site{Instr: call, Caller: start, Callee: fn, Args: call.Call.Args})
		case slices.ContainsFunc(instr.Operands(nil), func(op *ssa.Value) bool { return *op == ssa.Value(fn) }):
			all = false // as a value
		}
	}
	return sites, all && len(sites) > 0
}
