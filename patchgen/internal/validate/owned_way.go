package validate

import (
	"cmp"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// belonging follows accesses under a lock back to the object of the lock.
type belonging struct {
	*side
	owner home          // the type of the lock's object
	links map[link]bool // references on the ways
	// How the ways lead: from the object of the lock to the accesses, or from their objects to it by a pointer field.
	byHolder  bool
	byPointer string
}

// link is a field whose references lead on towards a variable.
type link struct {
	field    accesspath.Name
	elements bool // those of the elements of its list or map
	contents bool // its list or map itself is accessed
}

// isAt reports whether an address is that of the field.
func (l link) isAt(addr ssa.Value) bool {
	field, ok := addr.(*ssa.FieldAddr)
	if !ok {
		return false
	}
	name, ok := accesspath.NameOf(field)
	return ok && name == l.field
}

// isSetBy reports whether an instruction stores in the field.
func (l link) isSetBy(instr ssa.Instruction) bool {
	st, ok := instr.(*ssa.Store)
	return ok && l.isAt(st.Addr)
}

func (b *belonging) sorted() []link {
	return slices.SortedFunc(maps.Keys(b.links), func(x, y link) int {
		return cmp.Or(cmp.Compare(x.field.String(), y.field.String()), compareBool(x.elements, y.elements))
	})
}

func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}

// isOwn reports whether the object of an access belongs to that of a lock which is held for it.
func (b *belonging) isOwn(u use) bool {
	return slices.ContainsFunc(b.guarding(u), func(h lockset.Held) bool {
		w := &wayBack{belonging: b, pkg: u.pkg, seen: map[ssa.Value]bool{}}
		return w.leads(u.base, h.Path.Owner(), u.instr, 0)
	})
}

// isSameBothWays reports whether each object that one of the lock's type gets points back to that one from the start.
//
//	h.conns[id] = &conn{hub: h}
func (b *belonging) isSameBothWays() bool {
	isSame := true
	for l := range b.links {
		if l.field.Package != b.owner.pkg || l.field.Type != b.owner.name {
			continue
		}
		m := &making{side: b.side, link: l}
		m.eachValue(func(_ *session.Package, _ ssa.Instruction, v ssa.Value, self accesspath.Path) {
			if !isAddress(v.Type()) {
				return // the list or map
			}
			object, ok := rootOf(v).(*ssa.Alloc)
			isSame = isSame && ok && b.isSetIn(object, self.Owner())
		})
	}
	return isSame
}

// isSetIn reports whether the function that has made an object sets the pointer to the lock's object in it.
func (b *belonging) isSetIn(object *ssa.Alloc, owner accesspath.Path) bool {
	return slices.ContainsFunc(*object.Referrers(), func(ref ssa.Instruction) bool {
		field, ok := ref.(*ssa.FieldAddr)
		return ok && accesspath.FieldOf(field).Name() == b.byPointer &&
			slices.ContainsFunc(*field.Referrers(), func(use ssa.Instruction) bool {
				st, ok := use.(*ssa.Store)
				return ok && st.Addr == ssa.Value(field) && accesspath.Of(st.Val) == owner
			})
	})
}

// wayBack is the search for one access and one lock.
type wayBack struct {
	*belonging
	pkg  *session.Package
	seen map[ssa.Value]bool
}

// leads reports whether v, at an instruction, is reached from the object at owner, or that from v. The zero path stands
// for an object that only callers can name.
func (w *wayBack) leads(v ssa.Value, owner accesspath.Path, instr ssa.Instruction, depth int) bool {
	if v == nil || depth > maxLevel || len(w.seen) > maxTraced {
		return false
	}
	if w.seen[v] {
		return true // a loop: the other ways decide
	}
	w.seen[v] = true
	if w.isOwner(v) {
		w.byHolder = true
		return owner.Root != nil && owner == accesspath.Of(v)
	}
	if w.pointsTo(v, owner) {
		return true
	}
	if call, i := resultOf(v); call != nil {
		return w.returned(call, i, owner, depth)
	}
	next, deeper := back(v)
	switch v := v.(type) {
	case *ssa.Const:
		return v.IsNil()
	case *ssa.Parameter:
		return w.passed(v, owner, depth)
	case *ssa.Alloc:
		return w.placed(v, owner, depth)
	}
	if len(next) == 0 || deeper && !w.through(ir.Address(v)) {
		return false
	}
	return !slices.ContainsFunc(next, func(x ssa.Value) bool { return !w.leads(x, owner, instr, depth) })
}

