package doublelock

import (
	_ "embed"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
)

//go:embed doc.go
var doc string

// Analyzer reports second Locks of held mutexes.
var Analyzer = check.New("doublelock", finding.DoubleLock, doc, run, ir.Analyzer, lockset.Analyzer,
	waits.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	prog := pass.ResultOf[ir.Analyzer].(*ir.Program)
	for _, a := range pass.ResultOf[lockset.Analyzer].(*lockset.Result).Relocks() {
		if !a.First.Read {
			r.ReportRelock(prog, a, finding.Suspected, "is locked again by the goroutine that holds it",
				"It waits for itself forever, and so does every later Lock.")
		}
	}
	r.ReportWaits(pass.ResultOf[waits.Analyzer].(*waits.Result))
}
