package guardedby_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/guardedby"
)

// Each folder of testdata/src is one language feature or one way to be wrong.
func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), guardedby.Analyzer,
		"basic", "helpers", "owned", "closures", "generics", "rwmutex",
		"annotated", "user", "outlives", "roles", "ignored", "command", "wrapper", "writers",
		"starts", "setup", "owner", "apart")
}

func TestFacts(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), guardedby.Leads, "facts")
}
