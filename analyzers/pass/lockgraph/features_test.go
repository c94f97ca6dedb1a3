package lockgraph_test

import (
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/internal/passtest"
	"github.com/interlock-go/interlock/analyzers/pass/lockgraph"
)

// Each function of features is one way to take a lock under another.
func TestFeatures(t *testing.T) {
	passtest.Run(t, lockgraph.Analyzer, ordersAt, "features")
}

// ordersAt lists the orders that the line makes.
func ordersAt(l *passtest.Line) string {
	r := passtest.Result[*lockgraph.Result](l, lockgraph.Analyzer)
	var parts []string
	for _, o := range r.Orders {
		if !l.Has(r.Place(o.Position)) {
			continue
		}
		text := o.From + " -> " + o.To
		if o.FromRead || o.ToRead {
			text += " (read)"
		}
		for _, g := range o.Gates {
			text += " under " + g.Class
		}
		parts = append(parts, strings.ReplaceAll(text, "features.", ""))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
