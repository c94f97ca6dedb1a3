package readlock_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/readlock"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), readlock.Analyzer, "basic", "generics", "user")
}
