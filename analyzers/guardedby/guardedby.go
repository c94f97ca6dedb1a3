package guardedby

import (
	_ "embed"
	"fmt"
	"reflect"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/directives"
)

//go:embed doc.go
var doc string

// Analyzer reports accesses without the lock that guards them elsewhere.
var Analyzer = &analysis.Analyzer{
	Name:       "guardedby",
	Doc:        check.Doc(doc),
	URL:        check.URL(finding.Unguarded),
	Run:        run,
	Requires:   []*analysis.Analyzer{accesses.Analyzer, directives.Analyzer, Leads},
	ResultType: reflect.TypeFor[*check.Result](),
}

func run(pass *analysis.Pass) (any, error) {
	return check.Run(pass, finding.Unguarded, func(r *check.Reporter) {
		list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
		for _, lead := range pass.ResultOf[Leads].([]Lead) {
			if !lead.OtherLock {
				report(list, r, lead)
			}
		}
	})
}

// report makes the finding of a lead.
func report(list *accesses.List, r *check.Reporter, l Lead) {
	a, b := l.Without, l.With
	f := &finding.Finding{
		Title:    fmt.Sprintf("%s is %s without %s", l.Variable.Name.Short(), a.Verb(), l.Lock),
		Message:  l.Evidence(list),
		Variable: a.Variable(),
		Accesses: []finding.Access{list.Side(a), list.Side(b)},
		Notes:    []string{l.Count},
	}
	r.Report(f, a.Expr, b.Expr, fmt.Sprintf("%s here with %s held", b.Verb(), l.Lock), check.Spots(l.All...))
}
