package guards_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/pass/guards"
)

func TestAnnotations(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), guards.Annotations, "facts")
}
