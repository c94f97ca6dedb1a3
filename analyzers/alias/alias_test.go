package alias_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/alias"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), alias.Analyzer, "basic", "generics", "queue", "shard", "closures", "cross", "crossuse")
}
