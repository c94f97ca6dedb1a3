package parallel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/internal/passtest"
	"github.com/interlock-go/interlock/analyzers/pass/parallel"
)

// Each function of features is one way to order accesses, or not to.
func TestFeatures(t *testing.T) {
	passtest.Run(t, parallel.Analyzer, racesAt, "features")
}

// racesAt prints how the accesses of goroutines that the line makes race.
func racesAt(l *passtest.Line) string {
	var list []string
	for _, r := range passtest.Result[[]*parallel.Race](l, parallel.Analyzer) {
		if !l.Has(r.Inside.Instr.Pos()) {
			continue
		}
		with := "starter"
		switch {
		case r.Itself():
			with = "itself"
		case r.Second != nil:
			with = "sibling"
		}
		list = append(list, fmt.Sprintf("%s %s with %s %s", r.Inside.Place.Path, r.Inside.Mode, with, r.Other.Mode))
	}
	if list == nil {
		return "ordered"
	}
	return strings.Join(list, ", ")
}
