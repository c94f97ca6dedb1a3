package callers_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/pass/callers"
)

func TestFacts(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), callers.Analyzer, "facts")
}
