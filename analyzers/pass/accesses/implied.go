package accesses

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// Some accesses have no expression of their own in the source, or are made by
// other code than the holder of the lock:
//
//   - to copy a struct or array reads all its parts, to assign one writes them;
//   - elements of slices and arrays, and the contents of maps that len, packages
//     slices and maps, and functions of the package look at;
//   - a method called on the object in a field reads and writes that object
//     (see [Touches]): the guard is the holder's.
//
// They are listed apart, as [List.Implied], for judgements by guard. The plan
// leaves out no site because of them.

// implied collects the implied accesses of a package.
type implied struct {
	*collector
	// named are the variables that some expression accesses while they are
	// shared, and whether one of them writes: a copy of others conflicts with
	// nothing that is known.
	named map[accesspath.Name]bool
	uses  map[parameter]use // see useOf
}

// findImplied lists the implied accesses of the package, function by function.
func (c *collector) findImplied() {
	im := &implied{collector: c, named: map[accesspath.Name]bool{}, uses: map[parameter]use{}}
	for _, a := range c.list.All {
		if a.Owner == ownership.Shared && !a.Map && c.list.Counts(a) {
			im.named[a.Name] = im.named[a.Name] || a.Writes()
		}
	}
	var found []*Access
	// Only variables that some access has a lock for, or is atomic on, can be accessed in a wrong way.
	protected := map[groupKey]bool{}
	note := func(a *Access) {
		k := a.groupKeyOf()
		protected[k] = protected[k] || a.Atomic() || len(a.Locks.Held()) > 0
	}
	for _, a := range c.list.All {
		note(a)
	}
	for _, p := range c.pending {
		for _, a := range im.impliedAt(p.instr) {
			if a.load != nil && lostLock(c.loads[a.load], p.state) {
				continue
			}
			a.Implied, a.Instr, a.Fn, a.Locks = true, p.instr, p.fn, p.state
			note(a)
			found = append(found, a)
		}
	}
	found = slices.DeleteFunc(found, func(a *Access) bool {
		if !protected[a.groupKeyOf()] || c.owner.Of(a.Addr, a.Instr) != ownership.Shared {
			return true
		}
		c.finish(a, a.Instr, a.Fn, a.Locks)
		return false
	})
	c.list.Implied = mergeUpdates(found)
}

// pending is an instruction that may imply accesses, and the locks held there.
type pending struct {
	instr ssa.Instruction
	fn    *ssa.Function
	state *lockset.State
}

// noteImplied keeps instr for later, if it may imply accesses.
func (c *collector) noteImplied(instr ssa.Instruction, fn *ssa.Function, s *lockset.State) {
	keep := false
	switch instr := instr.(type) {
	case *ssa.UnOp:
		if instr.Op != token.MUL {
			return
		}
		if isContainer(instr.Type()) {
			c.loads[instr] = s
		}
		keep = mayImply(instr.X)
	case *ssa.Store:
		keep = mayImply(instr.Addr)
	case *ssa.Call:
		switch v := instr.Call.Value.(type) {
		case *ssa.Builtin:
			keep = true
		default:
			_, static := v.(*ssa.Function)
			keep = static && len(instr.Call.Args) > 0
		}
	}
	if keep {
		c.pending = append(c.pending, pending{instr, fn, s})
	}
}

// mayImply reports whether a load or store at addr is one of an element, or of
// a struct or array as a whole.
func mayImply(addr ssa.Value) bool {
	if _, element := addr.(*ssa.IndexAddr); element {
		return true
	}
	if _, local := addr.(*ssa.Alloc); local {
		return false
	}
	p, ok := addr.Type().Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	switch p.Elem().Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

func isContainer(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map:
		return true
	}
	return false
}

