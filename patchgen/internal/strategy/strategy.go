package strategy

import (
	"errors"
	"fmt"
	"go/ast"
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
	{Name: "mutex", build: mutex},
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
		out, err := s.build(p)
		if err == nil && len(out.Files) == 0 && !p.Patched {
			err = errors.New("nothing to change")
		}
		if err != nil {
			return nil, err
		}
		for _, other := range p.Variable.Others {
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
}

// claim returns what a patch of the variable promises: the kind, the class of
// the lock or the sync.Once if there is one, and how many reads are left as they
// were.
func (p *Problem) claim(kind validate.Kind, class string, left int) validate.Claim {
	v := p.Variable
	c := validate.Claim{Kind: kind, Lock: class, Left: left,
		Variable: validate.Variable{Package: v.Object.Pkg().Path(), Name: v.Name}}
	if _, isLocal := strings.CutPrefix(class, source.LocalClass); isLocal {
		c.Lock = source.Short(class)
	}
	if v.Owner != nil {
		c.Variable.Type = finding.TypeName(v.Owner.Obj())
	}
	if v.Function != nil {
		c.Variable.Func, c.Variable.Nth = v.Place()
	}
	return c
}
