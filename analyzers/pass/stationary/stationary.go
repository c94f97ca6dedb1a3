package stationary

import (
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// Analyzer finds the stationary fields of a package.
var Analyzer = &analysis.Analyzer{
	Name:       "interlockstationary",
	Doc:        "find fields that are written only before their object is shared",
	Run:        run,
	Requires:   []*analysis.Analyzer{ir.Analyzer, ownership.Analyzer},
	ResultType: reflect.TypeFor[*Fields](),
}

// Fields is the stationary fields of a package. It is for one goroutine.
type Fields struct {
	pkg     *types.Package
	written map[*types.Var]bool // when shared, as far as known
	hidden  map[*types.Var]bool // accessed by code that does not name them, before they are shared or later
	open    map[*types.Var]bool // others may copy over the structs that hold them
	names   names
	usable  bool
}

// Has reports whether field f, of the generic origin, is stationary, whatever
// other packages do.
func (s *Fields) Has(f *types.Var) bool {
	return s.usable && f != nil && f.IsField() && !f.Exported() && f.Pkg() == s.pkg && !s.open[f] && !s.written[f]
}

// Named reports whether every access to field f, of the generic origin, selects
// it by its name: nobody takes its address, copies the struct that it is in, or
// comes to it by reflection.
func (s *Fields) Named(f *types.Var) bool {
	return s.usable && f != nil && f.IsField() && !f.Exported() && f.Pkg() == s.pkg && !s.open[f] && !s.hidden[f]
}

func run(pass *analysis.Pass) (any, error) {
	prog := pass.ResultOf[ir.Analyzer].(*ir.Program)
	s := &Fields{pkg: pass.Pkg, written: map[*types.Var]bool{}, hidden: map[*types.Var]bool{}, open: map[*types.Var]bool{},
		names: names{}}
	prog.Analyse(pass, func() {
		f := &finder{Fields: s, owner: pass.ResultOf[ownership.Analyzer].(*ownership.Result).Proven(),
			boxedTypes: map[types.Type]bool{}}
		f.openTypes()
		for _, fn := range prog.Funcs {
			f.function(fn)
		}
		f.function(prog.Pkg.Func("init"))
		s.usable = true
	})
	return s, nil
}

type finder struct {
	*Fields
	owner *ownership.Result
	// boxedTypes are those with exported fields that are marked, with all that
	// they lead to.
	boxedTypes map[types.Type]bool
}

// openTypes marks the fields of types that other packages may copy over.
func (f *finder) openTypes() {
	scope := f.pkg.Scope()
	for _, name := range scope.Names() {
		t, ok := scope.Lookup(name).(*types.TypeName)
		if ok && t.Exported() && !lockset.HoldsLock(t.Type()) {
			markIn(f.open, t.Type(), 0)
		}
	}
}

// markWhole notes that a value of type t may be written as a whole while shared.
func (f *finder) markWhole(t types.Type, depth int) {
	markIn(f.written, t, depth)
	markIn(f.hidden, t, depth)
}

func markIn(set map[*types.Var]bool, t types.Type, depth int) {
	if depth > 8 {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for field := range u.Fields() {
			set[field.Origin()] = true
			markIn(set, field.Type(), depth+1)
		}
	case *types.Array:
		markIn(set, u.Elem(), depth+1)
	}
}

func (f *finder) function(fn *ssa.Function) {
	for instr := range ir.Instructions(fn) {
		f.instruction(instr)
	}
}

func (f *finder) instruction(instr ssa.Instruction) {
	switch instr := instr.(type) {
	case *ssa.Store:
		f.markStored(instr)
	case *ssa.UnOp:
		markIn(f.hidden, instr.Type(), 0) // loads a struct
	case *ssa.FieldAddr:
		if addressTaken(instr) {
			markAround(f.written, instr)
			markAround(f.hidden, instr)
			f.markWhole(accesspath.FieldOf(instr).Type(), 0)
		}
	case *ssa.Convert:
		if b, ok := instr.Type().Underlying().(*types.Basic); ok && b.Kind() == types.UnsafePointer {
			f.markPointee(instr.X.Type())
		}
	case *ssa.MakeInterface:
		f.markBoxed(instr)
	case ssa.CallInstruction:
		f.markCall(instr)
	}
}

// markStored marks the fields that an assignment to a shared object writes.
func (f *finder) markStored(st *ssa.Store) {
	markIn(f.hidden, st.Val.Type(), 0)
	if f.owner.Of(st.Addr, st) == ownership.Fresh {
		return
	}
	markAround(f.written, st.Addr)
	f.markWhole(st.Val.Type(), 0)
}

// markAround marks the field at addr, and those that it is a part of.
func markAround(set map[*types.Var]bool, addr ssa.Value) {
	for ; addr != nil; addr = ir.Back(addr, ir.Field|ir.Element) {
		if field, ok := addr.(*ssa.FieldAddr); ok {
			set[accesspath.FieldOf(field)] = true
		}
	}
}

// addressTaken reports whether the address of a field is used for more than
// to load, to store, and to select within it.
func addressTaken(fa *ssa.FieldAddr) bool {
	for _, ref := range *fa.Referrers() {
		switch ref := ref.(type) {
		case *ssa.UnOp, *ssa.FieldAddr, *ssa.DebugRef:
		case *ssa.IndexAddr:
			if indexTaken(ref) {
				return true
			}
		case *ssa.Store:
			if ref.Val == fa {
				return true
			}
		case *ssa.Slice: // of an array: its elements are written elsewhere
			return true
		default:
			return true
		}
	}
	return false
}

// indexTaken is addressTaken for an element of an array.
func indexTaken(at *ssa.IndexAddr) bool {
	for _, ref := range *at.Referrers() {
		switch ref := ref.(type) {
		case *ssa.UnOp, *ssa.DebugRef, *ssa.FieldAddr:
		case *ssa.Store:
			if ref.Val == at {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// markCall marks the structs that a call may write as a whole.
func (f *finder) markCall(instr ssa.CallInstruction) {
	call := instr.Common()
	if b, ok := call.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "append", "copy", "clear":
			f.markPointee(call.Args[0].Type())
		}
		return
	}
	fn, args := callgraph.Target(call)
	if fn == nil {
		return
	}
	f.generic(instr, fn, args)
	if len(fn.Blocks) > 0 {
		return
	}
	own := fn.Pkg != nil && fn.Pkg.Pkg == f.pkg // in assembly
	for _, a := range args {
		if mk, ok := a.(*ssa.MakeInterface); ok {
			if overwrites(fn) && f.owner.Of(mk.X, instr) != ownership.Fresh {
				f.markPointee(mk.X.Type())
				f.reflected(mk.X.Type())
			}
			continue
		}
		if _, isSlice := a.Type().Underlying().(*types.Slice); isSlice || own {
			f.markPointee(a.Type())
		}
	}
}

// overwrites reports whether fn may write to the object that an interface leads to.
func overwrites(fn *ssa.Function) bool {
	path := ""
	if fn.Object() != nil && fn.Object().Pkg() != nil {
		path = fn.Object().Pkg().Path()
	}
	for _, name := range []string{"Unmarshal", "Decode", "Scan", "Bind", "Copy", "Parse"} {
		if strings.HasPrefix(fn.Name(), name) {
			return true
		}
	}
	return path == "reflect" || path == "sort" || path == "slices" || strings.HasPrefix(path, "encoding/")
}

// markPointee marks the fields that a pointer, slice or map of type t leads to.
func (f *finder) markPointee(t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		f.markWhole(u.Elem(), 0)
	case *types.Slice:
		f.markWhole(u.Elem(), 0)
	case *types.Map:
		f.markWhole(u.Elem(), 0)
	}
}
