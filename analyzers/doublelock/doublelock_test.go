package doublelock_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/doublelock"
)

// Each folder of testdata/src is one language feature or one way to be wrong.
func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), doublelock.Analyzer, "handsoff", "basic", "generics", "closures", "user",
		"scopes", "handed")
}
