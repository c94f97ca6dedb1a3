package stationary_test

import (
	"go/types"
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/stationary"
)

// Fields whose names begin with "still" are stationary, the others are not.
func Test(t *testing.T) {
	for _, r := range analysistest.Run(t, analysistest.TestData(), stationary.Analyzer, "basic", "generics") {
		fields := r.Result.(*stationary.Fields)
		scope := r.Pass.Pkg.Scope()
		n := 0
		for _, name := range scope.Names() {
			st, ok := scope.Lookup(name).Type().Underlying().(*types.Struct)
			if !ok {
				continue
			}
			for f := range st.Fields() {
				n++
				if want := len(f.Name()) > 5 && f.Name()[:5] == "still"; fields.Has(f) != want {
					t.Errorf("%s: %s.%s: stationary is %t, want %t", r.Pass.Pkg.Path(), name, f.Name(), !want, want)
				}
			}
		}
		if n == 0 {
			t.Errorf("%s has no fields: %v", r.Pass.Pkg.Path(), slices.Collect(slices.Values(scope.Names())))
		}
	}
}
