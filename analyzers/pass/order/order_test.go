package order_test

import (
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

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
func operationsAt(l *passtest.Line) (text string) {
	var list []string
	for instr := range ir.Instructions(l.Fn) {
		if o, ok := order.Find(instr, order.Close|order.Done); ok && isGo(instr) && l.Has(o.Pos) {
			defer func() { text += "; " + o.Kind.String() + " " + accesspath.Of(o.On).String() }()
		}
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

func isGo(instr ssa.Instruction) bool {
	_, ok := instr.(*ssa.Go)
	return ok
}
