package ownership_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

func TestFacts(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), ownership.Analyzer, "facts")
}
