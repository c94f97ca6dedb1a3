package endlesswait

import (
	_ "embed"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
)

//go:embed doc.go
var doc string

// Analyzer reports waits on channels, WaitGroups and Conds that nobody may end.
var Analyzer = check.New("endlesswait", finding.EndlessWait, doc, run, waits.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	r.ReportWaits(pass.ResultOf[waits.Analyzer].(*waits.Result))
}
