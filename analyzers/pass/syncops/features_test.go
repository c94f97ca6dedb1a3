package syncops_test

import (
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/internal/passtest"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
)

// Each function of features is one way to use a channel or a WaitGroup.
func TestFeatures(t *testing.T) {
	passtest.Run(t, syncops.Analyzer, opsAt, "features")
}

// opsAt lists the operations of the line.
func opsAt(l *passtest.Line) string {
	list := passtest.Result[*syncops.List](l, syncops.Analyzer)
	var parts []string
	for _, op := range list.All {
		if !l.Has(op.Pos) {
			continue
		}
		name := op.Key.Name.Short()
		if op.Key.Path.Root != nil {
			name = "local " + op.Key.Path.String()
		}
		text := string(op.Mode) + " " + name
		switch {
		case op.Polls:
			text += ", or default"
		case op.Alone:
			text += " alone"
		}
		if list.Unbuffered[op.Key] {
			text += ", unbuffered"
		}
		for _, h := range op.Locks.Held() {
			text += " under " + h.String()
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, "; ")
}
