package mixedlocks_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/mixedlocks"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), mixedlocks.Analyzer, "basic", "generics", "perhaps", "user")
}
