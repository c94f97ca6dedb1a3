package order_test

import (
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/internal/passtest"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
)

// Each line of features is one operation, or none.
func TestFeatures(t *testing.T) {
	passtest.Run(t, ir.Analyzer, operationsAt, "features")
}

// operationsAt prints the operations of the line.
func operationsAt(l *passtest.Line) string {
	var list []string
	for instr := range ir.Instructions(l.Fn) {
		for _, o := range order.Of(instr) {
			if !l.Has(o.Pos) {
				continue
			}
			text := o.Kind.String()
			if o.On != nil {
				text += " " + accesspath.Of(o.On).String()
			}
			if o.Alone {
				text += " alone"
			}
			if o.Polls {
				text += " polls"
			}
			list = append(list, text)
		}
	}
	if list == nil {
		return "none"
	}
	return strings.Join(list, ", ")
}
