package callgraph_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
)

func TestFacts(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), callgraph.Analyzer, "facts")
}
