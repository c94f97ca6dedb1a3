package guardedby

import (
	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/directives"
)

// Guarded is the fact that an annotation names Lock as the guard of a field
// or package variable, relative to the struct that holds it. Inferred guards
// are no facts: importing packages see other accesses.
type Guarded struct{ Lock string }

// AFact marks Guarded as a fact.
func (*Guarded) AFact() {}

func (g *Guarded) String() string { return "guarded by " + g.Lock }

// exportAnnotations tells importing packages what annotations say, of
// exported and other variables alike.
func exportAnnotations(pass *analysis.Pass) {
	for v, lock := range pass.ResultOf[directives.Analyzer].(*directives.Set).Guards() {
		pass.ExportObjectFact(v, &Guarded{lock})
	}
}
