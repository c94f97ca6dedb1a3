package pointsto

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// All that the analysis believes of particular functions is in this file. A
// model makes the answers sharper; without it a function is taken as its
// source has it, and one that has no source as one that does anything.

// model is the knowledge of a function besides its source.
type model struct {
	// ignored are parameters that the function neither keeps nor hands on,
	// and the objects of which it does not change; -1 stands for all.
	ignored []int
	// written are those with objects that it writes to, and that it does not
	// keep, if the caller itself puts them into an interface.
	written []int
	// read are those with objects that it reads.
	read []int
	// keepsNothing marks a function in assembly that only computes.
	keepsNothing bool
	// also is flow besides that of the function's source.
	also func(f *flows, call ssa.CallInstruction, args []ssa.Value)
	// apply replaces the function's own flow.
	apply func(f *flows, call ssa.CallInstruction, args []ssa.Value)
}

func (m *model) ignores(i int, arg ssa.Value) bool {
	return slices.Contains(m.ignored, i) || slices.Contains(m.ignored, -1) || m.writes(i) && boxedIn(arg) != arg
}

func (m *model) readsArgument(i int) bool { return slices.Contains(m.read, i) }
func (m *model) writes(i int) bool        { return slices.Contains(m.written, i) }

// models by the name that ssa has for the function, of the generic origin.
var models = map[string]*model{
	// A type, of which reflect can make new objects and call their methods.
	"reflect.TypeOf": {apply: typeEscapes},
	// A type, to compare it.
	"internal/reflectlite.TypeOf": {apply: makesObjects},
	"internal/abi.TypeOf":         {apply: makesObjects},
	"sync.poolRaceAddr":           {apply: makesObjects},
	"runtime.KeepAlive":           {apply: makesObjects},
	// Calls a function with the object, or with another one.
	"runtime.SetFinalizer":     {apply: finalizer(0)},
	"runtime.AddCleanup[T, S]": {apply: finalizer(2)},
	// Stores the error, or one in its chain, if it has the target's type.
	"errors.As": {also: asTarget, written: []int{1}},
	// Reads; calls no methods, which printing would.
	"reflect.DeepEqual": {apply: printsAll},
	// Swaps elements, and calls less.
	"sort.Slice":       {written: []int{0}},
	"sort.SliceStable": {written: []int{0}},
	// Hides a pointer from the compiler's escape analysis.
	"internal/abi.NoEscape": {apply: identity},
	"internal/abi.Escape":   {apply: identity},
	// Compares the builder's address with itself.
	"(*strings.Builder).copyCheck": {ignored: []int{0}},
	// Reads by reflection, calls String and the like.
	"(*fmt.pp).doPrint":   {apply: printsLast},
	"(*fmt.pp).doPrintln": {apply: printsLast},
	"(*fmt.pp).doPrintf":  {apply: printsLast},
	// Reads by reflection, calls MarshalJSON and MarshalText.
	"(*encoding/json.encodeState).marshal": {apply: marshals},
	// A typed cell behind an unsafe.Pointer.
	"(*sync/atomic.Pointer[T]).Load":           {apply: pointerLoad, read: []int{0}},
	"(*sync/atomic.Pointer[T]).Store":          {apply: pointerStore, written: []int{0}},
	"(*sync/atomic.Pointer[T]).Swap":           {apply: pointerStore, written: []int{0}},
	"(*sync/atomic.Pointer[T]).CompareAndSwap": {apply: pointerStore, written: []int{0}},
	// A cell of an interface.
	"(*sync/atomic.Value).Load":           {apply: pointerLoad, read: []int{0}},
	"(*sync/atomic.Value).Store":          {apply: pointerStore, written: []int{0}},
	"(*sync/atomic.Value).Swap":           {apply: pointerStore, written: []int{0}},
	"(*sync/atomic.Value).CompareAndSwap": {apply: pointerStore, written: []int{0}},
	// Any goroutine may get an object of a pool. All pools are one here; an
	// object that comes out is distinguished by its type.
	"(*sync.Pool).pin":            {apply: sharedResult},
	"(*sync.Pool).pinSlow":        {apply: sharedResult},
	"sync.indexLocal":             {apply: sharedResult},
	"(*sync.Pool).getSlow":        {apply: poolGet},
	"(*sync.poolChain).popHead":   {apply: poolGet},
	"(*sync.poolChain).popTail":   {apply: poolGet},
	"(*sync.poolChain).pushHead":  {apply: poolPut},
	"(*sync.poolDequeue).popHead": {apply: makesObjects},
	"(*sync.poolDequeue).popTail": {apply: makesObjects},
	// The nodes of a sync.Map, of which some are the beginning of an entry.
	"(*internal/sync.node[K, V]).entry":    {apply: sharedResult},
	"(*internal/sync.node[K, V]).indirect": {apply: sharedResult},
}

