// Package accesspath names memory and locks by how a function reaches them:
// a root value (receiver, parameter, package variable, local) and the fields
// selected from it, pointers followed silently: "c.stats.mu".
//
// Two equal paths are taken to be one location. That is a guess where a
// pointer on the way is assigned between the two uses; it errs both ways, and
// checklocks and RacerD make it too. Distinct paths may still be aliases.
//
// A variable that a closure captures is traced to the function that declares
// it, so a path in the closure equals the path outside.
//
// Cost: linear in the length of the path; the uses of a variable that closures
// capture are searched once, where they are many.
package accesspath

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"weak"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Path is a root and the fields selected from it. It is comparable. The zero
// Path names nothing.
type Path struct {
	Root ssa.Value
	// Fields is ".a.b" for x.a.b, "" for x itself; "[…]" for elements, [Every] for all of a list. Without
	// a root it is the class of a lock that has no path here.
	Fields string
}

// Every is the step of a path that names all elements of a slice, an array or a map.
const Every = "[*]"

// Of returns the path of v: of the location that v points to, or of the value
// that was loaded from there, which is the same path.
func Of(v ssa.Value) Path {
	var fields []string
	for {
		next, step := stripStep(v)
		if next == nil {
			return Path{v, joinFields(fields)}
		}
		if step != "" {
			fields = append(fields, step)
		}
		v = next
	}
}

func joinFields(reversed []string) string {
	var b strings.Builder
	for i := len(reversed) - 1; i >= 0; i-- {
		b.WriteString(reversed[i])
	}
	return b.String()
}

// stripStep goes one step towards the root: the value that v is derived from and
// the text of the step. A nil value means that v is the root.
func stripStep(v ssa.Value) (ssa.Value, string) {
	switch v := v.(type) {
	// Steps that the source writes: x.f and x[i].
	case *ssa.FieldAddr:
		return v.X, "." + FieldOf(v).Name()
	case *ssa.Field:
		return v.X, "." + v.X.Type().Underlying().(*types.Struct).Field(v.Field).Name()
	case *ssa.IndexAddr:
		return v.X, "[" + indexText(v.Index) + "]"
	// Loads: of a local variable that is assigned once, which stands for its
	// value, or of the pointee of a pointer.
	case *ssa.UnOp:
		if v.Op == token.MUL {
			if held, ok := Cell(v.X); ok {
				return held, ""
			}
			return v.X, ""
		}
	case *ssa.FreeVar:
		if bound := Binding(v); bound != nil {
			return bound, ""
		}
	// Conversions that keep the object.
	case *ssa.Convert:
		if _, ok := v.Type().Underlying().(*types.Pointer); ok {
			return v.X, ""
		}
	case *ssa.TypeAssert:
		if !v.CommaOk {
			return v.X, ""
		}
	}
	return ir.Back(v, ir.Retyped|ir.Boxed), ""
}

func indexText(v ssa.Value) string {
	if c, ok := v.(*ssa.Const); ok && c.Value != nil && c.Value.Kind() == constant.Int {
		return c.Value.ExactString()
	}
	// A register is the same index only within its own function.
	return fmt.Sprintf("%s:%s", v.Parent(), v.Name())
}

// FieldOf returns the field that f selects, as its generic origin declares it.
func FieldOf(f *ssa.FieldAddr) *types.Var {
	ptr := types.Unalias(f.X.Type()).Underlying().(*types.Pointer)
	return coreStruct(ptr.Elem()).Field(f.Field).Origin()
}

// coreStruct returns the struct under t, for a type parameter that of its constraint.
func coreStruct(t types.Type) *types.Struct {
	if s, ok := t.Underlying().(*types.Struct); ok {
		return s
	}
	iface := t.Underlying().(*types.Interface)
	for e := range iface.EmbeddedTypes() {
		switch e := types.Unalias(e).Underlying().(type) {
		case *types.Struct:
			return e
		case *types.Union:
			return coreStruct(e.Term(0).Type())
		}
	}
	panic("accesspath: field of a type without a struct under it: " + t.String())
}

// Binding returns the value in the enclosing function that v captures; nil for
// bound methods and other synthetic functions.
func Binding(v *ssa.FreeVar) ssa.Value {
	mk := creation(v.Parent())
	if mk == nil {
		return nil
	}
	for i, fv := range v.Parent().FreeVars {
		if fv == v {
			return mk.Bindings[i]
		}
	}
	return nil
}

