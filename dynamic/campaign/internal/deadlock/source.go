package deadlock

import (
	"fmt"
	"go/types"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/operation"
)

// use is a use of a lock in the source, and the package that it is in.
type use struct {
	sites.LockUse
	in *sites.Package
}

// usesIn returns the uses of locks in packages, by their ids.
func usesIn(pkgs []*sites.Package) map[uint64]use {
	uses := map[uint64]use{}
	for _, p := range pkgs {
		for _, u := range sites.LockUses(p) {
			uses[u.ID] = use{u, p}
		}
	}
	return uses
}

// position is where the use begins.
func (u use) position() finding.Position {
	return finding.Position{File: u.Place.Filename, Line: u.Place.Line, Column: u.Place.Column}
}

// order is a key by which uses sort as the text has them.
func (u use) order() string {
	return fmt.Sprintf("%s:%09d:%09d", u.Place.Filename, u.Place.Line, u.Place.Column)
}

// expr is the lock as the source names it, with the embedded fields that lead to it.
func (u use) expr() string {
	if u.Through == "" {
		return types.ExprString(u.Selector.X)
	}
	return types.ExprString(u.Selector.X) + "." + u.Through
}

// variable is the lock in all instances. Its text is the class of the lock, as static checks name it.
func (u use) variable() finding.Variable {
	if u.Through != "" {
		of := u.in.Info.TypeOf(u.Selector.X)
		if ptr, ok := types.Unalias(of).Underlying().(*types.Pointer); ok {
			of = ptr.Elem()
		}
		if n, ok := types.Unalias(of).(*types.Named); ok && n.Obj().Pkg() != nil {
			return finding.Variable{Package: n.Obj().Pkg().Path(), Type: n.Obj().Name(), Name: u.Through, Kind: plan.KindField}
		}
	}
	op := operation.Operation{In: u.in, Operand: u.Selector.X}
	v := op.Variable(u.Function)
	if u.Through != "" {
		v.Name += "." + u.Through
	}
	return v
}

// class names the lock in all instances.
func (u use) class() string { return u.variable().String() }