// computes reports whether the functions in assembly of a package keep no pointers.
func computes(path string) bool {
	return computing[path] || strings.HasPrefix(path, "crypto/") ||
		strings.Contains(path, "golang.org/x/crypto/")
}

// addressPackage reports whether a package that makes a number of a pointer means no more
// by it than that the kernel reads or fills the memory during the
// call, or that the number is compared.
func addressPackage(path string) bool {
	return path == "sync" || path == "syscall" || strings.HasPrefix(path, "internal/syscall/") ||
		path == "golang.org/x/sys/unix"
}

// isHookPackage are packages with functions that do nothing in a program that is not built
// for a detector.
func isHookPackage(path string) bool {
	return path == "internal/race" || path == "internal/msan" || path == "internal/asan"
}

var (
	plain        = new(model)
	externalCode = &model{apply: escapeAll}
	assembly     = &model{keepsNothing: true}
)

// isOpaque reports whether the source of a package shows nothing, as a value that goes
// through it changes its type.
func isOpaque(path string) bool {
	return path == "reflect" || path == "internal/reflectlite" || path == "runtime" ||
		strings.HasPrefix(path, "internal/runtime/")
}

func modelOf(fn *ssa.Function) *model {
	if fn.Origin() != nil {
		fn = fn.Origin()
	}
	path := packagePath(fn)
	if path == "" {
		return plain
	}
	if isHookPackage(path) {
		return &model{ignored: []int{-1}, keepsNothing: true}
	}
	if m, ok := models[fn.String()]; ok {
		return m
	}
	switch {
	case isOpaque(path):
		return externalCode // but see into
	case len(fn.Blocks) == 0 && computes(path):
		return assembly
	}
	return plain
}

func packagePath(fn *ssa.Function) string {
	if fn.Pkg != nil {
		return fn.Pkg.Pkg.Path()
	}
	if o := fn.Object(); o != nil && o.Pkg() != nil {
		return o.Pkg().Path()
	}
	if fn.Parent() != nil {
		return packagePath(fn.Parent())
	}
	return ""
}

// addressOnly reports whether an unsafe.Pointer is made for its number alone,
// or for hooks that do nothing.
func addressOnly(conv ssa.Instruction) bool {
	path := packagePath(conv.Parent())
	if path == "internal/sync" { // hashes and compares
		return true
	}
	for _, ref := range *conv.(ssa.Value).Referrers() {
		switch ref := ref.(type) {
		case *ssa.Convert:
			if b, ok := ref.Type().Underlying().(*types.Basic); !ok || b.Kind() != types.Uintptr || !addressPackage(path) {
				return false
			}
		case *ssa.Call:
			fn := ref.Call.StaticCallee()
			if fn == nil || !isHookPackage(packagePath(fn)) {
				return false
			}
		case *ssa.DebugRef:
		default:
			return false
		}
	}
	return true
}

func escapeAll(f *flows, call ssa.CallInstruction, _ []ssa.Value) { f.flowToExternal(call) }

func makesObjects(f *flows, call ssa.CallInstruction, _ []ssa.Value) { f.setObjects(call) }

// sharedResult models a function that returns an object which others have too.
func sharedResult(f *flows, call ssa.CallInstruction, _ []ssa.Value) {
	f.resultsFrom(call, func(_ int, n node) {
		f.setObject(n)
		f.addMarks(n, escapes)
	})
}

// asTarget models errors.As: of all errors only those of the target's type reach the target.
func asTarget(f *flows, call ssa.CallInstruction, args []ssa.Value) {
	if target, ok := boxedIn(args[1]).Type().Underlying().(*types.Pointer); ok && !types.IsInterface(target.Elem()) {
		f.connect(f.valuesOf(f.typeNumber(target.Elem()), target.Elem()), f.pointeeLocation(target.Elem()).contents, flow)
		return
	}
	f.flowToExternal(call)
}

// finalizer models a function with a second argument that is a function which a goroutine of the
// runtime calls with argument i. That call comes after all that is done with the object, but
// not after all that is done with those that it leads to.
func finalizer(i int) func(*flows, ssa.CallInstruction, []ssa.Value) {
	return func(f *flows, call ssa.CallInstruction, args []ssa.Value) {
		f.setObjects(call)
		fn := functionOf(boxedIn(args[1]))
		if fn == nil || len(fn.Params) != 1 {
			f.addMarks(f.nodeOf(args[1]), escapesExternal)
			f.addMarks(f.nodeOf(args[i]), escapesExternal)
			return
		}
		f.addMarks(f.nodeOf(boxedIn(args[1])), escapes)
		f.addMarks(f.nodeOf(boxedIn(args[i])), escapes)
		f.connect(f.nodeOf(boxedIn(args[i])), f.nodeOf(fn.Params[0]), flow)
		f.runs(fn)
	}
}

