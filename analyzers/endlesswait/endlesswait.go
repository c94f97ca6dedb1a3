package endlesswait

import (
	_ "embed"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
)

//go:embed doc.go
var doc string

// Analyzer reports waits on channels, WaitGroups and Conds that nobody may end.
var Analyzer = check.New("endlesswait", finding.EndlessWait, doc, run, syncops.Analyzer, waits.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	c := &checker{pass.ResultOf[syncops.Analyzer].(*syncops.List), r}
	for _, op := range c.list.All {
		c.departed(op)
		c.judgeDeafSend(op)
	}
	r.ReportWaits(pass.ResultOf[waits.Analyzer].(*waits.Result))
}
