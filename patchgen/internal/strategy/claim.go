package strategy

import (
	"fmt"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/lockfacts"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// Claim is what a patch that takes a lock promises: every access of the
// variable but those left alone happens under the lock.
type Claim struct {
	Variable *source.Variable
	class    string // of the lock; localClass and its name for a local
	left     int
}

// Check looks whether the patched module keeps the promise. It finds the
// variable there anew and uses nothing of how the patch was made.
func (cl *Claim) Check(patched *lockfacts.Facts) error {
	t := patched.Module.SameVariable(cl.Variable)
	if t == nil {
		return fmt.Errorf("%s is not there any more", cl.Variable)
	}
	p := &Problem{Module: patched.Module, Facts: patched, Variable: t, Accesses: patched.Module.Accesses(t)}
	var open []*source.Access
	for _, a := range p.protectable() {
		if !cl.holds(patched.At(a.Function, a.Expr).Must, a.Mode.Writes()) {
			open = append(open, a)
		}
	}
	if len(open) > cl.left {
		return fmt.Errorf("%s is accessed without %s: %s", t, source.Short(cl.class), source.Places(open))
	}
	return nil
}

func (cl *Claim) holds(held lockfacts.Holds, writes bool) bool {
	for key, h := range held {
		if writes && h.Read {
			continue
		}
		name, isLocal := strings.CutPrefix(cl.class, source.LocalClass)
		if h.Class == cl.class || isLocal && strings.HasPrefix(key, strings.SplitAfter(name, "@")[0]) {
			return true
		}
	}
	return false
}
