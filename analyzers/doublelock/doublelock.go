package doublelock

import (
	_ "embed"
	"fmt"

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
	locks := pass.ResultOf[lockset.Analyzer].(*lockset.Result)
	for _, a := range locks.Relocks() {
		if a.First.Read {
			continue
		}
		// A mutex may be released by another goroutine: only where no function does so, the wait is surely endless.
		hangs := "It waits for itself forever, and so does every later Lock."
		if a.To.Where != "" { // behind conditions, perhaps
			hangs = "It would wait for itself forever, and so would every later Lock."
		}
		if other := locks.Releaser(a.Fn, a.First.Class); other != nil {
			hangs = fmt.Sprintf("It waits until another goroutine releases %s: %s does so without acquiring it.",
				a.First.Path, prog.FuncName(other))
		}
		r.ReportRelock(prog, a, finding.Suspected, "is locked again by the goroutine that holds it", hangs)
	}
	r.ReportWaits(pass.ResultOf[waits.Analyzer].(*waits.Result))
}