// functionOf returns the function that v is, or is a closure of, if that is seen.
func functionOf(v ssa.Value) *ssa.Function {
	switch v := v.(type) {
	case *ssa.Function:
		return v
	case *ssa.MakeClosure:
		return v.Fn.(*ssa.Function)
	case *ssa.ChangeType:
		return functionOf(v.X)
	}
	return nil
}

func (f *flows) setObjects(call ssa.CallInstruction) {
	f.resultsFrom(call, func(_ int, n node) { f.setObject(n) })
}

func typeEscapes(f *flows, call ssa.CallInstruction, args []ssa.Value) {
	f.addMarks(f.nodeOf(args[0]), typeKnown)
	f.resultsFrom(call, func(_ int, n node) { f.addMarks(n, unknown) })
}

func poolPut(f *flows, _ ssa.CallInstruction, args []ssa.Value) {
	f.connect(f.nodeOf(args[1]), f.pooled, flow)
	f.addMarks(f.pooled, escapes)
}

func poolGet(f *flows, call ssa.CallInstruction, _ []ssa.Value) {
	f.resultsFrom(call, func(_ int, n node) { f.connect(f.pooled, n, flow) })
}

func identity(f *flows, call ssa.CallInstruction, args []ssa.Value) {
	f.resultsFrom(call, func(_ int, n node) { f.connect(f.nodeOf(args[0]), n, flow) })
}

// printsLast models a function that prints the list that is its last argument.
func printsLast(f *flows, _ ssa.CallInstruction, args []ssa.Value) {
	f.addMarks(f.nodeOf(args[len(args)-1]), printed)
}

// marshals models a function that encodes its second argument.
func marshals(f *flows, call ssa.CallInstruction, args []ssa.Value) {
	f.addMarks(f.nodeOf(args[1]), printed)
	f.resultsFrom(call, func(_ int, n node) { f.addMarks(n, unknown) })
}

func printsAll(f *flows, _ ssa.CallInstruction, args []ssa.Value) {
	for _, a := range args {
		f.addMarks(f.nodeOf(a), printed)
	}
}

// atomicCell is the location of the value in an atomic.Pointer or atomic.Value.
func (f *flows) atomicCell(addr ssa.Value) node {
	t := pointedType(addr.Type())
	st := t.Underlying().(*types.Struct)
	for i := range st.NumFields() {
		if st.Field(i).Name() == "v" {
			return f.fieldLocation(t, i).contents
		}
	}
	return none
}

func pointerLoad(f *flows, call ssa.CallInstruction, args []ssa.Value) {
	f.resultsFrom(call, func(_ int, n node) { f.connect(f.atomicCell(args[0]), n, flow) })
}

// pointerStore models a store in an atomic cell; the stored value may be loaded again, here too.
func pointerStore(f *flows, call ssa.CallInstruction, args []ssa.Value) {
	cell := f.atomicCell(args[0])
	f.connect(f.nodeOf(args[len(args)-1]), cell, flow)
	f.resultsFrom(call, func(_ int, n node) { f.connect(cell, n, flow) })
}

// isTestFramework reports whether a call of reflect.ValueOf is one of two of the test
// framework: the main function of a test that has a TestMain looks at the exit
// code that it has left, and a fuzz test's function is handed its T, of which
// that function knows no more than of any other.
func isTestFramework(call ssa.CallInstruction) bool {
	fn := call.Common().StaticCallee()
	if fn == nil || fn.String() != "reflect.ValueOf" {
		return false
	}
	path := packagePath(call.Parent())
	return call.Parent().Name() == "main" && strings.HasSuffix(path, ".test") ||
		path == "testing" && boxedIn(call.Common().Args[0]).Type().String() == "*testing.T"
}

// printMethods are those that printing and encoding call.
var printMethods = []string{"String", "Error", "GoString", "Format", "MarshalJSON", "MarshalText"}

// runsAtOnce reports whether a go statement is one of package testing, which
// then waits for the goroutine that it has started.
func runsAtOnce(call ssa.CallInstruction) bool {
	if packagePath(call.Parent()) != "testing" {
		return false
	}
	fn := call.Common().StaticCallee()
	if fn == nil {
		return false
	}
	switch fn.Name() {
	case "tRunner", "fRunner", "launch", "run1$1":
		return true
	}
	return false
}
