package accesspath_test

import (
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/passtest"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Each function of features is one way to reach a variable.
func TestFeatures(t *testing.T) {
	passtest.Run(t, ir.Analyzer, pathAt, "features")
}

// pathAt prints the path of the last location that the line stores into, and
// the name of its variable.
func pathAt(l *passtest.Line) string {
	text := "no store"
	for _, instr := range l.Instrs {
		if st, ok := instr.(*ssa.Store); ok {
			text = "no path"
			if p := accesspath.Of(st.Addr); p.Root != nil {
				text = p.String()
			}
			if name, ok := accesspath.NameOf(st.Addr); ok {
				text += " of " + name.Short()
			}
		}
	}
	return text
}
