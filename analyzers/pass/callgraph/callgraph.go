package callgraph

import (
	"go/token"
	"go/types"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Analyzer builds the [Graph] of a package.
var Analyzer = &analysis.Analyzer{
	Name:       "interlockcallgraph",
	Doc:        "find who calls each function of a package, and in which goroutines it runs",
	Run:        run,
	Requires:   []*analysis.Analyzer{ir.Analyzer},
	FactTypes:  []analysis.Fact{new(FuncParams)},
	ResultType: reflect.TypeFor[*Graph](),
}

// Mode is how a call runs: at once, when the caller returns, or in a goroutine of its own.
type Mode int

const (
	Call Mode = iota
	Defer
	Go
)

// Site is one place that calls Callee, as far as it could be followed.
type Site struct {
	Instr  ssa.CallInstruction
	Caller *ssa.Function
	Callee *ssa.Function
	Mode   Mode
	// Args are the values of Callee's parameters; nil if somebody else supplies them.
	Args []ssa.Value
	// Through is the function, of any package, that Instr hands Callee to
	// and that calls it as its parameter Param; nil for direct calls and
	// for functions known by table.
	Through *ssa.Function
	Param   int
}

// Graph knows the callers of each function. It is read-only once built.
type Graph struct {
	prog    *ir.Program
	pass    *analysis.Pass
	sites   map[*ssa.Function][]Site
	at      map[ssa.CallInstruction][]Site
	escapes map[*ssa.Function]bool
	open    map[*ssa.Function]bool
	hidden  map[*ssa.Function]bool // exported methods of types that other packages have no value of
	unseen  map[*ssa.Function]bool
	roles   map[*ssa.Function]*Roles
	params  map[paramKey]*use
	summing map[*ssa.MakeClosure]bool  // their uses are being summed up
	methods map[string][]*ssa.Function // unexported methods by name
	bottom  []*ssa.Function            // callees first
	fits    map[fit]bool               // whether the type implements the interface

	tests     bool // calls in tests count
	withTests *Graph
}

func run(pass *analysis.Pass) (any, error) {
	prog := pass.ResultOf[ir.Analyzer].(*ir.Program)
	g := newGraph(pass, prog, false)
	g.withTests = g
	if slices.ContainsFunc(prog.Funcs, prog.InTest) {
		g.withTests = newGraph(pass, prog, true)
	}
	prog.Analyse(pass, g.exportParams)
	return g, nil
}

func newGraph(pass *analysis.Pass, prog *ir.Program, tests bool) *Graph {
	g := &Graph{
		prog:    prog,
		pass:    pass,
		tests:   tests,
		sites:   map[*ssa.Function][]Site{},
		at:      map[ssa.CallInstruction][]Site{},
		escapes: map[*ssa.Function]bool{},
		open:    map[*ssa.Function]bool{},
		hidden:  map[*ssa.Function]bool{},
		unseen:  map[*ssa.Function]bool{},
		roles:   map[*ssa.Function]*Roles{},
		params:  map[paramKey]*use{},
		summing: map[*ssa.MakeClosure]bool{},
		methods: map[string][]*ssa.Function{},
		fits:    map[fit]bool{},
	}
	prog.Analyse(pass, func() {
		g.indexMethods()
		g.findOpen()
		for _, f := range prog.Funcs {
			g.scanCalls(f)
		}
		g.openUncalled()
		g.bottom = g.calleesFirst()
		g.spreadRoles()
	})
	return g
}

// WithTests returns the graph in which calls in tests count like any others: for
// callers that need a proof, and do not ask for the usual calls of users.
func (g *Graph) WithTests() *Graph { return g.withTests }

// Sites lists the calls of f outside of tests.
func (g *Graph) Sites(f *ssa.Function) []Site { return g.sites[f] }

// At lists the calls that one instruction makes, outside of tests.
func (g *Graph) At(call ssa.CallInstruction) []Site { return g.at[call] }

// Open reports whether code outside of the package may call f in any state.
func (g *Graph) Open(f *ssa.Function) bool { return g.open[f] }

// Unseen reports whether f is open, but nothing shows that it is ever called: an exported method of an unexported
// type that is unused, unlike others of the type, or that package fmt alone may call.
func (g *Graph) Unseen(f *ssa.Function) bool { return g.unseen[f] }

// Escapes reports whether f is used in a way that could not be followed.
func (g *Graph) Escapes(f *ssa.Function) bool { return g.escapes[f] }

// Closed reports whether Sites lists every call of f.
func (g *Graph) Closed(f *ssa.Function) bool { return !g.open[f] && !g.escapes[f] }

func (g *Graph) indexMethods() {
	for _, f := range g.prog.Funcs {
		if f.Signature.Recv() != nil && !token.IsExported(f.Name()) {
			g.methods[f.Name()] = append(g.methods[f.Name()], f)
		}
	}
}

// findOpen marks the functions that other packages may call: exported functions and
// methods, but not those of an unexported type of which no value leaves the package. Nobody imports a
// test. Of a command nobody imports anything, so there it is only the methods of types that are turned
// into interfaces.
func (g *Graph) findOpen() {
	command := g.prog.Pkg.Pkg.Name() == "main"
	boxed := g.boxedTypes()
	var reachable map[*types.TypeName]bool
	if !command {
		reachable = g.reachableTypes()
	}
	for _, f := range g.prog.Funcs {
		if f.Parent() != nil || !token.IsExported(f.Name()) || g.prog.InTestFile(f) {
			continue
		}
		if isCallback(f) {
			g.escapes[f] = true
			continue
		}
		name := receiverName(f)
		if !command && name != nil && !name.Exported() && !reachable[name] && !boxed[name] {
			g.hidden[f] = true
			continue
		}
		g.open[f] = !command || boxed[name]
	}
}

// openUncalled marks the exported methods that nothing calls, as they may be called in a way that was
// not seen, and those that only go statements run: their object is shared from the start.
func (g *Graph) openUncalled() {
	used := g.usedTypes()
	for f := range g.hidden {
		if !slices.ContainsFunc(g.sites[f], func(s Site) bool { return s.Mode != Go }) {
			g.open[f] = true
			g.unseen[f] = len(g.sites[f]) == 0 && used[receiverName(f)]
		}
	}
	for f := range g.open {
		name := receiverName(f)
		if used[name] && !name.Exported() && knowledge.CalledToPrint(f.Name()) && len(g.sites[f]) == 0 {
			g.unseen[f] = true
		}
	}
}

// usedTypes lists the types of which something else than their own methods calls a method.
func (g *Graph) usedTypes() map[*types.TypeName]bool {
	used := map[*types.TypeName]bool{}
	for f, sites := range g.sites {
		name := receiverName(f)
		byOthers := func(s Site) bool { return receiverName(ir.Outermost(s.Caller)) != name }
		if name != nil && slices.ContainsFunc(sites, byOthers) {
			used[name] = true
		}
	}
	return used
}

// reachableTypes lists the unexported types of which other packages may have a value, other than in an
// interface: those in the exported parts of the package, and embedded ones.
func (g *Graph) reachableTypes() map[*types.TypeName]bool {
	r := reach{own: g.prog.Pkg.Pkg, names: map[*types.TypeName]bool{}}
	scope := r.own.Scope()
	for _, name := range scope.Names() {
		if obj := scope.Lookup(name); obj.Exported() {
			r.object(obj)
		}
	}
	return r.names
}

// reach follows types from exported names.
type reach struct {
	own   *types.Package
	names map[*types.TypeName]bool
}

func (r *reach) object(obj types.Object) {
	if name, ok := obj.(*types.TypeName); ok {
		r.addNamedType(name)
		return
	}
	r.addType(obj.Type())
}

// addNamedType adds a type, with the types that its exported fields and methods lead to.
func (r *reach) addNamedType(name *types.TypeName) {
	if name.Pkg() != r.own || r.names[name] {
		return
	}
	r.names[name] = true
	r.addType(name.Type().Underlying())
	if n, ok := types.Unalias(name.Type()).(*types.Named); ok {
		for m := range n.Methods() {
			if m.Exported() {
				r.addType(m.Type())
			}
		}
	}
}

// addType adds the types that t is made of.
func (r *reach) addType(t types.Type) {
	// An interface has no value of an unexported type that was not turned into it.
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		r.addNamedType(t.Origin().Obj())
		for arg := range t.TypeArgs().Types() {
			r.addType(arg)
		}
	case *types.Map:
		r.addType(t.Key())
		r.addType(t.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		r.addType(t.Elem())
	case *types.Signature:
		r.addType(t.Params())
		r.addType(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			r.addType(v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() {
				r.addType(f.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			r.addType(m.Type())
		}
	}
}

// isCallback reports whether f is a method of sort.Interface or heap.Interface,
// exported for these packages to call, under the locks of their callers.
func isCallback(f *ssa.Function) bool {
	recv := f.Signature.Recv()
	if recv == nil {
		return false
	}
	switch f.Name() {
	case "Len", "Less", "Swap", "Push", "Pop":
	default:
		return false
	}
	ms := types.NewMethodSet(recv.Type())
	return ms.Lookup(nil, "Len") != nil && ms.Lookup(nil, "Less") != nil && ms.Lookup(nil, "Swap") != nil
}

func (g *Graph) boxedTypes() map[*types.TypeName]bool {
	boxed := map[*types.TypeName]bool{}
	for _, f := range g.prog.Funcs {
		for instr := range ir.Instructions(f) {
			if mk, ok := instr.(*ssa.MakeInterface); ok {
				if name := typeName(mk.X.Type()); name != nil {
					boxed[name] = true
				}
			}
		}
	}
	return boxed
}

func receiverName(f *ssa.Function) *types.TypeName {
	if recv := f.Signature.Recv(); recv != nil {
		return typeName(recv.Type())
	}
	return nil
}

// typeName returns the declared name of t or of its element if t is a pointer, of its
// generic origin; nil for unnamed types.
func typeName(t types.Type) *types.TypeName {
	if n, ok := ir.Named(t); ok {
		return n.Origin().Obj()
	}
	return nil
}

// scanCalls records the calls that f makes and the functions that it uses as values.
func (g *Graph) scanCalls(f *ssa.Function) {
	if g.prog.InTest(f) && !g.tests {
		return
	}
	var buf [16]*ssa.Value
	for instr := range ir.Instructions(f) {
		call, isCall := instr.(ssa.CallInstruction)
		if isCall {
			g.addCall(f, call)
		}
		for i, op := range instr.Operands(buf[:0]) {
			fn, ok := (*op).(*ssa.Function)
			if !ok || isCall && i == 0 && !call.Common().IsInvoke() {
				continue
			}
			if mk, ok := instr.(*ssa.MakeClosure); ok && i == 0 {
				g.addUses(f, mk)
				continue
			}
			g.addValue(f, fn, nil, instr)
		}
	}
}

// addCall records a direct call and one through an interface that names an
// unexported method, which only this package can implement.
func (g *Graph) addCall(caller *ssa.Function, call ssa.CallInstruction) {
	common := call.Common()
	site := Site{Instr: call, Caller: caller, Mode: modeOf(call)}
	if !common.IsInvoke() {
		if fn, args := Target(common); fn != nil {
			site.Callee, site.Args = fn, args
			g.recordOnce(site)
		}
		return
	}
	iface, ok := common.Value.Type().Underlying().(*types.Interface)
	if !ok {
		return
	}
	for _, m := range g.methods[common.Method.Name()] {
		if g.implements(m.Signature.Recv().Type(), iface) {
			site.Callee, site.Args = m, append([]ssa.Value{common.Value}, common.Args...)
			g.addSite(site)
		}
	}
}

type fit struct {
	name    *types.TypeName
	pointer bool
	iface   *types.Interface
}

// implements is [types.Implements] of the type of a receiver, asked once for a
// type and an interface: that goes through all methods.
func (g *Graph) implements(t types.Type, iface *types.Interface) bool {
	_, pointer := types.Unalias(t).(*types.Pointer)
	key := fit{typeName(t), pointer, iface}
	ok, known := g.fits[key]
	if !known {
		ok = types.Implements(t, iface)
		g.fits[key] = ok
	}
	return ok
}

func (g *Graph) addSite(s Site) {
	g.sites[s.Callee] = append(g.sites[s.Callee], s)
	g.at[s.Instr] = append(g.at[s.Instr], s)
}

func modeOf(call ssa.CallInstruction) Mode {
	switch call.(type) {
	case *ssa.Go:
		return Go
	case *ssa.Defer:
		return Defer
	}
	return Call
}

// Target returns the function that a call statically runs, its generic origin,
// with the values of its parameters; for a bound method x.M called as a value
// that is the method and x. Nil for dynamic calls and builtins.
func Target(common *ssa.CallCommon) (*ssa.Function, []ssa.Value) {
	fn := common.StaticCallee()
	if fn == nil {
		return nil, nil
	}
	if method, recv := boundMethod(common.Value); method != nil {
		return method, append([]ssa.Value{recv}, common.Args...)
	}
	return ir.Origin(fn), common.Args
}

// boundMethod returns the method and the receiver of a method value x.M.
func boundMethod(v ssa.Value) (*ssa.Function, ssa.Value) {
	mk, ok := v.(*ssa.MakeClosure)
	if !ok || len(mk.Bindings) != 1 {
		return nil, nil
	}
	fn := mk.Fn.(*ssa.Function)
	obj, ok := fn.Object().(*types.Func)
	if fn.Synthetic == "" || fn.Parent() != nil || !ok {
		return nil, nil
	}
	method := fn.Prog.FuncValue(obj.Origin())
	if method == nil { // of an interface
		return nil, nil
	}
	return method, mk.Bindings[0]
}
