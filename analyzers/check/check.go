// Package check holds the parts that all checks share: how they report, how their help is made from their
// package comment, and how a panic in one of them becomes a problem of the result instead of the end of the
// run.
//
// Cost: the findings of one check in a package are compared with each other.
package check

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/directives"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Result is the result of every check.
type Result struct {
	// Findings are sorted and sealed; their file names are absolute.
	Findings []*finding.Finding
	// Problems name the causes for which the check has not seen all of the package.
	Problems []string
	// Reported are the diagnostics, each with the finding that it is a part of.
	Reported []Reported
}

// Reported is a diagnostic of a check. Several may be part of one finding.
type Reported struct {
	Diagnostic analysis.Diagnostic
	Finding    *finding.Finding
}

// Reporter takes the findings of one check: into its [Result], and as
// diagnostics for any go/analysis driver.
type Reporter struct {
	pass     *analysis.Pass
	prog     *ir.Program
	code     finding.Code
	comments *directives.Set
	result   *Result
}

// New returns the check name, which reports findings of code: source is the
// text of its doc.go, which becomes its help, run judges one package, and
// requires are the passes that run reads. Its result is a [*Result].
func New(name string, code finding.Code, source string, run func(*analysis.Pass, *Reporter),
	requires ...*analysis.Analyzer) *analysis.Analyzer {
	a := &analysis.Analyzer{
		Name:       name,
		Doc:        Help(source),
		URL:        code.Page(),
		Requires:   append([]*analysis.Analyzer{directives.Analyzer, ir.Analyzer}, requires...),
		ResultType: reflect.TypeFor[*Result](),
		Run: func(pass *analysis.Pass) (any, error) {
			r := &Reporter{pass, pass.ResultOf[ir.Analyzer].(*ir.Program), code,
				pass.ResultOf[directives.Analyzer].(*directives.Set), new(Result)}
			r.protect(run)
			finding.Sort(r.result.Findings)
			finding.Seal(r.result.Findings)
			return r.result, nil
		},
	}
	a.Flags.Bool(PossibleFlag, false, "report findings too that are no more than possible")
	return a
}

// PossibleFlag is the flag of a check by which drivers that show people its diagnostics show those of possible findings
// too, such as go vet -vettool=interlock -guardedby.possible. The check itself reports all that it suspects.
const PossibleFlag = "possible"

// WithFacts returns the check a, which exports and imports facts of these types.
func WithFacts(a *analysis.Analyzer, facts ...analysis.Fact) *analysis.Analyzer {
	a.FactTypes = facts
	return a
}

// protect runs the check, and turns a panic in it into a problem of the result.
func (r *Reporter) protect(run func(*analysis.Pass, *Reporter)) {
	defer func() {
		if p := recover(); p != nil {
			r.result.Problems = append(r.result.Problems, fmt.Sprintf("%s: internal error in %s: %v (%s)",
				r.pass.Pkg.Path(), r.pass.Analyzer.Name, p, ir.Frame(debug.Stack())))
		}
	}()
	run(r.pass, r)
}

// Report hands on f, unless a directive at one of the spots, all of which the
// finding stands for, suppresses it. It sets code and version, and the status unless f is a
// lead. The diagnostic is at node at; other, if not nil, is the other side, described by note.
// A lead has no diagnostic.
func (r *Reporter) Report(f *finding.Finding, at, other ast.Expr, note string, spots []ast.Expr) {
	var places []token.Pos
	for _, s := range spots {
		places = append(places, s.Pos())
	}
	if r.comments.Ignored(r.code, places...) {
		return
	}
	d := analysis.Diagnostic{
		Pos: at.Pos(), End: at.End(),
		Category: string(r.code),
		Message:  r.message(f),
	}
	if other != nil {
		d.Related = []analysis.RelatedInformation{{Pos: other.Pos(), End: other.End(), Message: note}}
	}
	whole := r.addFinding(f)
	if f.Status != finding.Lead {
		r.printDiagnostic(d, whole)
	}
}

// printDiagnostic reports a diagnostic, which is part of f.
func (r *Reporter) printDiagnostic(d analysis.Diagnostic, f *finding.Finding) {
	r.pass.Report(d)
	r.result.Reported = append(r.result.Reported, Reported{d, f})
}

// message is the text that go vet prints, which shows no category.
func (r *Reporter) message(f *finding.Finding) string {
	return string(r.code) + ": " + f.Title + ": " + f.Message
}

// addFinding puts f in the result, or its places into the finding that is there for
// the variable, or for another field of the struct in the same function:
// people judge and mend these as a whole. (Each place has a diagnostic of its
// own.) It returns the finding that is in the result.
func (r *Reporter) addFinding(f *finding.Finding) *finding.Finding {
	for _, g := range r.result.Findings {
		if lead := f.Status == finding.Lead; lead != (g.Status == finding.Lead) {
			continue
		}
		if (g.Section == nil) != (f.Section == nil) || len(f.Accesses) == 0 || len(g.Accesses) == 0 {
			continue
		}
		a := f.Accesses[0]
		place := fmt.Sprintf("in %s (%s:%d)", a.Function, filepath.Base(a.File), a.Line)
		switch {
		case g.Variable == f.Variable:
			g.Accesses = append(g.Accesses, a)
			g.Notes = append(g.Notes, fmt.Sprintf("also %s %s", a.Mode, place))
			takeSection(g, f)
			return g
		case siblings(f, g):
			takeSection(g, f)
			g.Accesses = append(g.Accesses, f.Accesses...)
			g.Notes = append(g.Notes, fmt.Sprintf("the same goes for %s %s", ShortName(f.Variable), place))
			return g
		}
	}
	return r.keepFinding(f)
}

