package atomicmix

import (
	_ "embed"
	"fmt"
	"reflect"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/accesses"
	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/directives"
	"github.com/interlock-go/interlock/analyzers/finding"
)

//go:embed doc.go
var doc string

// Analyzer reports plain accesses to variables that are accessed atomically elsewhere.
var Analyzer = &analysis.Analyzer{
	Name:       "atomicmix",
	Doc:        check.Doc(doc),
	URL:        check.URL(finding.MixedAtomic),
	Run:        run,
	Requires:   []*analysis.Analyzer{accesses.Analyzer, directives.Analyzer},
	ResultType: reflect.TypeFor[*check.Result](),
}

func run(pass *analysis.Pass) (any, error) {
	return check.Run(pass, finding.MixedAtomic, func(r *check.Reporter) {
		list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
		for _, v := range list.Variables() {
			if v.Atomic {
				reportPlain(list, v, r)
			}
		}
	})
}

// reportPlain reports the plain accesses of v, once a function.
func reportPlain(list *accesses.List, v *accesses.Variable, r *check.Reporter) {
	reported := map[string]bool{}
	for _, a := range v.Accesses {
		fn := list.Prog.FuncName(a.Fn)
		if a.Atomic() || a.Map || reported[fn] {
			continue
		}
		b := otherSide(list, v, a)
		if b == nil {
			continue
		}
		reported[fn] = true
		f := &finding.Finding{
			Title: fmt.Sprintf("%s is %s plainly and accessed atomically elsewhere", v.Name.Short(), a.Verb()),
			Message: fmt.Sprintf("%s %s it through sync/atomic (%s), which orders only atomic accesses. Another goroutine may do so at the same time.",
				list.Prog.FuncName(b.Fn), does(b), list.Where(b)),
			Variable: a.Variable(),
			Accesses: []finding.Access{list.Side(a), list.Side(b)},
		}
		r.Report(f, a.Expr, b.Expr, "accessed atomically here", check.Spots(a))
	}
}

func does(a *accesses.Access) string {
	if a.Writes() {
		return "writes"
	}
	return "reads"
}

// otherSide gives an atomic access that conflicts with the plain access a,
// one that writes if there is one.
func otherSide(list *accesses.List, v *accesses.Variable, a *accesses.Access) *accesses.Access {
	var best *accesses.Access
	for _, b := range v.Accesses {
		if !b.Atomic() || !finding.Conflicts(a.Mode, b.Mode) || !list.Parallel(a, b) || accesses.CommonLock(a, b) {
			continue
		}
		if best == nil || b.Writes() && !best.Writes() {
			best = b
		}
	}
	return best
}
