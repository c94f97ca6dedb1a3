package lockorder

import (
	_ "embed"
	"fmt"
	"go/token"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/crosspkg"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/lockgraph"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
)

//go:embed doc.go
var doc string

// Analyzer reports the lock-order cycles within a package.
var Analyzer = check.New("lockorder", finding.LockCycle, doc, run, lockgraph.Analyzer, waits.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	list := pass.ResultOf[lockgraph.Analyzer].(*lockgraph.Result)
	for _, f := range crosspkg.Cycles(list.Locks) {
		at := list.Place(f.Cycle[0].Position)
		var notes []check.Note
		for _, e := range f.Cycle[1:] {
			text := fmt.Sprintf("%s takes %s here while it holds %s", e.Function, e.To, e.From)
			notes = append(notes, check.Note{Pos: list.Place(e.Position), Text: text})
		}
		r.ReportAt(f, token.Pos(at), notes...)
	}
	r.ReportWaits(pass.ResultOf[waits.Analyzer].(*waits.Result))
}
