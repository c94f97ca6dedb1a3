package outlivestest

import (
	_ "embed"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
)

//go:embed doc.go
var doc string

// Analyzer reports goroutines that use a test after its end.
var Analyzer = check.New("outlivestest", finding.OutlivesTest, doc, run, waits.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	r.ReportWaits(pass.ResultOf[waits.Analyzer].(*waits.Result))
}
