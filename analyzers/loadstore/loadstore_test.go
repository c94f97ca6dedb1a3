package loadstore_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/loadstore"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), loadstore.Analyzer, "basic", "signals", "split", "atomics", "calls",
		"version", "phases", "command")
}
