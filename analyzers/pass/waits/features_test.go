package waits_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/internal/passtest"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
)

// Each line of features has an operation that may wait for ever, or one like it that does not.
func TestFeatures(t *testing.T) { passtest.Run(t, waits.Analyzer, waitsAt, "features") }

// waitsAt lists the waits that begin in the line, with their codes and how many others hang with them.
func waitsAt(l *passtest.Line) string {
	var parts []string
	for _, w := range passtest.Result[*waits.Result](l, waits.Analyzer).Waits {
		if !l.Has(w.Pos) {
			continue
		}
		text := fmt.Sprintf("%s %s", w.Code, w.Mode)
		if len(w.Others) > 0 {
			text += fmt.Sprintf(" and %d more", len(w.Others))
		}
		parts = append(parts, text)
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
