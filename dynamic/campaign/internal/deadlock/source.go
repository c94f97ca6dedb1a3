package deadlock

import (
	"fmt"
	"go/types"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/operation"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// use is a use of a lock in the source, and the package that it is in.
type use struct {
	sites.LockUse
	in *sites.Package
}

// usesIn returns the uses of locks in packages, by their ids.
func usesIn(pkgs []*sites.Package) map[uint64]use {
	uses := map[uint64]use{}
	for p, all := range sites.LockUses(pkgs) {
		for _, u := range all {
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
			return finding.Variable{
				Package: n.Obj().Pkg().Path(), Type: finding.TypeName(n.Obj()), Name: u.Through, Kind: plan.KindField,
			}
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

// Nested is a lock that a goroutine acquires while it holds another, by the lines of the two calls.
type Nested struct {
	GID          int64
	Holds, Wants finding.Position
	Stack        string // at the second, as runtime.Stack prints it
}

// Order returns the record of a circle of acquisitions that nothing orders; ok is false where the source does not
// have them all.
func (s *Seen) Order(run Run, circle []Nested) (r *evidence.Record, ok bool) {
	r = &evidence.Record{Kind: evidence.Order, Run: run.N, Seed: run.Seed, Met: true}
	for _, n := range circle {
		holds, ok1 := s.acquiredAt(n.Holds)
		wants, ok2 := s.acquiredAt(n.Wants)
		if !ok1 || !ok2 {
			return nil, false
		}
		r.Locks = append(r.Locks, evidence.LockStep{GID: n.GID, Holds: holds, Wants: wants, Stack: n.Stack})
	}
	return r, true
}

// acquiredAt returns the one acquisition in a line.
func (s *Seen) acquiredAt(at finding.Position) (site evidence.LockSite, ok bool) {
	for id, u := range s.all() {
		method := u.Selector.Sel.Name
		if u.Place.Filename != at.File || u.Place.Line != at.Line || method != "Lock" && method != "RLock" {
			continue
		}
		if ok {
			return site, false
		}
		site, ok = evidence.LockSite{Site: id, Reads: method == "RLock"}, true
	}
	return site, ok
}
