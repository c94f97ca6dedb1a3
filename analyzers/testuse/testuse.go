package testuse

import (
	_ "embed"
	"fmt"
	"go/ast"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/endpoints"
)

//go:embed doc.go
var doc string

// Analyzer reports tests and uses that should be one step.
var Analyzer = check.New("testuse", finding.TestAndUse, doc, run, accesses.Analyzer, endpoints.TestUses)

func run(pass *analysis.Pass, r *check.Reporter) {
	list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
	for _, found := range pass.ResultOf[endpoints.TestUses].([]*endpoints.TestUse) {
		report(list, r, found)
	}
}

// report makes the finding of a test and a use.
func report(list *accesses.List, r *check.Reporter, t *endpoints.TestUse) {
	section := *t.Section // the reporter may add to it
	f := &finding.Finding{
		Title:    fmt.Sprintf("test and use of %s are not one step", t.Name),
		Message:  t.Why,
		Variable: t.Variable,
		Accesses: []finding.Access{t.Use, t.Test},
		Notes:    []string{fmt.Sprintf("tested at line %d: the gap ends with the use at line %d", t.Test.Line, t.Use.Line)},
		Section:  &section,
	}
	if t.Lead {
		f.Status = finding.Lead
	}
	if t.Remote != nil {
		f.Accesses = append(f.Accesses, list.Side(t.Remote))
	}
	r.Report(f, t.UseNode, t.TestNode, "tested here", []ast.Expr{t.UseNode, t.TestNode})
}
