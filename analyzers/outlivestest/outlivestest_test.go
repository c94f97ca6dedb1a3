package outlivestest_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/outlivestest"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), outlivestest.Analyzer, "late")
}
