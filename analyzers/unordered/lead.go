package unordered

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/syncapi"
)

// reportShared reports, as leads, fields that two functions access without a lock in common, where no two goroutines
// are seen to call them, and the declaration alone shows that goroutines share the variable:
//
//	func (s *Stream) SetDeadline(t time.Time) { s.deadline = t }
//	func (s *Stream) Read(b []byte) { wait(s.deadline); … }
//
// Variables for which a guard is believed are left to IL1001.
func (c *checker) reportShared(
	list *accesses.List, guarded map[accesspath.Name]bool, reported map[finding.Variable]bool,
) {
	known, left := sharedTypes{}, mostLeads
	for _, v := range list.Guardable() {
		if left == 0 || v.Atomic || guarded[v.Name] || !known.showSharing(v) {
			continue
		}
		if w, a, ok := meeting(list, v); ok && !reported[w.Variable()] {
			reported[w.Variable()] = true
			left--
			c.reporter.Report(&finding.Finding{
				Status: finding.Lead,
				Class:  string(finding.Unordered) + finding.SharedType,
				Title:  v.Name.Short() + " is accessed by two functions without a lock in common",
				Message: fmt.Sprintf("%s %s it, and %s %s it. No two goroutines are seen to call them, but "+
					describeSharing(w)+".", list.Prog.FuncName(w.Fn), pastMode(w.Mode), list.Prog.FuncName(a.Fn),
					pastMode(a.Mode)),
				Variable: w.Variable(),
				Accesses: []finding.Access{list.Side(w), list.Side(a)},
			}, w.Expr, a.Expr, "used here", []ast.Expr{w.Expr, a.Expr})
		}
	}
}

func describeSharing(a *accesses.Access) string {
	if _, isGlobal := a.Addr.(*ssa.Global); isGlobal {
		return "all goroutines share a package variable"
	}
	return "its type has what goroutines share objects by"
}

func pastMode(m finding.Mode) string {
	if m == finding.Read {
		return "reads"
	}
	return "writes"
}

// sharedTypes remembers which structs have a lock, an atomic or the like in them.
type sharedTypes map[*types.Struct]bool

// showSharing reports whether goroutines share the variable by what its declaration shows: it is a plain package
// variable, or a plain field of a struct that has a lock, an atomic or the like in it, or of one within such a struct.
func (t sharedTypes) showSharing(v *accesses.Variable) bool {
	return slices.ContainsFunc(v.Accesses, func(a *accesses.Access) bool {
		switch addr := a.Addr.(type) {
		case *ssa.Global:
			return !synchronises(ir.Pointee(addr.Type()))
		case *ssa.FieldAddr:
			return !synchronises(accesspath.FieldOf(addr).Type()) && t.isBesideSync(addr)
		}
		return false
	})
}

func (t sharedTypes) isBesideSync(addr *ssa.FieldAddr) bool {
	s, ok := ir.Pointee(addr.X.Type()).Underlying().(*types.Struct)
	if !ok {
		return false
	}
	has, known := t[s]
	if !known {
		has = slices.ContainsFunc(slices.Collect(s.Fields()), func(f *types.Var) bool { return synchronises(f.Type()) })
		t[s] = has
	}
	holder, isInside := addr.X.(*ssa.FieldAddr)
	return has || isInside && t.isBesideSync(holder)
}

// synchronises reports whether t is a lock, or of package sync or sync/atomic. A type without a size that has the
// methods of a lock is there for go vet, which then finds its copies.
func synchronises(t types.Type) bool {
	s, isStruct := t.Underlying().(*types.Struct)
	return syncapi.Type(ir.Pointee(t)) != "" || lockset.IsLock(t) && !(isStruct && s.NumFields() == 0)
}

// mostLeads is how many such leads a package has: one with more says little of each.
const mostLeads = 100

// mostPairs is how many pairs of accesses to one variable are compared, so that the cost stays linear. A lead that
// needs more is missed.
const mostPairs = 256

// meeting returns a write of the variable, and an access of another function that several goroutines may make at the
// same time, as far as is known.
func meeting(list *accesses.List, v *accesses.Variable) (w, a *accesses.Access, ok bool) {
	left := mostPairs
	for _, w := range v.Accesses {
		if !w.Writes() || w.Renews() || w.SetsUp() || knowledge.StartsUp(ir.Outermost(w.Fn).Name()) {
			continue
		}
		for _, a := range v.Accesses {
			if left--; left < 0 {
				return nil, nil, false
			}
			if ir.Outermost(a.Fn) != ir.Outermost(w.Fn) && !a.SetsUp() && !a.Renews() && accesses.MaySame(w, a) &&
				!accesses.MayCommonLock(w, a) && !accesses.MayCommonLock(a, w) && list.Parallel(w, a) &&
				list.Meet(w.Place(), a.Place(), true) {
				return w, a, true
			}
		}
	}
	return nil, nil, false
}
