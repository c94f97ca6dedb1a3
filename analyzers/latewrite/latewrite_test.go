package latewrite_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/latewrite"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), latewrite.Analyzer, "publish", "lazy", "flags", "generics", "closures", "cross", "crossuse")
}
