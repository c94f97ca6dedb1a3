package parallel

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
)

// aspect is the part of a variable that is accessed.
type aspect int

const (
	itself   aspect = iota
	contents        // of the map that it holds, or of an object that leaves all locking to its user
)

// Place is a variable as one function reaches it.
type Place struct {
	Path   accesspath.Path
	aspect aspect
	typ    types.Type // of the variable
}

// Local returns the local variable that p is, if p is one itself.
func (p Place) Local() (*ssa.Alloc, bool) {
	cell, ok := p.Path.Root.(*ssa.Alloc)
	return cell, ok && p.Path.Fields == "" && p.aspect == itself && accesspath.IsVariable(cell) &&
		types.Identical(p.typ, ir.Pointee(cell.Type()))
}

// Contents reports whether p is the contents of a map, or the inside of an object.
func (p Place) Contents() bool { return p.aspect == contents }

// varies reports whether p is an element at an index that is computed: each goroutine
// mostly has one of its own.
func (p Place) varies() bool { return strings.Contains(p.Path.Fields, ":") }

// overlap reports whether a and b have memory in common: one variable, or a
// struct or array and a part of it.
func overlap(a, b Place) bool {
	if a.Path.Root == nil || a.Path.Root != b.Path.Root || a.aspect != b.aspect {
		return false
	}
	if len(a.Path.Fields) > len(b.Path.Fields) {
		a, b = b, a
	}
	rest, ok := b.Path.Under(a.Path)
	switch {
	case !ok:
		return false
	case a.aspect == contents:
		return rest == ""
	case rest == "":
		return types.Identical(a.typ, b.typ)
	}
	return selectsWithin(a.typ, rest)
}

// selectsWithin reports whether rest, such as ".f.g" or "[2]", selects a part of a
// variable of type t without following a pointer.
func selectsWithin(t types.Type, rest string) bool {
	for rest != "" {
		end := strings.IndexAny(rest[1:], ".[") + 1
		if end == 0 {
			end = len(rest)
		}
		step := rest[:end]
		rest = rest[end:]
		switch u := t.Underlying().(type) {
		case *types.Struct:
			f := fieldOf(u, step[1:])
			if f == nil {
				return false
			}
			t = f.Type()
		case *types.Array:
			t = u.Elem()
		default:
			return false
		}
	}
	return true
}

func fieldOf(s *types.Struct, name string) *types.Var {
	for f := range s.Fields() {
		if f.Name() == name {
			return f
		}
	}
	return nil
}

// countSelections counts the fields and elements of a path.
func countSelections(p accesspath.Path) int {
	return strings.Count(p.Fields, ".") + strings.Count(p.Fields, "[")
}

// access is one access that an instruction makes.
type access struct {
	place Place
	mode  finding.Mode
	addr  ssa.Value // the location; for contents that of the variable which holds them
	by    ssa.Value // leads to it
}

// accessesOf lists the accesses that an instruction makes itself to variables
// that others may reach.
func accessesOf(instr ssa.Instruction) []access {
	switch instr := instr.(type) {
	case *ssa.UnOp:
		if instr.Op == token.MUL {
			return loaded(instr)
		}
	case *ssa.Store:
		if !ir.StoresItself(instr) {
			return location(instr.Addr, finding.Write)
		}
	case *ssa.MapUpdate:
		return inside(instr.Map, finding.Write)
	case *ssa.Lookup:
		return inside(instr.X, finding.Read)
	case *ssa.Range:
		return inside(instr.X, finding.Read)
	case *ssa.Call:
		return byCall(instr)
	}
	return nil
}

// loaded returns the accesses of a load.
func loaded(load *ssa.UnOp) []access {
	whole := location(load.X, finding.Read)
	parts := ir.PartsRead(load)
	if len(parts) == 0 || len(whole) == 0 {
		return whole
	}
	found := slices.Repeat(whole, len(parts))
	for i, part := range parts {
		found[i].place.Path, found[i].place.typ = shared(part), part.Type()
	}
	return found
}

// location is an access to the variable at addr; none for variables that
// only their function has.
func location(addr ssa.Value, mode finding.Mode) []access {
	path := shared(addr)
	if path.Root == nil || countSelections(path) > knowledge.FieldsOfPath {
		return nil
	}
	return []access{{Place{path, itself, ir.Pointee(addr.Type())}, mode, addr, addr}}
}

// inside is an access to the contents of the map v.
func inside(v ssa.Value, mode finding.Mode) []access {
	if _, isMap := v.Type().Underlying().(*types.Map); !isMap {
		return nil
	}
	path := shared(v)
	if path.Root == nil || countSelections(path) > knowledge.FieldsOfPath {
		return nil
	}
	return []access{{Place{path, contents, v.Type()}, mode, ir.Address(v), v}}
}

// shared returns the path of v; none for a local variable that stays on the stack.
func shared(v ssa.Value) accesspath.Path {
	path := accesspath.Of(v)
	switch root := path.Root.(type) {
	case *ssa.Alloc:
		if !root.Heap {
			return spilled(root, v, path)
		}
	case *ssa.Const:
		return accesspath.Path{}
	}
	return path
}

// spilled returns the path from the parameter that local is a copy of, for an object that
// a pointer in the copy leads to; none for the copy itself.
//
//	func (e Entry) On() bool { return e.L.on }
func spilled(local *ssa.Alloc, v ssa.Value, path accesspath.Path) accesspath.Path {
	if !followsPointer(v) {
		return accesspath.Path{}
	}
	var param *ssa.Parameter
	for _, ref := range *local.Referrers() {
		if st, ok := ref.(*ssa.Store); ok && st.Addr == local {
			p, isParam := st.Val.(*ssa.Parameter)
			if !isParam || param != nil {
				return accesspath.Path{}
			}
			param = p
		}
	}
	if param == nil {
		return accesspath.Path{}
	}
	return accesspath.Path{Root: param, Fields: path.Fields}
}

// followsPointer reports whether the way to v loads a pointer.
func followsPointer(v ssa.Value) bool {
	return ir.Back(ir.Root(v, ir.Field|ir.Element), ir.Loaded) != nil
}

// byCall lists the accesses of builtin functions, operations of sync/atomic and methods of
// containers of the standard library.
func byCall(instr *ssa.Call) []access {
	call := instr.Common()
	// Match delete(m, k), clear(m) and len(m).
	if b, ok := call.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "delete", "clear":
			return inside(call.Args[0], finding.Write)
		case "len":
			return inside(call.Args[0], finding.Read)
		}
		return nil
	}
	// Match atomic.AddInt32(&n, 1), and methods such as buffer.WriteString.
	fn := ir.Origin(call.StaticCallee())
	if fn == nil || len(call.Args) == 0 {
		return nil
	}
	recv := fn.Signature.Recv()
	switch o, _ := order.Find(instr, order.Atomics|order.Once); {
	case o.Kind == order.Once, recv == nil && o.Kind&(order.Store|order.Update) != 0:
		return location(call.Args[0], finding.AtomicWrite)
	case recv == nil && o.Kind == order.Load:
		return location(call.Args[0], finding.AtomicRead)
	}
	if recv != nil {
		if writes, ok := knowledge.Container(types.TypeString(recv.Type(), nil), fn.Name()); ok {
			path := shared(call.Args[0])
			mode := finding.Read
			if writes {
				mode = finding.Write
			}
			if path.Root != nil {
				return []access{{Place{path, contents, recv.Type()}, mode, ir.Address(call.Args[0]), call.Args[0]}}
			}
		}
	}
	return nil
}
