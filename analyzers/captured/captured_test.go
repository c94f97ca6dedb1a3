package captured_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/captured"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), captured.Analyzer, "basic", "loops", "generics", "closures", "cross",
		"crossuse", "siblings", "tests")
}
