package unordered_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/unordered"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), unordered.Analyzer, "basic", "generics", "ordered", "tests")
}