// impliedAt returns the accesses that instr implies.
func (im *implied) impliedAt(instr ssa.Instruction) []*Access {
	switch instr := instr.(type) {
	case *ssa.UnOp:
		if instr.Op == token.MUL {
			parts := im.listParts(instr.X, instr.Pos(), finding.Read)
			parts = append(parts, im.wholeArray(instr.X, instr.Pos(), finding.Read)...)
			return append(parts, im.element(instr.X, instr.Pos(), finding.Read, instr)...)
		}
	case *ssa.Store:
		parts := im.listParts(instr.Addr, instr.Pos(), finding.Write)
		parts = append(parts, im.wholeArray(instr.Addr, instr.Pos(), finding.Write)...)
		return append(parts, im.element(instr.Addr, instr.Pos(), finding.Write, instr.Val)...)
	case *ssa.Call:
		if _, ok := instr.Call.Value.(*ssa.Builtin); ok {
			return im.builtin(instr)
		}
		if o, ok := order.Find(instr, order.Atomics); ok {
			mode, value := atomicMode(o, instr)
			return im.element(o.On, o.On.Pos(), mode, value)
		}
		if list := im.libraryCall(instr); list != nil {
			return list
		}
		return append(im.onInner(instr), im.passedMaps(instr)...)
	}
	return nil
}

// listParts lists the fields of the struct at addr that is copied or assigned as a
// whole, as far as other code names them. A struct with a lock is vet's matter.
func (im *implied) listParts(addr ssa.Value, pos token.Pos, mode finding.Mode) []*Access {
	// Match *p = v and v = *p, where p leads to a struct without locks that has a name.
	if _, local := addr.(*ssa.Alloc); local {
		return nil
	}
	p, ok := addr.Type().Underlying().(*types.Pointer)
	if !ok {
		return nil
	}
	if st, ok := p.Elem().Underlying().(*types.Struct); !ok || st.NumFields() == 0 || lockset.HoldsLock(p.Elem()) {
		return nil
	}
	expr, ok := im.list.Prog.Node(pos).(ast.Expr)
	if !ok {
		return nil
	}
	// Add the fields, those of structs inside included. A read of a field that
	// nobody writes conflicts with nothing.
	var list []*Access
	var fields func(t types.Type, path string, depth int)
	fields = func(t types.Type, path string, depth int) {
		named, ok := types.Unalias(t).(*types.Named)
		if !ok || named.Obj().Pkg() == nil || depth > knowledge.NestedParts {
			return
		}
		st, ok := named.Origin().Underlying().(*types.Struct)
		if !ok {
			return
		}
		for f := range st.Fields() {
			name := accesspath.Name{Package: named.Obj().Pkg().Path(), Type: finding.TypeName(named.Obj()), Field: f.Name()}
			if writes, known := im.named[name]; known && (writes || mode == finding.Write) &&
				len(list) < knowledge.PartsOfStruct {
				part := path + "." + f.Name()
				list = append(list, &Access{
					Name: name, Obj: f, Mode: mode, Addr: addr, Path: accesspath.Of(addr).Plus(part), Expr: expr, Part: part,
				})
			}
			fields(f.Type(), path+"."+f.Name(), depth+1)
		}
	}
	fields(p.Elem(), "", 0)
	return list
}

// wholeArray returns the access to all elements of the array at addr, which is
// copied or assigned at pos.
func (im *implied) wholeArray(addr ssa.Value, pos token.Pos, mode finding.Mode) []*Access {
	if a := im.contents(addr, pos, mode); a != nil {
		return []*Access{a}
	}
	return nil
}

// element returns the access to an element of a slice or array at addr, that a
// field or package variable holds.
func (im *implied) element(addr ssa.Value, pos token.Pos, mode finding.Mode, value ssa.Value) []*Access {
	at, ok := addr.(*ssa.IndexAddr)
	if !ok {
		return nil
	}
	a := im.contents(at.X, at.Pos(), mode)
	if a == nil {
		return nil
	}
	if index, ok := im.list.Prog.Node(at.Pos()).(*ast.IndexExpr); ok {
		a.Expr = index
	}
	a.Value, a.Index = value, at.Index
	return []*Access{a}
}

