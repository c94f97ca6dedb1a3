package accesses_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/internal/passtest"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
)

// Each function of features is one way to access a variable.
func TestFeatures(t *testing.T) {
	passtest.Run(t, accesses.Analyzer, accessesAt, "features")
}

// accessesAt lists the accesses of the line.
func accessesAt(l *passtest.Line) string {
	list := passtest.Result[*accesses.List](l, accesses.Analyzer)
	var parts []string
	for _, a := range slices.Concat(list.All, list.Implied) {
		if !l.Has(a.Instr.Pos()) && !l.Has(a.Expr.Pos()) {
			continue
		}
		text := string(a.Mode) + " " + a.Name.Short()
		switch {
		case a.Map:
			text += " as a map"
		case a.Elements:
			text += " elements"
		case len(a.Inner) > 0:
			text += " by a method"
		}
		if a.Update {
			text += " (update)"
		}
		if a.Implied {
			text = "[" + text + "]"
		}
		if a.Private {
			text += " privately"
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