// isOwner reports whether v is of the type of the lock's object.
func (w *wayBack) isOwner(v ssa.Value) bool { return isNamed(v.Type(), w.owner.pkg, w.owner.name) }

// pointsTo reports whether the lock's object is reached from v for ever: c.hub.mu is the lock for c.last.
func (w *wayBack) pointsTo(v ssa.Value, owner accesspath.Path) bool {
	rest, ok := owner.Under(accesspath.Of(v))
	return ok && rest != "" && w.isSetForGood(v, rest)
}

// resultOf returns the call, but of a builtin, of which v is a result, and which result it is; nil for other values.
func resultOf(v ssa.Value) (call *ssa.Call, i int) {
	if part, ok := v.(*ssa.Extract); ok {
		v, i = part.Tuple, part.Index
	}
	if call, _ = v.(*ssa.Call); call != nil && builtinOf(call) != "" {
		return nil, 0
	}
	return call, i
}

// isAddress reports whether values of a type are addresses.
func isAddress(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// through notes the field whose reference is followed by a load from an address, or by an access of a map.
func (w *wayBack) through(from ssa.Value) bool {
	elements := false
	for range maxTraced {
		switch x := from.(type) {
		case *ssa.FieldAddr:
			name, ok := accesspath.NameOf(x)
			w.links[link{field: name, elements: elements}] = true
			return ok
		case *ssa.IndexAddr:
			if isAddress(x.X.Type()) { // an array in place
				from = x.X
				continue
			}
			elements, from = true, x.X
		case *ssa.Lookup:
			elements, from = true, x.X
		case *ssa.Next:
			elements, from = true, x.Iter
		case *ssa.Range:
			from = x.X
		case *ssa.UnOp:
			if facts.CellOf(x.X) != nil {
				return true // of the local, leads asks for what is stored there
			}
			from = x.X
		default:
			return ir.Back(from, ir.Piece) == nil || w.through(ir.Back(from, ir.Piece))
		}
	}
	return false
}

// isSetForGood reports whether fields lead from v to the object of the lock for ever: it lies in that of v, or the
// pointers are set only while nobody else can reach their objects.
func (w *wayBack) isSetForGood(v ssa.Value, fields string) bool {
	t := ir.Pointee(v.Type())
	for name := range strings.SplitSeq(strings.TrimPrefix(fields, "."), ".") {
		field := fieldOf(t, name)
		named, ok := ir.Named(t)
		if field == nil || !ok || named.Obj().Pkg() == nil {
			return false
		}
		if isAddress(field.Type()) {
			key := accesspath.Name{Package: named.Obj().Pkg().Path(), Type: finding.TypeName(named.Obj()), Field: name}
			if field.Exported() || !w.isKeySetOnce(key.String(), types.NewPointer(t).String()) {
				return false
			}
			w.byPointer = name
		}
		t = ir.Pointee(field.Type())
	}
	return true
}

// passed is leads for a parameter: each argument belongs to the object of a lock that is held at its call.
func (w *wayBack) passed(v *ssa.Parameter, owner accesspath.Path, depth int) bool {
	fn := v.Parent()
	sites, all := callsOf(w.pkg, w.pkg.Calls, fn)
	i := slices.Index(fn.Params, v)
	if !all {
		return false
	}
	return !slices.ContainsFunc(sites, func(s callgraph.Site) bool {
		if s.Mode != callgraph.Call || i >= len(s.Args) {
			return true
		}
		return !slices.ContainsFunc(w.ownersAt(s, owner), func(there accesspath.Path) bool {
			next := &wayBack{belonging: w.belonging, pkg: w.pkg, seen: map[ssa.Value]bool{}}
			return next.leads(s.Args[i], there, s.Instr, depth+1)
		})
	})
}

// ownersAt translates the path of a lock's object to a call of its function: without a name, to those of the locks that
// are held there.
func (w *wayBack) ownersAt(s callgraph.Site, owner accesspath.Path) (list []accesspath.Path) {
	if k := owner.Param(s.Callee); k >= 0 && k < len(s.Args) {
		return []accesspath.Path{accesspath.Of(s.Args[k]).Plus(owner.Fields)}
	}
	if owner.Root != nil {
		_, isGlobal := owner.Global()
		if isGlobal {
			list = append(list, owner)
		}
		return list
	}
	w.pkg.Locks.Walk(s.Caller, func(instr ssa.Instruction, st *lockset.State) {
		if instr != ssa.Instruction(s.Instr) {
			return
		}
		for _, h := range st.Held() {
			if w.isLock(h) {
				list = append(list, h.Path.Owner())
			}
		}
	})
	return list
}

// returned is leads for a result of a function of the module.
//
//	n := l.find(name)	// returns l.nodes[name]
func (w *wayBack) returned(call *ssa.Call, i int, owner accesspath.Path, depth int) bool {
	body := w.Calls.Body(call.Call.StaticCallee())
	if body == nil || w.Of(body) != w.pkg {
		return false
	}
	within, ok := accesspath.Path{}, false
	for k, arg := range call.Call.Args {
		if rest, under := owner.Under(accesspath.Of(arg)); under && k < len(body.Params) {
			within, ok = accesspath.Path{Root: body.Params[k], Fields: rest}, true
		}
	}
	if _, isGlobal := owner.Global(); isGlobal {
		within, ok = owner, true
	}
	if !ok {
		return false
	}
	for instr := range ir.Instructions(body) {
		ret, isReturn := instr.(*ssa.Return)
		if !isReturn || i >= len(ret.Results) {
			continue
		}
		next := &wayBack{belonging: w.belonging, pkg: w.pkg, seen: map[ssa.Value]bool{}}
		if !next.leads(ret.Results[i], within, ret, depth+1) {
			return false
		}
	}
	return true
}

// placed is leads for an object that the function has made: it is a copy, or is put where the object of the lock has
// it, and nowhere else.
func (w *wayBack) placed(v *ssa.Alloc, owner accesspath.Path, depth int) bool {
	if from := copiedTo(v); len(from) > 0 {
		return !slices.ContainsFunc(from, func(st *ssa.Store) bool { return !w.leads(ir.Address(st.Val), owner, st, depth) })
	}
	keeps := keepersOf(w.side, v, link{contents: true})
	return len(keeps) > 0 && !slices.ContainsFunc(keeps, func(k kept) bool {
		switch x := k.instr.(type) {
		case *ssa.MapUpdate:
			return !w.through(x.Map) || !w.leads(x.Map, owner, x, depth)
		case *ssa.Store:
			if name, ok := accesspath.NameOf(x.Addr); ok && k.appended {
				w.links[link{field: name, elements: true}] = true
			}
			return !w.through(x.Addr) || !w.leads(x.Addr, owner, x, depth)
		case *ssa.Return:
			return false // where a caller puts it, the link has another value
		}
		return true
	})
}

// copiedTo lists the stores of whole structs in a local variable.
func copiedTo(v *ssa.Alloc) (list []*ssa.Store) {
	for _, ref := range *v.Referrers() {
		if st, ok := ref.(*ssa.Store); ok && st.Addr == ssa.Value(v) && !v.Heap {
			list = append(list, st)
		}
	}
	return list
}
