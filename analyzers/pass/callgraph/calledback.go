package callgraph

import (
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// back knows the ways by which libraries call the packages back. It is made on demand.
type back struct {
	*Conservative
	own      map[string]bool // the paths of the packages
	types    []ownType
	kept     map[string]*found          // by objects of a library's type
	global   map[string]*found          // by a library, by its path
	returned map[string][]*ssa.Function // called by functions that a library returned, by the signature
	fitting  map[string][]*ssa.Function // see candidates
	foreign  map[string]string          // see interfacesOf
	holding  map[types.Type]bool        // see holds
	calls    map[ssa.CallInstruction][]*ssa.Function
}

// CalledBack lists the functions of the packages that a library may call while a call of it runs, besides those of
// [Conservative.Runs]: methods of a value that came as an interface, of each type of the packages that fits; functions
// that came as a parameter or from a field; and all that the library's object was handed before.
//
//	errors.Is(err, target)	// err.Is, of each error of the packages
//	pool.Get()		// the New of each sync.Pool
//	next()			// the sequence that iter.Pull was handed
func (c *Conservative) CalledBack(call ssa.CallInstruction) []*ssa.Function {
	if c.back == nil {
		c.back = newBack(c)
	}
	list, known := c.back.calls[call]
	if !known {
		list = c.back.find(call)
		c.back.calls[call] = list
	}
	return list
}

func (b *back) find(call ssa.CallInstruction) []*ssa.Function {
	common := call.Common()
	f := b.search()
	fn, args := Target(common)
	switch {
	case common.IsInvoke():
		// w.ReadFrom(r), of an interface of a library that one of its own types may implement
		if pkg := common.Method.Pkg(); pkg != nil && !b.own[pkg.Path()] {
			f.ask(common.Method, common.Method.Signature().Params(), common.Args)
		}
	case isBuiltin(common):
	case fn == nil:
		if made := libraryCall(b.Conservative, common.Value); made != nil {
			of, args := Target(made)
			f.library(of, args)
		} else if sig, ok := common.Value.Type().Underlying().(*types.Signature); ok {
			f.add(lookUp(b.returned, "", sig)...)
		}
	case b.Body(fn) == nil && !returnsFunctions(common): // iter.Pull calls nothing, its results do
		f.library(fn, args)
	}
	b.follow(f)
	known := b.Runs(call)
	maps.DeleteFunc(f.functions, func(fn *ssa.Function, _ bool) bool { return slices.Contains(known, fn) })
	return f.sorted()
}

// returnsFunctions reports whether all results of a call are functions.
func returnsFunctions(call *ssa.CallCommon) bool {
	results := call.Signature().Results()
	for r := range results.Variables() {
		if _, ok := r.Type().Underlying().(*types.Signature); !ok {
			return false
		}
	}
	return results.Len() > 0
}

func isBuiltin(call *ssa.CallCommon) bool {
	_, ok := call.Value.(*ssa.Builtin)
	return ok
}

// libraryCall returns the call of a library that returned the function v; nil if it is another one.
func libraryCall(c *Conservative, v ssa.Value) *ssa.CallCommon {
	if result, ok := v.(*ssa.Extract); ok {
		v = result.Tuple
	}
	call, ok := v.(*ssa.Call)
	if !ok {
		return nil
	}
	if fn, _ := Target(call.Common()); fn == nil || c.Body(fn) != nil {
		return nil
	}
	return call.Common()
}

// follow adds all that the objects keep.
func (b *back) follow(f *found) {
	var work []string
	for name := range f.objects {
		work = append(work, name)
	}
	for ; len(work) > 0; work = work[1:] {
		kept := b.kept[work[0]]
		if kept == nil {
			continue
		}
		maps.Copy(f.functions, kept.functions)
		for name := range kept.objects {
			if !f.objects[name] {
				f.objects[name] = true
				work = append(work, name)
			}
		}
	}
}

func newBack(c *Conservative) *back {
	b := &back{Conservative: c, own: map[string]bool{}, kept: map[string]*found{}, global: map[string]*found{},
		returned: map[string][]*ssa.Function{}, fitting: map[string][]*ssa.Function{}, foreign: map[string]string{},
		holding: map[types.Type]bool{}, calls: map[ssa.CallInstruction][]*ssa.Function{}}
	var all []*ssa.Function
	for _, g := range c.graphs {
		b.own[g.prog.Pkg.Pkg.Path()] = true
		all = append(all, g.prog.Pkg.Func("init"))
		for _, fn := range g.prog.Funcs {
			if !g.prog.InTest(fn) {
				all = append(all, fn)
			}
		}
	}
	b.types = b.findTypes(all)
	for _, fn := range all {
		for instr := range ir.Instructions(fn) {
			b.keep(instr)
		}
	}
	return b
}

// keep notes the values that an instruction hands to a library for later.
func (b *back) keep(instr ssa.Instruction) {
	switch instr := instr.(type) {
	case ssa.CallInstruction:
		if fn, args := Target(instr.Common()); fn != nil && b.Body(fn) == nil {
			b.keepArguments(fn, args, instr.Common().Signature().Results())
		}
	case *ssa.Store:
		switch at := instr.Addr.(type) {
		case *ssa.FieldAddr: // pool.New = f
			b.keepIn(at.X.Type(), at.Type(), instr.Val)
		case *ssa.Global: // flag.Usage = f
			if path := at.Pkg.Pkg.Path(); !b.own[path] {
				f := b.search()
				f.asker = b.askerFor(at.Pkg.Pkg, at.Type())
				f.value(instr.Val)
				addTo(b.global, path, f)
			}
		}
	case *ssa.MapUpdate: // template.FuncMap{"n": f}
		if m, ok := instr.Map.Type().Underlying().(*types.Map); ok {
			b.keepIn(instr.Map.Type(), m.Elem(), instr.Value)
		}
	case *ssa.ChangeType: // template.FuncMap(m)
		switch instr.Type().Underlying().(type) {
		case *types.Map, *types.Slice:
			b.keepIn(instr.Type(), instr.Type(), instr.X)
		}
	}
}

// keepIn notes a value that is stored in an object of type t, as a field or an element of type as.
func (b *back) keepIn(t, as types.Type, v ssa.Value) {
	named, ok := ir.Named(t)
	if !ok || !b.isLibrary(named.Obj()) {
		return
	}
	f := b.search()
	f.asker = b.askerFor(named.Obj().Pkg(), as)
	f.value(v)
	addTo(b.kept, objectName(named), f)
}

// keepArguments notes the values that a call hands to a library: for the object of which it is a method, for those that
// it returns, for the functions that it returns, or else for the library.
func (b *back) keepArguments(fn *ssa.Function, args []ssa.Value, results *types.Tuple) {
	obj := ir.Declared(fn)
	if obj == nil || obj.Pkg() == nil || knowledge.CallsByName(obj) { // a page keeps none of the data that it shows
		return
	}
	f := b.search()
	f.keeping = fn.Signature.Recv() != nil // mux.HandleFunc
	f.library(fn, args)
	isKept := false
	if recv := obj.Signature().Recv(); recv != nil {
		isKept = true
		if keepsArguments(obj) && !knowledge.CallsNoMethod(obj) {
			b.keepFor(recv.Type(), f)
		}
	}
	for r := range results.Variables() {
		if sig, ok := r.Type().Underlying().(*types.Signature); ok {
			for _, key := range signatures(sig) {
				b.returned[key] = append(b.returned[key], f.sorted()...)
			}
			isKept = true
		} else if b.keepFor(r.Type(), f) {
			isKept = true
		}
	}
	if !isKept && keepsArguments(obj) && !knowledge.NeverWaits(obj) {
		addTo(b.global, obj.Pkg().Path(), f)
	}
}

// keepsArguments reports whether a function may keep its arguments. One that runs its callbacks has done with them when
// it returns.
func keepsArguments(fn *types.Func) bool {
	does, known := knowledge.CallbackOf(fn)
	return !knowledge.KeepsNothing(fn) && !(known && does == knowledge.Called)
}

// keepFor adds a result to those of the objects of a library's type t, if such an object may hold it.
func (b *back) keepFor(t types.Type, f *found) bool {
	named, ok := ir.Named(t)
	if !ok || !b.isLibrary(named.Obj()) || !b.holds(named) {
		return false
	}
	addTo(b.kept, objectName(named), f)
	return true
}

// addTo adds a result to an entry of a table.
func addTo(table map[string]*found, key string, f *found) {
	if len(f.functions)+len(f.objects) == 0 {
		return
	}
	if table[key] == nil {
		table[key] = &found{functions: map[*ssa.Function]bool{}, objects: map[string]bool{}}
	}
	maps.Copy(table[key].functions, f.functions)
	maps.Copy(table[key].objects, f.objects)
}

// objectName names the objects of a library's type.
func objectName(t *types.Named) string { return t.Obj().Pkg().Path() + "." + t.Obj().Name() }

// isLibrary reports whether a type is declared by a library.
func (b *back) isLibrary(t *types.TypeName) bool { return t.Pkg() != nil && !b.own[t.Pkg().Path()] }

// holds reports whether an object of type t may hold a function, or a value of any type: a sync.Pool may, a
// strings.Builder does not.
func (b *back) holds(t types.Type) bool {
	known, ok := b.holding[t]
	if !ok {
		known = holdsWithin(t, map[types.Type]bool{})
		b.holding[t] = known
	}
	return known
}

func holdsWithin(t types.Type, seen map[types.Type]bool) bool {
	if t = types.Unalias(t); seen[t] {
		return false
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Interface, *types.Signature:
		return true
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Struct:
		for field := range u.Fields() {
			if holdsWithin(field.Type(), seen) {
				return true
			}
		}
	case *types.Map:
		return holdsWithin(u.Key(), seen) || holdsWithin(u.Elem(), seen)
	case interface{ Elem() types.Type }: // a pointer, slice, array or channel
		return holdsWithin(u.Elem(), seen)
	}
	return false
}
