package strategy

import (
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

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
		c.Variable.Type = v.Owner.Obj().Name()
	}
	if v.Function != nil {
		c.Variable.Func, c.Variable.Nth = v.Place()
	}
	return c
}
