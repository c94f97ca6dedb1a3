package ownership_test

import (
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/passtest"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// Each function of features is one language feature.
func TestFeatures(t *testing.T) {
	passtest.Run(t, ownership.Analyzer, levelAt, "features")
}

// levelAt prints how far the object that the line stores into is known, and
// whether its function, or all callers, made it.
func levelAt(l *passtest.Line) string {
	r := passtest.Result[*ownership.Result](l, ownership.Analyzer)
	for _, instr := range l.Instrs {
		st, ok := instr.(*ssa.Store)
		if !ok {
			continue
		}
		fa, ok := st.Addr.(*ssa.FieldAddr)
		if !ok {
			return "no field"
		}
		text := map[ownership.Level]string{
			ownership.Fresh: "fresh", ownership.Handed: "handed", ownership.Shared: "shared",
		}[r.Of(fa.X, st)]
		switch {
		case r.Made(fa.X, st):
			text += ", made here"
		case r.MadeByCallers(fa.X, st):
			text += ", made by all callers"
		}
		return text
	}
	return "no store"
}
