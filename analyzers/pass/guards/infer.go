package guards

import (
	"go/ast"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/crosspkg"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
)

// guard is a lock that is held to guard a variable, and why.
type guard struct {
	text    string // "c.mu" as the first guarded access writes it
	near    bool   // it lies in an object that the variable lies in, too, or is a package variable
	with    []*accesses.Access
	without []*accesses.Access
	count   string // the evidence in numbers
}

// guardOf finds the guard of v by annotation, or by inference from the
// accesses of the package; nil if none is evident.
func (c *checker) guardOf(v *accesses.Variable) *guard {
	lock, isAnnotated := c.annotations[v.Accesses[0].Obj]
	if !isAnnotated && !slices.ContainsFunc(v.Accesses, holdsLock) {
		return nil
	}
	// The evidence is judged by the rule for all packages together.
	known := map[*crosspkg.Access]*accesses.Access{}
	var evidence []*crosspkg.Access
	for _, a := range v.Accesses {
		e := c.list.Evidence(a)
		known[e] = a
		evidence = append(evidence, e)
	}
	found := crosspkg.Infer(evidence)
	if isAnnotated {
		found = annotated(evidence, known, lock)
	}
	if found == nil {
		return nil
	}
	found.Others = countOthers(v, found, known)
	// Back to the accesses of this package.
	g := &guard{text: found.Name, near: found.Near(), count: found.Count()}
	if isAnnotated {
		g.count += "; an annotation names it"
	}
	for _, e := range found.With {
		g.with = append(g.with, known[e])
	}
	for _, e := range found.Without {
		g.without = append(g.without, known[e])
	}
	return g
}

// countOthers returns how many expressions access v and are not among those that the guard was found by: an access
// with a caller that may hold the lock, as in a function literal, one to a new object, and one that a comment excuses.
func countOthers(v *accesses.Variable, g *crosspkg.Guard, known map[*crosspkg.Access]*accesses.Access) int {
	counted := map[ast.Expr]bool{}
	for _, e := range slices.Concat(g.With, g.Without, g.Bare) {
		counted[known[e].Expr] = true
	}
	n := 0
	for _, a := range slices.Concat(v.Accesses, v.Excused) {
		if !counted[a.Expr] {
			counted[a.Expr] = true
			n++
		}
	}
	return n
}

func holdsLock(a *accesses.Access) bool { return len(a.Locks.Held()) > 0 }

// verdict on one access and one lock.
type verdict int

const (
	without verdict = iota
	with
	unclear // a caller may hold it, or its read side is held
)

// annotated judges the accesses by the lock that an annotation names.
func annotated(evidence []*crosspkg.Access, known map[*crosspkg.Access]*accesses.Access, lock string) *crosspkg.Guard {
	g := &crosspkg.Guard{Name: lock}
	for _, e := range evidence {
		switch heldByPath(known[e], lock) {
		case with:
			g.With = append(g.With, e)
		case without:
			if !e.Exempt {
				g.Without = append(g.Without, e)
			}
		}
	}
	return g
}

func heldByPath(a *accesses.Access, lock string) verdict {
	want := guardPath(a, lock)
	if h, ok := a.Locks.Has(want); ok {
		if h.Read && a.Mode == finding.Write {
			return unclear // a class of its own
		}
		return with
	}
	if a.Locks.Unknown || a.Locks.MayHold(want) {
		return unclear
	}
	return without
}

// guardPath returns the path of the annotated lock for the object of a.
func guardPath(a *accesses.Access, lock string) accesspath.Path {
	if g, ok := a.Addr.(*ssa.Global); ok {
		if l, ok := g.Pkg.Members[lock].(*ssa.Global); ok {
			return accesspath.Path{Root: l}
		}
	}
	return a.Path.Owner().Plus("." + lock)
}

// WorthTrying reports whether a lock that so many of all accesses of a variable hold may be the
// one that a patch has to take at the others.
func WorthTrying(held, all int) bool { return float64(held) >= knowledge.TriedShare*float64(all) }
