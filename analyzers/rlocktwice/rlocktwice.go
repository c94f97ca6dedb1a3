package rlocktwice

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

// Analyzer reports read locks that are upgraded or taken again.
var Analyzer = check.New("rlocktwice", finding.ReadLockAgain, doc, run, ir.Analyzer, lockset.Analyzer,
	waits.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	prog := pass.ResultOf[ir.Analyzer].(*ir.Program)
	locks := pass.ResultOf[lockset.Analyzer].(*lockset.Result)
	written := locks.Written()
	for _, a := range locks.Relocks() {
		switch {
		case !a.First.Read: // IL3002
		case !a.To.Read:
			r.ReportRelock(prog, a, "is locked for writing by the goroutine that holds its read lock",
				"The writer waits for all readers, and so for itself, forever.")
		case written[a.First.Class]:
			r.ReportRelock(prog, a, "is read-locked again by the goroutine that holds its read lock",
				"If a writer calls Lock in between, the second RLock queues behind the writer, and the writer behind "+
					"the first: both wait forever.")
		}
	}
	r.ReportWaits(pass.ResultOf[waits.Analyzer].(*waits.Result))
}