// creation returns the one instruction that makes closures of literal f; nil
// for functions that capture nothing.
func creation(f *ssa.Function) *ssa.MakeClosure {
	if f.Parent() == nil {
		return nil
	}
	for _, ref := range *f.Referrers() {
		if mk, ok := ref.(*ssa.MakeClosure); ok {
			return mk
		}
	}
	return nil
}

// Cell returns the one value that a local variable in memory (one that closures
// capture) ever holds, if it is a pointer or another reference that is
// assigned once. Then the variable and that value have the same path.
func Cell(addr ssa.Value) (ssa.Value, bool) {
	alloc, ok := addr.(*ssa.Alloc)
	if !ok {
		if fv, isFree := addr.(*ssa.FreeVar); isFree {
			if bound := Binding(fv); bound != nil {
				return Cell(bound)
			}
		}
		return nil, false
	}
	if !isReference(alloc.Type().Underlying().(*types.Pointer).Elem()) {
		return nil, false
	}
	var held ssa.Value
	for _, v := range Stored(alloc) {
		if held != nil && held != v {
			return nil, false
		}
		held = v
	}
	return held, held != nil
}

func isReference(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface, *types.Map, *types.Chan:
		return true
	}
	return false
}

// Stored lists the values that are assigned to the variable alloc, in its function and
// in the closures that capture it, except nil and itself. For a variable with an
// address that goes elsewhere it returns its own address too: anything may be in it.
func Stored(alloc *ssa.Alloc) []ssa.Value {
	known, ok := manyUses.Load(weak.Make(alloc))
	if !ok {
		known = assignments(alloc)
	}
	var values []ssa.Value
	for _, store := range known.(assigned).stores {
		values = append(values, store.Value().Val)
	}
	if known.(assigned).escapes {
		values = append(values, alloc)
	}
	return values
}

// assigned is the knowledge of one variable: the stores of its values, and whether
// its address goes elsewhere. It keeps no program alive.
type assigned struct {
	stores  []weak.Pointer[ssa.Store]
	escapes bool
}

// manyUses keeps assigned of variables with more uses than fewUses, from
// weak.Pointer[ssa.Alloc] on, for as long as their program is in use: each of
// these uses asks for it, and a square of the uses would be walked otherwise.
var manyUses sync.Map

const fewUses = 64

// assignments searches all uses of alloc, in its function and in the closures
// that capture it.
func assignments(alloc *ssa.Alloc) assigned {
	var known assigned
	uses := 0
	var visit func(addr ssa.Value)
	visit = func(addr ssa.Value) {
		uses += len(*addr.Referrers())
		for _, ref := range *addr.Referrers() {
			switch ref := ref.(type) {
			case *ssa.Store:
				if ref.Val == addr {
					known.escapes = true
				} else if !isNilConst(ref.Val) && !isLoadOf(ref.Val, alloc) {
					known.stores = append(known.stores, weak.Make(ref))
				}
			case *ssa.UnOp, *ssa.DebugRef:
			case *ssa.MakeClosure:
				fn := ref.Fn.(*ssa.Function)
				for i, b := range ref.Bindings {
					if b == addr {
						visit(fn.FreeVars[i])
					}
				}
			default:
				known.escapes = true
			}
		}
	}
	visit(alloc)
	// The garbage collector forgets the entry with the variable.
	if uses > fewUses {
		key := weak.Make(alloc)
		if _, known := manyUses.LoadOrStore(key, known); !known {
			runtime.AddCleanup(alloc, func(key weak.Pointer[ssa.Alloc]) { manyUses.Delete(key) }, key)
		}
	}
	return known
}

func isNilConst(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil()
}

func isLoadOf(v ssa.Value, alloc *ssa.Alloc) bool {
	load, ok := v.(*ssa.UnOp)
	return ok && load.Op == token.MUL && load.X == alloc
}

// Global returns the package variable that roots p, if one does.
func (p Path) Global() (*ssa.Global, bool) {
	g, ok := p.Root.(*ssa.Global)
	return g, ok
}

// Param returns the index of the parameter of f that roots p, or -1.
func (p Path) Param(f *ssa.Function) int {
	for i, param := range f.Params {
		if p.Root == param {
			return i
		}
	}
	return -1
}

