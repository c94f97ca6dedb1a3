package testuse_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/interlock-go/interlock/analyzers/testuse"
)

func Test(t *testing.T) {
	analysistest.Run(diagnostics{t}, analysistest.TestData(), testuse.Analyzer,
		"basic", "lengths", "nils", "callee", "lib", "generic", "closure", "atomics", "flags", "owner", "again")
}

// diagnostics leaves out facts that nobody expects: nearly every function has
// one. What they are for is tested by what package lib finds.
type diagnostics struct{ *testing.T }

func (d diagnostics) Errorf(format string, args ...any) {
	if !strings.Contains(fmt.Sprintf(format, args...), "unexpected fact: ") {
		d.T.Errorf(format, args...)
	}
}
