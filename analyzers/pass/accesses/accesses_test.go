package accesses_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/pass/accesses"
)

func TestTouches(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), accesses.Analyzer, "touches")
}
