package lockgraph

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/crosspkg"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/scope"
)

// flows collects which types flow to fields and parameters of interface type,
// which functions flow to those of function type, and from which of these to which
// others, as far as calls through them may take locks. Results, and values in
// tests, are not followed.
type flows struct {
	*collector
	seen    map[crosspkg.Flow]bool
	methods map[[2]string][]crosspkg.Taken // by type and name, as far as they were looked at
}

func (c *collector) findFlows() {
	f := &flows{c, map[crosspkg.Flow]bool{}, map[[2]string][]crosspkg.Taken{}}
	for _, fn := range c.prog.Funcs {
		if !c.prog.InTest(fn) {
			f.function(fn)
		}
	}
	slices.SortFunc(c.result.Flows, func(a, b crosspkg.Flow) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From), cmp.Compare(a.Type, b.Type))
	})
	slices.SortFunc(c.result.Methods, func(a, b crosspkg.Method) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name))
	})
}

func (f *flows) function(fn *ssa.Function) {
	for instr := range ir.Instructions(fn) {
		switch instr := instr.(type) {
		case *ssa.Store:
			if lockset.Carried(instr.Val.Type()) {
				f.addFlow(holder(instr.Addr), instr.Val)
			}
		case *ssa.MapUpdate:
			if lockset.Carried(instr.Value.Type()) {
				f.addFlow(lockset.NodeOf(instr.Map), instr.Value)
			}
		case ssa.CallInstruction:
			fn, args := callgraph.Target(instr.Common())
			if fn == nil || !(scope.Unit{Path: ir.PackagePath(fn)}).In() {
				continue // which hands nothing on that is known
			}
			for i, a := range args {
				if lockset.Carried(a.Type()) {
					f.addFlow(lockset.ParamNode(fn, i), a)
				}
			}
		}
	}
}

// holder names the field or package variable in which a store at addr puts a
// value, itself or as an element that is appended.
func holder(addr ssa.Value) string {
	if name, ok := accesspath.NameOf(addr); ok {
		return name.String()
	}
	at, ok := addr.(*ssa.IndexAddr)
	if !ok {
		return ""
	}
	if extra, ok := at.X.(*ssa.Alloc); ok { // the arguments of append
		return appendedTo(extra)
	}
	return lockset.NodeOf(at.X)
}

func appendedTo(extra *ssa.Alloc) string {
	for _, ref := range *extra.Referrers() {
		s, ok := ref.(*ssa.Slice)
		if !ok {
			continue
		}
		for _, use := range *s.Referrers() {
			call, ok := use.(*ssa.Call)
			if !ok {
				continue
			}
			if b, ok := call.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
				return lockset.NodeOf(call.Call.Args[0])
			}
		}
	}
	return ""
}

// addFlow notes that v, an interface or a function, flows to the node, if that has a name.
func (f *flows) addFlow(node string, v ssa.Value) {
	if node == "" {
		return
	}
	for _, from := range sources(v, nil) {
		flow := crosspkg.Flow{To: node}
		switch typ, made := f.made(from, v.Type()); {
		case made && typ == "":
			continue
		case made:
			flow.Type = typ
		default:
			if flow.From = lockset.NodeOf(from); flow.From == "" || flow.From == node {
				continue
			}
		}
		if !f.seen[flow] {
			f.seen[flow] = true
			f.result.Flows = append(f.result.Flows, flow)
		}
	}
}

// made names the type of which v, of type t, is made, or the function that it is: empty if no method of it takes locks.
func (f *flows) made(v ssa.Value, t types.Type) (typ string, ok bool) {
	switch v := v.(type) {
	case *ssa.MakeInterface:
		return f.implementation(v.X.Type(), t.Underlying().(*types.Interface)), true
	case *ssa.MakeClosure, *ssa.Function:
		if fn, _ := callgraph.Target(&ssa.CallCommon{Value: v}); fn != nil {
			return f.value(fn), true
		}
	}
	return "", false
}

// sources lists the values that v may be: through choices, conversions of
// interfaces and locals that are assigned once.
func sources(v ssa.Value, seen []ssa.Value) []ssa.Value {
	if slices.Contains(seen, v) || len(seen) > knowledge.SourcesFollowed {
		return nil
	}
	seen = append(seen[:len(seen):len(seen)], v)
	switch x := v.(type) {
	case *ssa.Phi:
		var list []ssa.Value
		for _, e := range x.Edges {
			list = append(list, sources(e, seen)...)
		}
		return list
	case *ssa.ChangeInterface:
		return sources(x.X, seen)
	case *ssa.ChangeType:
		return sources(x.X, seen)
	case *ssa.UnOp:
		if held, ok := accesspath.Cell(x.X); ok && x.Op == token.MUL {
			return sources(held, seen)
		}
	}
	return []ssa.Value{v}
}

// implementation names the type t, and notes which methods of the interface
// take locks there; empty if none does.
func (f *flows) implementation(t types.Type, iface *types.Interface) string {
	name, ms := types.TypeString(t, nil), types.NewMethodSet(t)
	takes := false
	for m := range iface.Methods() {
		var method *ssa.Function
		if sel := ms.Lookup(m.Pkg(), m.Name()); sel != nil {
			method = f.prog.Pkg.Prog.FuncValue(sel.Obj().(*types.Func).Origin())
		}
		takes = f.noteMethod(name, m.Name(), method) || takes
	}
	if !takes {
		return ""
	}
	return name
}

// value names the function fn, and notes which locks a call of it takes; empty if it takes none.
func (f *flows) value(fn *ssa.Function) string {
	name := fn.String()
	if !f.noteMethod(name, lockset.Called, fn) {
		return ""
	}
	return name
}

// noteMethod reports whether a method of a type may block on locks, and notes which. A nil method takes none.
func (f *flows) noteMethod(typ, name string, method *ssa.Function) bool {
	key := [2]string{typ, name}
	locks, known := f.methods[key]
	if !known {
		locks = f.takenBy(method)
		f.methods[key] = locks
		if len(locks) > 0 {
			f.result.Methods = append(f.result.Methods, crosspkg.Method{Type: typ, Name: name, Takes: locks})
		}
	}
	return len(locks) > 0
}

// takenBy lists the locks that the method may block on.
func (f *flows) takenBy(method *ssa.Function) []crosspkg.Taken {
	if method == nil {
		return nil
	}
	var list []crosspkg.Taken
	for _, a := range f.locks.MethodTakes(method) {
		list = append(list, crosspkg.Taken{Class: a.Class, Read: a.Read, Where: a.Where, Freed: a.Freed})
	}
	return list
}
