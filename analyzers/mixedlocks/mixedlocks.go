package mixedlocks

import (
	_ "embed"
	"fmt"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/guards"
)

//go:embed doc.go
var doc string

// Analyzer reports fields that two sides access under different locks.
var Analyzer = check.New("mixedlocks", finding.DifferentLocks, doc, run, accesses.Analyzer, guards.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
	for _, suspect := range pass.ResultOf[guards.Analyzer].([]guards.Suspect) {
		if suspect.OtherLock {
			report(list, r, suspect)
		}
	}
}

func report(list *accesses.List, r *check.Reporter, l guards.Suspect) {
	a, b := l.Without, l.With
	f := &finding.Finding{
		Title:    fmt.Sprintf("%s is %s under %s, but %s guards it", l.Variable.Name.Short(), a.Verb(), listLocks(a), l.Lock),
		Message:  l.Evidence(list),
		Variable: a.Variable(),
		Accesses: []finding.Access{list.Side(a), list.Side(b)},
		Notes:    []string{l.Count},
	}
	if l.Lead {
		f.Status = finding.Lead
	}
	r.Report(f, a.Expr, b.Expr, fmt.Sprintf("%s here under %s", b.Verb(), listLocks(b)), check.Spots(l.All...))
}

func listLocks(a *accesses.Access) string {
	var names []string
	for _, h := range a.Locks.Held() {
		names = append(names, h.String())
	}
	return strings.Join(names, " and ")
}
