package callgraph

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// ownType is a type of the packages of which a value may be in an interface, with all its methods.
type ownType struct {
	set     *types.MethodSet
	methods map[string]*ssa.Function // that the packages declare, by name
}

// findTypes lists the types that the packages declare, and those that some function turns into an interface.
func (b *back) findTypes(all []*ssa.Function) []ownType {
	var list []ownType
	seen := map[string]bool{}
	add := func(t types.Type) {
		key := types.TypeString(t, nil)
		if seen[key] || types.IsInterface(t) {
			return
		}
		seen[key] = true
		if methods := b.methodsOf(t); len(methods) > 0 {
			list = append(list, ownType{methodSet(t), methods})
		}
	}
	for _, g := range b.graphs {
		scope := g.prog.Pkg.Pkg.Scope()
		for _, name := range scope.Names() {
			if tn, ok := scope.Lookup(name).(*types.TypeName); ok && !tn.IsAlias() {
				add(tn.Type())
			}
		}
	}
	for _, fn := range all {
		for instr := range ir.Instructions(fn) {
			if made, ok := instr.(*ssa.MakeInterface); ok {
				add(made.X.Type())
			}
		}
	}
	return list
}

// methodSet returns the methods of a type, and of pointers to it.
func methodSet(t types.Type) *types.MethodSet {
	if _, isPointer := types.Unalias(t).(*types.Pointer); !isPointer {
		t = types.NewPointer(t)
	}
	return types.NewMethodSet(t)
}

// methodsOf returns those that the packages declare, embedded ones too.
func (b *back) methodsOf(t types.Type) map[string]*ssa.Function {
	methods := map[string]*ssa.Function{}
	set := methodSet(t)
	for i := range set.Len() {
		m := set.At(i).Obj().(*types.Func)
		if own := b.declared[m.Origin().FullName()]; own != nil {
			methods[m.Name()] = own
		}
	}
	return methods
}

// candidates lists the methods that an asker may call of a value of the interface type t, behind which any type may be.
func (b *back) candidates(t *types.Interface, by asker) []*ssa.Function {
	key := text(t) + by.path + by.names
	if by.any {
		key += "*"
	}
	if list, known := b.fitting[key]; known {
		return list
	}
	var list []*ssa.Function
	for _, own := range b.types {
		if !own.fits(t) {
			continue
		}
		for name, fn := range own.methods {
			if by.calls(name, fn) && !slices.Contains(list, fn) {
				list = append(list, fn)
			}
		}
	}
	b.fitting[key] = list
	return list
}

// fits reports whether a type has the methods of an interface, by their signatures as texts.
func (o ownType) fits(t *types.Interface) bool {
	for m := range t.Methods() {
		has := o.set.Lookup(m.Pkg(), m.Name())
		if has == nil { // a package has a different identity in each program
			has = lookUpText(o.set, m)
		}
		if has == nil || !isCalledAs(has.Type().(*types.Signature), m.Signature()) {
			return false
		}
	}
	return true
}

// lookUpText returns the method that is not exported of a package with the same path.
func lookUpText(set *types.MethodSet, m *types.Func) *types.Selection {
	for i := range set.Len() {
		if has := set.At(i).Obj(); !m.Exported() && has.Name() == m.Name() && has.Pkg().Path() == m.Pkg().Path() {
			return set.At(i)
		}
	}
	return nil
}

// isCalledAs reports whether functions of two signatures may be called as each other.
func isCalledAs(a, b *types.Signature) bool {
	one, other := signatures(a), signatures(b)
	return one[0] == other[0] || one[1] == other[1] && (isGenericKey(one) || isGenericKey(other))
}
