package strategy

import (
	"errors"
	"fmt"
	"go/ast"

	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// Strategy builds a candidate, or says why it does not apply.
type Strategy struct {
	Name  string
	build func(*Problem) (*Patch, error)
}

// All lists the strategies in the order in which they are tried: least intrusive first.
var All = []Strategy{
	{"reorder", reorder},
	{"guard", guard},
	{"atomic", atomically},
	{"once", once},
	{"mutex", mutex},
}

// Try turns a panic of a strategy into a reason: a patch that cannot be
// built must not stop the others.
func Try(s Strategy, p *Problem) (out *Patch, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("internal error: %v", r)
		}
	}()
	if out, err = s.build(p); err == nil && len(out.Files) == 0 && !p.Patched {
		err = errors.New("nothing to change")
	}
	return out, err
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
