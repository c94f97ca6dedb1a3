package waitgroupadd_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/waitgroupadd"
)

// Each folder of testdata/src is one language feature or one way to be wrong.
func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), waitgroupadd.Analyzer, "basic", "late", "beside", "generics", "closures",
		"cross", "crossuse", "ordered")
}
