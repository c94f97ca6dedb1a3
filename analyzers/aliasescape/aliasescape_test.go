package aliasescape_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/aliasescape"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), aliasescape.Analyzer, "basic", "generics", "queue", "shard", "closures",
		"cross", "crossuse")
}
