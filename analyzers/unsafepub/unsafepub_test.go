package unsafepub_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/unsafepub"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), unsafepub.Analyzer, "publish", "lazy", "flags", "generics", "closures",
		"listed", "cross", "crossuse")
}
