package callgraph

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// found are the functions that a library finds in the values that it is handed, and the objects of libraries, by their
// types.
type found struct {
	back      *back
	asker     asker
	keeping   bool // for later calls of an object
	functions map[*ssa.Function]bool
	objects   map[string]bool
	values    map[ssa.Value]bool  // followed already
	boxes     map[types.Type]bool // see boxed
}

func (b *back) search() *found {
	return &found{back: b, functions: map[*ssa.Function]bool{}, objects: map[string]bool{}, values: map[ssa.Value]bool{},
		boxes: map[types.Type]bool{}}
}

// asker is a library that calls the methods of a value, with those that the type of its parameter names.
type asker struct {
	path   string
	any    bool // it may call any exported method, by its name
	starts bool // another goroutine calls the functions
	names  string
}

// askerFor returns the asker for a parameter, field or element of a library.
func (b *back) askerFor(pkg *types.Package, t types.Type) asker {
	return asker{path: pkg.Path(), names: methodNames(t) + b.interfacesOf(pkg)}
}

// interfacesOf names the methods of all interfaces that a package of another module declares: it may look for any of
// them.
func (b *back) interfacesOf(pkg *types.Package) (names string) {
	if !isForeign(pkg.Path()) {
		return ""
	}
	names, known := b.foreign[pkg.Path()]
	if !known {
		for _, name := range pkg.Scope().Names() {
			if tn, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && types.IsInterface(tn.Type()) {
				names += methodNames(tn.Type())
			}
		}
		b.foreign[pkg.Path()] = names
	}
	return names
}

// methodNames names the methods of the interfaces in a type; of a type parameter those of its constraint. Functions
// that take an error seldom ask for its text: the table lists them.
func methodNames(t types.Type) (names string) {
	seen := map[types.Type]bool{}
	var visit func(types.Type)
	visit = func(t types.Type) {
		if t = types.Unalias(t); seen[t] || t == types.Universe.Lookup("error").Type() {
			return
		}
		seen[t] = true
		switch u := t.Underlying().(type) {
		case *types.Interface:
			for m := range u.Methods() {
				names += " " + m.Name() + " "
			}
		case *types.Map:
			visit(u.Key())
			visit(u.Elem())
		case interface{ Elem() types.Type }:
			visit(u.Elem())
		}
	}
	visit(t)
	return names
}

// calls reports whether the asker may call a method by a name.
func (a asker) calls(name string, method *ssa.Function) bool {
	if a.any && token.IsExported(name) || strings.Contains(a.names, " "+name+" ") {
		return true
	}
	m := ir.Declared(method)
	return knowledge.Asks(a.path, name) && (m == nil || knowledge.HasAskedShape(m))
}

// callsNone reports whether the asker calls no method of any value.
func (a asker) callsNone() bool { return !a.any && a.names == "" && knowledge.AsksNothing(a.path) }

func (f *found) add(list ...*ssa.Function) {
	for _, fn := range list {
		f.functions[fn] = true
	}
}

