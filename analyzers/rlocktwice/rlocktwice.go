package rlocktwice

import (
	_ "embed"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
)

//go:embed doc.go
var doc string

// Analyzer reports read locks that are upgraded or taken again.
var Analyzer = check.New("rlocktwice", finding.ReadLockAgain, doc, run, ir.Analyzer, lockset.Analyzer,
	accesses.Analyzer, waits.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	prog := pass.ResultOf[ir.Analyzer].(*ir.Program)
	locks := pass.ResultOf[lockset.Analyzer].(*lockset.Result)
	list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
	written := locks.Written()
	for _, a := range locks.Relocks() {
		switch {
		case !a.First.Read: // IL3002
		case !a.To.Read:
			r.ReportRelock(prog, a, finding.Suspected, "is locked for writing by the goroutine that holds its read lock",
				"The writer waits for all readers, and so for itself, forever.")
		case len(written[a.First.Class]) > 0:
			status := finding.Lead
			if mayBeAwaited(list, a, written[a.First.Class]) {
				status = finding.Suspected
			}
			r.ReportRelock(prog, a, status, "is read-locked again by the goroutine that holds its read lock",
				"If a writer calls Lock in between, the second RLock queues behind the writer, and the writer behind "+
					"the first: both wait forever.")
		}
	}
	r.ReportWaits(pass.ResultOf[waits.Analyzer].(*waits.Result))
}

// mayBeAwaited reports whether something shows that a writer may wait for the lock while a holds it.
func mayBeAwaited(list *accesses.List, a lockset.Relock, writers []lockset.Locking) bool {
	own := accesses.Place{Fn: a.Fn, Instr: a.Call, Root: a.First.Path.Root}
	return slices.ContainsFunc(writers, func(w lockset.Locking) bool {
		return list.Meet(own, accesses.Place{Fn: w.Fn, Instr: w.Call, Root: w.Path.Root}, true)
	})
}
