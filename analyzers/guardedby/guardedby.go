package guardedby

import (
	_ "embed"
	"fmt"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/guards"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

//go:embed doc.go
var doc string

// Analyzer reports accesses without the lock that guards them elsewhere.
var Analyzer = check.New("guardedby", finding.Unguarded, doc, run, accesses.Analyzer,
	guards.Analyzer, callgraph.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
	for _, suspect := range pass.ResultOf[guards.Analyzer].([]guards.Suspect) {
		if !suspect.OtherLock {
			report(pass, list, r, suspect)
		}
	}
}

// report makes the finding of a suspect.
func report(pass *analysis.Pass, list *accesses.List, r *check.Reporter, l guards.Suspect) {
	a, b := l.Without, l.With
	f := &finding.Finding{
		Title:    fmt.Sprintf("%s is %s without %s", l.Variable.Name.Short(), a.Verb(), l.Lock),
		Message:  l.Evidence(list),
		Variable: a.Variable(),
		Accesses: []finding.Access{list.Side(a), list.Side(b)},
		Notes:    []string{l.Count},
	}
	if l.Lead {
		f.Status = finding.Lead
	}
	switch {
	case l.Writers && list.Prog.ForMany(a.Fn) && list.Prog.ForMany(b.Fn) && !ordered(pass, list.Prog, a.Fn):
		f.Class = string(finding.Unguarded) + finding.ForMany
	case l.Writers:
		f.Class = string(finding.Unguarded) + finding.Writers
	}
	r.Report(f, a.Expr, b.Expr, fmt.Sprintf("%s here with %s held", b.Verb(), l.Lock), check.Spots(l.All...))
}

// ordered reports whether a comment on fn, or on a caller of the package, restricts its use by several goroutines.
func ordered(pass *analysis.Pass, prog *ir.Program, fn *ssa.Function) bool {
	calls := pass.ResultOf[callgraph.Analyzer].(*callgraph.Graph)
	return prog.SpeaksOfOrder(fn) || slices.ContainsFunc(calls.Sites(fn), func(s callgraph.Site) bool {
		return prog.SpeaksOfOrder(s.Caller)
	})
}