// keepFinding puts f in the result, and returns it.
func (r *Reporter) keepFinding(f *finding.Finding) *finding.Finding {
	f.Code, f.Status, f.Version = r.code, cmp.Or(f.Status, finding.Suspected), finding.SchemaVersion
	r.result.Findings = append(r.result.Findings, f)
	return f
}

// takeSection has g speak of f's section too, if there is one.
func takeSection(g, f *finding.Finding) {
	if f.Section != nil {
		also := *f.Section
		also.Function = cmp.Or(also.Function, f.Accesses[0].Function)
		g.Section.Also = append(g.Section.Also, also)
	}
}

// siblings reports whether f says the same as g, in the same function, of another field of the struct or of a
// variable reached through g's.
func siblings(f, g *finding.Finding) bool {
	v, w := f.Variable, g.Variable
	if f.Accesses[0].Function != g.Accesses[0].Function ||
		strings.Replace(f.Title, ShortName(v), "", 1) != strings.Replace(g.Title, ShortName(w), "", 1) {
		return false
	}
	sameStruct := v.Type != "" && v.Package == w.Package && v.Type == w.Type && v.Kind == w.Kind
	return sameStruct || slices.ContainsFunc(g.Accesses, func(a finding.Access) bool {
		return a.Function == f.Accesses[0].Function && strings.HasPrefix(f.Accesses[0].Expr, a.Expr+".")
	})
}

// Note is a further place of a finding, and a remark on it.
type Note struct {
	Pos  token.Pos
	Text string
}

// ReportAt is Report for a finding with places that have no expression: a diagnostic stands where the operation at a
// place begins, as the finding does. A directive at any of the places suppresses it. All that is wrong with one
// variable in one function is one finding, which names several places then: the accesses of the first one, then those
// that the others add.
func (r *Reporter) ReportAt(f *finding.Finding, at token.Pos, notes ...Note) {
	places := []token.Pos{startOf(r.prog, at)}
	d := analysis.Diagnostic{Pos: places[0], Category: string(r.code), Message: r.message(f)}
	for _, n := range notes {
		pos := startOf(r.prog, n.Pos)
		places = append(places, pos)
		d.Related = append(d.Related, analysis.RelatedInformation{Pos: pos, Message: n.Text})
	}
	if r.comments.Ignored(r.code, places...) {
		return
	}
	whole := r.addWithoutExpr(f)
	if f.Status != finding.Lead {
		r.printDiagnostic(d, whole)
	}
}

// addWithoutExpr is add for a finding with places that have no expression. Facts of its first access that the other
// finding lacks, such as another Lock that is meant there, go with it: patches need them.
func (r *Reporter) addWithoutExpr(f *finding.Finding) *finding.Finding {
	for _, g := range r.result.Findings {
		if (f.Status == finding.Lead) == (g.Status == finding.Lead) && len(f.Accesses) > 0 && len(g.Accesses) > 0 &&
			g.Variable == f.Variable && g.Title == f.Title &&
			g.Accesses[0].Function == f.Accesses[0].Function {
			for i, a := range f.Accesses {
				if i == 0 || !slices.ContainsFunc(g.Accesses, func(b finding.Access) bool { return sameSide(a, b) }) {
					g.Accesses = append(g.Accesses, a)
				}
			}
			a := f.Accesses[0]
			g.Notes = append(g.Notes, fmt.Sprintf("also the %s at %s:%d", a.Mode, filepath.Base(a.File), a.Line))
			return g
		}
	}
	return r.keepFinding(f)
}

// sameSide reports whether two accesses are the same operation on the same variable.
func sameSide(a, b finding.Access) bool {
	return a.Position == b.Position && a.Mode == b.Mode && a.Expr == b.Expr
}

// Help makes a check's help from its doc.go: the package comment, which holds
// a line "name: summary", from that line on.
func Help(source string) string {
	var b strings.Builder
	for line := range strings.Lines(source) {
		text, ok := strings.CutPrefix(line, "//")
		if !ok {
			break
		}
		b.WriteString(strings.TrimPrefix(text, " "))
	}
	_, body, _ := strings.Cut(b.String(), "\n\n")
	_, rest, _ := strings.Cut(body, ": ")
	return rest
}

// Spots returns the expressions of accesses.
func Spots(list ...*accesses.Access) []ast.Expr {
	var exprs []ast.Expr
	for _, a := range list {
		exprs = append(exprs, a.Expr)
	}
	return exprs
}
