package lockset_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/passtest"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// Each file of features is one language feature.
func TestFeatures(t *testing.T) {
	passtest.Run(t, lockset.Analyzer, heldAt, "features")
}

// heldAt prints which locks are held before the line: surely, maybe, or
// perhaps by a caller.
func heldAt(l *passtest.Line) string {
	text := "not reached"
	passtest.Result[*lockset.Result](l, lockset.Analyzer).Walk(l.Fn, func(instr ssa.Instruction, s *lockset.State) {
		if len(l.Instrs) == 0 || instr != l.Instrs[0] {
			return
		}
		var parts []string
		surely := map[string]bool{}
		for _, h := range slices.Concat(s.Held(), s.Turns()) {
			parts = append(parts, h.String())
			surely[h.Class] = true
		}
		slices.Sort(parts)
		for _, class := range s.MayHoldClasses() {
			if !surely[class] {
				parts = append(parts, "maybe "+strings.TrimPrefix(class, "features."))
			}
		}
		if s.Unknown {
			parts = append(parts, "perhaps more")
		}
		text = strings.Join(parts, ", ")
	})
	if text == "" {
		return "none"
	}
	return text
}