// contents returns an access to the contents of v, the slice, map or pointer to an
// array that a field or package variable holds; nil for others. Its
// expression is that of the variable, which for an array in a package variable only its use at pos has.
func (im *implied) contents(v ssa.Value, pos token.Pos, mode finding.Mode) *Access {
	// Match the value of a slice or map, t = *addr, and the address of an array.
	a := &Access{Mode: mode, Elements: true}
	if _, isGlobal := v.(*ssa.Global); !isGlobal {
		pos = v.Pos()
	}
	switch x := v.(type) {
	case *ssa.UnOp:
		if x.Op != token.MUL || !isContainer(x.Type()) {
			return nil
		}
		_, a.Map = x.Type().Underlying().(*types.Map)
		a.Elements = !a.Map
		a.Addr, a.load = x.X, x
	case *ssa.FieldAddr, *ssa.Global:
		p, ok := x.Type().Underlying().(*types.Pointer)
		if !ok {
			return nil
		}
		if _, isArray := p.Elem().Underlying().(*types.Array); !isArray {
			return nil
		}
		a.Addr = x
	default:
		return nil
	}
	// Only fields and package variables have names that others use, too.
	switch a.Addr.(type) {
	case *ssa.FieldAddr, *ssa.Global:
	default:
		return nil
	}
	a.Obj, a.Path = object(a.Addr), accesspath.Of(a.Addr)
	var ok bool
	if a.Name, ok = accesspath.NameOf(a.Addr); !ok {
		return nil
	}
	switch node := im.list.Prog.Node(pos).(type) {
	case *ast.SliceExpr: // id[:]
		a.Expr = ast.Unparen(node.X)
	case ast.Expr:
		a.Expr = node
	default:
		return nil
	}
	return a
}

// builtin lists the accesses of a builtin function to the contents of its arguments.
// The elements that append writes lie behind the end of the slice that others see.
func (im *implied) builtin(call *ssa.Call) []*Access {
	args := call.Call.Args
	switch call.Call.Value.(*ssa.Builtin).Name() {
	case "len":
		if _, isMap := args[0].Type().Underlying().(*types.Map); isMap {
			return im.addContents(args[:1], finding.Read)
		}
	case "clear":
		if _, isMap := args[0].Type().Underlying().(*types.Map); !isMap {
			return im.addContents(args[:1], finding.Write)
		}
	case "copy":
		return append(im.addContents(args[:1], finding.Write), im.addContents(args[1:], finding.Read)...)
	case "append":
		return im.addContents(args[1:], finding.Read)
	}
	return nil
}

// addContents lists accesses to the contents of each of the values.
func (im *implied) addContents(values []ssa.Value, mode finding.Mode) []*Access {
	var list []*Access
	for _, v := range values {
		if a := im.contents(sliced(v), v.Pos(), mode); a != nil {
			list = append(list, a)
		}
	}
	return list
}

// sliced returns the slice or array of which v is a part, or v; an interface
// counts as the value that it was made of.
func sliced(v ssa.Value) ssa.Value { return ir.Root(v, ir.Piece|ir.Retyped|ir.Boxed) }

// libraryCall lists the accesses of functions of packages slices, maps and sort to
// the contents of their arguments; nil for other calls.
func (im *implied) libraryCall(call *ssa.Call) []*Access {
	fn := ir.Origin(call.Call.StaticCallee())
	args := call.Call.Args
	if fn == nil || fn.Object() == nil || fn.Object().Pkg() == nil || fn.Signature.Recv() != nil || len(args) == 0 {
		return nil
	}
	changes, ok := changing[fn.Object().Pkg().Path()]
	if !ok {
		return nil
	}
	if !slices.Contains(changes, fn.Name()) {
		return im.addContents(args, finding.Read)
	}
	return append(im.addContents(args[:1], finding.Write), im.addContents(args[1:], finding.Read)...)
}

// changing lists the functions that change the contents of their first argument;
// the others of these packages only look at it.
var changing = map[string][]string{
	"maps": {"Copy", "DeleteFunc", "Insert"},
	"slices": {
		"Compact", "CompactFunc", "Delete", "DeleteFunc", "Insert", "Replace", "Reverse", "Sort", "SortFunc",
		"SortStableFunc",
	},
	"sort": {"Float64s", "Ints", "Slice", "SliceStable", "Sort", "Stable", "Strings"},
}
