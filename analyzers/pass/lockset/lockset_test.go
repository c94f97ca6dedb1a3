package lockset_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

func TestFacts(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), lockset.Analyzer, "facts", "importer")
}
