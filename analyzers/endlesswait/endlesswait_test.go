package endlesswait_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/endlesswait"
)

// Each folder of testdata/src is one language feature or one way to be wrong.
func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), endlesswait.Analyzer, "channels", "loops", "crowds", "groups", "conds",
		"contexts", "kernels", "tested", "asserts")
}
