package stationary_test

import (
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/pass/stationary"
)

// The packages are loaded once for all.
func Test(t *testing.T) {
	results := analysistest.Run(t, analysistest.TestData(), stationary.Analyzer,
		"basic", "generics", "exported", "exporteduse")
	of := map[string]*analysistest.Result{}
	for _, r := range results {
		of[r.Pass.Pkg.Path()] = r
	}
	t.Run("fields", func(t *testing.T) { fieldsOf(t, of["basic"], of["generics"]) })
	t.Run("unless", func(t *testing.T) { unless(t, of["exported"]) })
	t.Run("written", func(t *testing.T) { written(t, of["exporteduse"]) })
}

// fieldsOf demands that fields whose names begin with "still" are stationary, and the others are not.
func fieldsOf(t *testing.T, results ...*analysistest.Result) {
	for _, r := range results {
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

// Of exported fields, and those of types that others may copy over, the package
// knows whether it writes them itself.
func unless(t *testing.T, r *analysistest.Result) {
	fields, scope := r.Result.(*stationary.Fields), r.Pass.Pkg.Scope()
	written := fields.Written()
	for _, typeName := range scope.Names() {
		if _, ok := scope.Lookup(typeName).(*types.TypeName); !ok {
			continue
		}
		st, ok := scope.Lookup(typeName).Type().Underlying().(*types.Struct)
		if !ok {
			continue
		}
		for f := range st.Fields() {
			full := "exported." + typeName + "." + f.Name()
			want := strings.HasPrefix(strings.ToLower(f.Name()), "still")
			if name, ok := fields.Unless(f); ok != want || ok && name != full {
				t.Errorf("%s: Unless gives %q, %t, want %t", full, name, ok, want)
			}
			if slices.Contains(written, full) == want {
				t.Errorf("%s: written is %t, want %t", full, want, !want)
			}
			if fields.Has(f) {
				t.Errorf("%s is held for stationary whatever others do", full)
			}
		}
	}
}

// What another package writes has the name that it has at home.
func written(t *testing.T, r *analysistest.Result) {
	want := []string{"exported.Conf.StillName", "exported.Open.stillValue"}
	if got := r.Result.(*stationary.Fields).Written(); !slices.Equal(got, want) {
		t.Errorf("written %q, want %q", got, want)
	}
}