// sorted returns the functions by their names, so that reasons name the same one each time.
func (f *found) sorted() []*ssa.Function {
	var list []*ssa.Function
	for fn := range f.functions {
		list = append(list, fn)
	}
	slices.SortFunc(list, func(a, b *ssa.Function) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// library adds the functions to which a call of a library leads back.
func (f *found) library(fn *ssa.Function, args []ssa.Value) {
	obj := ir.Declared(fn)
	if obj == nil || obj.Pkg() == nil {
		return
	}
	if global := f.back.global[obj.Pkg().Path()]; global != nil {
		f.add(global.sorted()...)
		for name := range global.objects {
			f.objects[name] = true
		}
	}
	if recv := fn.Signature.Recv(); recv != nil && len(args) > 0 {
		args = args[1:]
		// To register a function calls none, and what keeps values as they are neither.
		named, ok := ir.Named(recv.Type())
		if ok && f.back.holds(named) && !knowledge.CallsNoMethod(obj) && !StartsCallback(obj) {
			f.objects[objectName(named)] = true
		}
	}
	f.ask(obj, fn.Signature.Params(), args)
}

// ask adds the functions of the arguments that a library may call.
func (f *found) ask(obj *types.Func, params *types.Tuple, args []ssa.Value) {
	for i, a := range Spread(args) {
		if params.Len() == 0 {
			return
		}
		f.asker = f.back.askerFor(obj.Pkg(), params.At(min(i, params.Len()-1)).Type())
		f.asker.any = f.asker.any || knowledge.CallsByName(obj)
		f.asker.starts = StartsCallback(obj) && !(f.keeping && !knowledge.StartsAtOnce(obj))
		if _, isFunc := a.Type().Underlying().(*types.Signature); isFunc || !knowledge.CallsNoMethod(obj) {
			f.value(a)
		}
	}
}

// value adds the functions of a value that the asker may call.
func (f *found) value(v ssa.Value) {
	if v == nil || f.values[v] {
		return
	}
	f.values[v] = true
	switch v := v.(type) {
	case *ssa.Const: // nil, or a value without methods
	case *ssa.MakeClosure, *ssa.Function:
		f.function(v)
	case *ssa.MakeInterface:
		if _, isFunc := v.X.Type().Underlying().(*types.Signature); isFunc {
			f.value(v.X)
		}
		f.boxed(v.X.Type())
	case *ssa.Slice:
		f.elements(v)
	case *ssa.UnOp:
		f.loaded(v)
	case *ssa.Parameter:
		f.parameter(v)
	default:
		f.passedOn(v)
	}
}

// passedOn adds those of a value that is another one as it was, or of its type.
func (f *found) passedOn(v ssa.Value) {
	switch v := v.(type) {
	case *ssa.ChangeInterface:
		f.value(v.X)
	case *ssa.ChangeType:
		f.value(v.X)
	case *ssa.FreeVar:
		f.value(accesspath.Binding(v))
	case *ssa.Phi:
		for _, from := range v.Edges {
			f.value(from)
		}
	default:
		f.typed(v.Type())
	}
}

// function adds a function that is a value, or a method with its object.
func (f *found) function(v ssa.Value) {
	fn, ok := v.(*ssa.Function)
	if made, isMade := v.(*ssa.MakeClosure); !ok && isMade {
		fn = made.Fn.(*ssa.Function)
		for _, bound := range made.Bindings {
			if fn.Synthetic != "" { // out.Flush, of a library's object
				f.typed(bound.Type())
			}
		}
	}
	obj := ir.Declared(fn)
	switch {
	case f.asker.starts:
	case obj != nil && isOfInterface(obj): // ctx.Done
		f.add(lookUp(f.back.methods, obj.Name(), obj.Signature())...)
	case f.back.Body(fn) != nil:
		f.add(f.back.Body(fn))
	}
}

func isOfInterface(m *types.Func) bool {
	recv := m.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

// elements adds those of a slice that is made on the spot, as for a variadic call.
func (f *found) elements(v *ssa.Slice) {
	spread := Spread([]ssa.Value{v})
	if len(spread) == 1 {
		f.typed(v.Type())
	}
	for _, element := range spread[1:] {
		f.value(element)
	}
}

// loaded adds those of the values that a local variable may hold; for other memory those that fit its type.
func (f *found) loaded(v *ssa.UnOp) {
	addr := v.X
	for {
		captured, ok := addr.(*ssa.FreeVar)
		if !ok {
			break
		}
		addr = accesspath.Binding(captured)
	}
	cell, ok := addr.(*ssa.Alloc)
	if !ok || v.Op != token.MUL {
		f.typed(v.Type())
		return
	}
	for _, stored := range accesspath.Stored(cell) {
		if stored == cell {
			f.typed(v.Type())
		} else {
			f.value(stored)
		}
	}
}

// parameter adds those of the values that its callers hand to a function, if all of them are known.
func (f *found) parameter(v *ssa.Parameter) {
	fn := v.Parent()
	g := f.back.graphs[fn.Prog]
	i := slices.Index(fn.Params, v)
	if g == nil || !g.Closed(fn) || i < 0 || len(g.Sites(fn)) == 0 {
		f.typed(v.Type())
		return
	}
	for _, site := range g.Sites(fn) {
		if i < len(site.Args) {
			f.value(site.Args[i])
		} else {
			f.typed(v.Type())
		}
	}
}

// typed adds all that a value of type t may be, or holds.
func (f *found) typed(t types.Type) {
	t = types.Unalias(t)
	if named, ok := t.(*types.Named); ok && f.back.isLibrary(named.Obj()) {
		if f.back.holds(named) && !f.asker.callsNone() {
			f.objects[objectName(named)] = true
		}
		switch named.Underlying().(type) {
		case *types.Interface, *types.Signature:
		default:
			return
		}
	} else if ok && f.asker.any && !types.IsInterface(t) {
		f.boxed(t)
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Interface:
		if _, isParam := t.(*types.TypeParam); isParam {
			u = types.NewInterfaceType(nil, nil)
		}
		f.add(f.back.candidates(u, f.asker)...)
	case *types.Signature:
		if !f.asker.starts {
			f.add(lookUp(f.back.values, "", u)...)
		}
	case *types.Map:
		f.typed(u.Key())
		f.typed(u.Elem())
	case *types.Pointer, *types.Slice, *types.Array:
		// The elements of a type that contains itself are its own.
		if !f.boxes[t] {
			f.boxes[t] = true
			f.typed(u.(interface{ Elem() types.Type }).Elem())
		}
	}
}

// boxed adds the methods of a type that the asker may look for, and those of the values that it finds in one of the
// type.
func (f *found) boxed(t types.Type) {
	t = types.Unalias(t)
	if f.boxes[t] {
		return
	}
	f.boxes[t] = true
	named, isNamed := t.(*types.Named)
	if isNamed && f.back.isLibrary(named.Obj()) || types.IsInterface(t) {
		f.typed(t)
		return
	}
	for name, fn := range f.back.methodsOf(t) {
		if !f.asker.calls(name, fn) {
			continue
		}
		f.add(fn)
		// err.Unwrap() is asked as err is, and the results of w.Write are not.
		if f.asker.any || knowledge.Asks(f.asker.path, name) {
			for result := range fn.Signature.Results().Variables() {
				f.boxed(result.Type())
			}
		}
	}
	f.parts(t)
}

// parts adds those of the parts of a value. Fields that are not exported are passed by, unless they are embedded:
// libraries call no methods of theirs.
func (f *found) parts(t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Signature:
		if f.asker.any {
			f.typed(u)
		}
	case *types.Struct:
		for field := range u.Fields() {
			if field.Exported() || field.Embedded() {
				f.boxed(field.Type())
			}
		}
	case *types.Map:
		f.boxed(u.Key())
		f.boxed(u.Elem())
	case *types.Pointer, *types.Slice, *types.Array:
		f.boxed(u.(interface{ Elem() types.Type }).Elem())
	}
}
