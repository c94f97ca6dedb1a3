package atomicmix_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/atomicmix"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), atomicmix.Analyzer, "basic", "generics", "pointees", "setup", "copies",
		"closures", "wholes", "elements", "cross", "crossuse")
}
