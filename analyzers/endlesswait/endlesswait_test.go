package endlesswait_test

import (
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/endlesswait"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/levels"
)

// Each folder of testdata/src is one language feature or one way to be wrong.
func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), endlesswait.Analyzer, "channels", "loops", "crowds", "groups", "conds",
		"contexts", "kernels", "tested", "asserts")
}

// A wait of the last goroutine, once the function that has started it has returned, is of a class of its own.
func TestLeftBehind(t *testing.T) {
	for _, r := range analysistest.Run(t, analysistest.TestData(), endlesswait.Analyzer, "leftbehind") {
		for _, f := range r.Result.(*check.Result).Findings {
			function := f.Accesses[0].Function
			last := strings.HasSuffix(levels.Name(f), finding.LeftBehind)
			if last != strings.HasPrefix(function, "last") {
				t.Errorf("the wait of %s is of class %q", function, levels.Name(f))
			}
		}
	}
}
