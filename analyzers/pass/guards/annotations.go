package guards

import (
	"go/types"
	"reflect"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/pass/directives"
)

// Annotations is the shared pass that knows which locks annotations name as
// the guards of variables, here and in imported packages.
var Annotations = &analysis.Analyzer{
	Name:       "interlockannotations",
	Doc:        "gather the guards that annotations name",
	Run:        findAnnotations,
	Requires:   []*analysis.Analyzer{directives.Analyzer},
	FactTypes:  []analysis.Fact{new(Guarded)},
	ResultType: reflect.TypeFor[Annotated](),
}

// Annotated holds the lock that an annotation names for a field or package
// variable, relative to the struct that holds it.
type Annotated map[*types.Var]string

// Guarded is the fact that an annotation names Lock as the guard of a field
// or package variable. Inferred guards are no facts: importing packages see
// other accesses.
type Guarded struct{ Lock string }

// AFact marks Guarded as a fact.
func (*Guarded) AFact() {}

func (g *Guarded) String() string { return "guarded by " + g.Lock }

// findAnnotations exports, for importing packages, the guards in annotations, of exported
// and other variables alike.
func findAnnotations(pass *analysis.Pass) (any, error) {
	all := Annotated{}
	for _, f := range pass.AllObjectFacts() {
		v, isVar := f.Object.(*types.Var)
		if g, ok := f.Fact.(*Guarded); ok && isVar {
			all[v] = g.Lock
		}
	}
	for v, lock := range pass.ResultOf[directives.Analyzer].(*directives.Set).Guards() {
		pass.ExportObjectFact(v, &Guarded{lock})
		all[v] = lock
	}
	return all, nil
}
