package strategy

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// Strategy builds a candidate, or says why it does not apply.
type Strategy struct {
	Name  string
	build func(*Problem) (*Patch, error)
	// expand lists the strategies that stand for this one; nil if it stands for itself.
	expand func(*Problem) []Strategy
}

// All lists the strategies in the order in which they are tried: least intrusive first.
var All = []Strategy{
	{Name: "reorder", build: reorder},
	{Name: "copy", expand: copyLocal},
	{Name: "guard", expand: guardBy},
	{Name: "atomic", build: atomically},
	{Name: "once", build: once},
	{Name: "mutex", expand: newMutex},
}

// For lists the strategies for a variable, in the order in which they are tried.
func For(p *Problem) []Strategy {
	var list []Strategy
	for _, s := range All {
		if s.expand == nil {
			list = append(list, s)
		} else {
			list = append(list, s.expand(p)...)
		}
	}
	return list
}

// Try builds the patch of a strategy for a variable. A panic of the strategy is a reason like any other.
func Try(s Strategy, p *Problem) (*Patch, error) {
	return Fence(func() (*Patch, error) {
		p.doubts = nil
		if err := p.computedBeside(); err != nil {
			return nil, err
		}
		out, err := s.build(p)
		if err == nil && len(out.Files) == 0 && !p.Patched {
			err = errors.New("nothing to change")
		}
		if err != nil {
			return nil, err
		}
		out.Doubts = p.doubts
		for _, other := range p.Variable.Others {
			if slices.ContainsFunc(out.Claim.Also, func(v validate.Variable) bool {
				return v.Name == other[strings.LastIndexByte(other, '.')+1:]
			}) {
				continue
			}
			out.Notes = append(out.Notes, fmt.Sprintf("a finding names %s too, which this patch is not held to protect", other))
		}
		return out, nil
	})
}

// notMeant is the reason of a strategy that is for another kind of bug.
type notMeant struct{ error }

// NotMeant returns the reason of a strategy that is for another kind of bug: it is left out where others have one.
func NotMeant(format string, args ...any) error { return notMeant{fmt.Errorf(format, args...)} }

// IsNotMeant reports whether a reason was made by [NotMeant].
func IsNotMeant(err error) bool { return errors.As(err, new(notMeant)) }

// Fence turns a panic into a reason: a patch that cannot be built or judged must not stop the others.
func Fence[T any](work func() (T, error)) (out T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %v", r)
		}
	}()
	return work()
}

// selectorBase is the source of x in x.f, fit to be followed by a selector.
func selectorBase(file *source.File, base ast.Expr) string {
	if star, ok := ast.Unparen(base).(*ast.StarExpr); ok {
		return file.Text(star.X)
	}
	return file.Text(base)
}

// Patch is a candidate: new files, and what a reader should know.
type Patch struct {
	Files map[string][]byte
	Notes []string
	Claim validate.Claim
	// Assumes is what the patch relies on and no obligation shows: it is a draft for that; empty for none.
	Assumes string
	// Doubts are what the strategy could not show, where it was bold: see [Problem.Bold].
	Doubts []finding.Doubt
}

// claim returns what a patch of the variable promises: the kind, the class of
// the lock or the sync.Once if there is one, and how many reads are left as they
// were.
func (p *Problem) claim(kind validate.Kind, class string, left int) validate.Claim {
	c := validate.Claim{Kind: kind, Lock: class, Left: left, Variable: p.Claimed(),
		Within: p.Variable.Within}
	if _, isLocal := strings.CutPrefix(class, source.LocalClass); isLocal {
		c.Lock = source.Short(class)
	}
	return c
}

// claimAll is claim for a lock that covers the variables beside it too.
func (p *Problem) claimAll(class string, left int) validate.Claim {
	c := p.claim(validate.Guarded, class, left)
	for _, q := range p.beside() {
		c.Also = append(c.Also, q.Claimed())
	}
	return c
}

// all returns the problem, and those of the variables beside it that a lock has to cover too.
func (p *Problem) all() []*Problem { return append([]*Problem{p}, p.beside()...) }

// beside returns the variables to be covered too that lie beside the first, in its struct or package.
func (p *Problem) beside() (list []*Problem) {
	for _, q := range p.covered {
		v, w := p.Variable, q.Variable
		isGlobal := source.IsGlobal(v.Object) && source.IsGlobal(w.Object)
		if v.Key != w.Key && (isGlobal || source.SameNamed(v.Owner, w.Owner)) {
			list = append(list, q)
		}
	}
	return list
}

// Claimed returns the name of the variable that a patch protects.
func (p *Problem) Claimed() validate.Variable {
	v := p.Variable
	out := validate.Variable{Package: v.Object.Pkg().Path(), Name: v.Name}
	if v.Owner != nil {
		out.Type = finding.TypeName(v.Owner.Obj())
	}
	if v.Function != nil {
		out.Func, out.Nth = v.Place()
	}
	return out
}

// Cover has the strategies that take a lock cover another variable beside the first, if it lies beside it. For one that
// a run has shown to be raced for, so has the strategy atomic.
func (p *Problem) Cover(v validate.Variable, isRaced bool) {
	for _, q := range p.Module.Packages {
		for _, file := range q.Files {
			var found *Problem
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok || found != nil || id.Name != v.Name {
					return found == nil
				}
				e, obj := file.VariableOf(id)
				if obj == nil || file.Package.Info.Defs[id] != nil {
					return true
				}
				other := &Problem{Module: p.Module, Facts: p.Facts, Variable: p.Module.NewVariable(obj, file, e), isRaced: isRaced}
				if other.Variable.Function == nil && other.Claimed() == v {
					found = other
				}
				return true
			})
			if found == nil {
				continue
			}
			t := found.Variable
			t.Deep = source.IsMap(t.Object.Type()) || p.Module.MutatedInPlace(t)
			found.Accesses = p.Module.Accesses(t)
			p.covered = append(p.covered, found)
			return
		}
	}
}