// Plus returns p with more fields selected.
func (p Path) Plus(fields string) Path { return Path{p.Root, p.Fields + fields} }

// Under reports whether p is base or a location reached through it, and
// the fields that are selected from base on the way. [Every] is each index.
func (p Path) Under(base Path) (rest string, ok bool) {
	if p.Root == nil || p.Root != base.Root {
		return "", false
	}
	if strings.HasPrefix(p.Fields, base.Fields) {
		rest = p.Fields[len(base.Fields):]
		return rest, rest == "" || rest[0] == '.' || rest[0] == '['
	}
	if !strings.Contains(p.Fields, Every) && !strings.Contains(base.Fields, Every) {
		return "", false
	}
	rest, of := p.Fields, base.Fields
	for of != "" {
		step, wanted := firstStep(rest), firstStep(of)
		if step != wanted && !(isIndex(step) && isIndex(wanted) && (step == Every || wanted == Every)) {
			return "", false
		}
		rest, of = rest[len(step):], of[len(wanted):]
	}
	return rest, true
}

// Owner returns the path of the object in which the last field of p lies: s for s.locks[i]. Without a field the owner
// is the root.
func (p Path) Owner() Path {
	cut := 0
	for i := 0; i < len(p.Fields); {
		if p.Fields[i] == '.' {
			cut = i
		}
		i += len(firstStep(p.Fields[i:]))
	}
	return Path{p.Root, p.Fields[:cut]}
}

// Indexes returns the indexes among fields, in the order in which they are applied.
func Indexes(fields string) (list []string) {
	for fields != "" {
		step := firstStep(fields)
		if isIndex(step) {
			list = append(list, step)
		}
		fields = fields[len(step):]
	}
	return list
}

// firstStep returns the first field or index of fields.
func firstStep(fields string) string {
	depth := 0
	for i, c := range []byte(fields) {
		switch {
		case c == '[' && depth == 0 && i > 0, c == '.' && depth == 0 && i > 0:
			return fields[:i]
		case c == '[':
			depth++
		case c == ']':
			depth--
		}
	}
	return fields
}

func isIndex(step string) bool { return strings.HasPrefix(step, "[") }

// MayRoot reports whether v may root a path, or be an index in one, and be
// computed more than once.
func MayRoot(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.Phi, *ssa.Call, *ssa.Extract, *ssa.Lookup, *ssa.Alloc, *ssa.BinOp, *ssa.UnOp, *ssa.Index, *ssa.Next:
		return true
	}
	return false
}

// Uses reports whether p is rooted in v or has v as an index.
func (p Path) Uses(v ssa.Value) bool {
	return p.Root == v || strings.Contains(p.Fields, ":") && strings.Contains(p.Fields, "["+indexText(v)+"]")
}

// Named reports whether the source has a name for the root of p.
func (p Path) Named() bool {
	switch p.Root.(type) {
	case *ssa.Parameter, *ssa.FreeVar, *ssa.Global:
		return true
	}
	return false
}

// String returns the path as the source writes it, as far as its root has a name.
func (p Path) String() string {
	if p.Root == nil { // a lock known by its class only
		return p.Fields[strings.LastIndexByte(p.Fields, '/')+1:]
	}
	return registers.ReplaceAllString(rootName(p.Root)+p.Fields, "[…]")
}

// registers matches an index that only go/ssa has a name for.
var registers = regexp.MustCompile(`\[[^\]]*:t\d+\]`)

// IsVariable reports whether v is a variable that the source names: of other
// objects go/ssa says "complit" and the like.
func IsVariable(v *ssa.Alloc) bool {
	switch v.Comment {
	case "", "complit", "new", "varargs", "makeslice", "slicelit":
		return false
	}
	return true
}

func rootName(v ssa.Value) string {
	switch v := v.(type) {
	case *ssa.Parameter, *ssa.FreeVar:
		return v.Name()
	case *ssa.Global:
		return v.Name()
	case *ssa.Alloc:
		if IsVariable(v) {
			return v.Comment
		}
	case *ssa.Call:
		if f := ir.Origin(v.Call.StaticCallee()); f != nil {
			return f.Name() + "()"
		}
	}
	return "(" + types.TypeString(v.Type(), func(p *types.Package) string { return p.Name() }) + ")"
}
