package summary

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/crosspkg"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/directives"
	"github.com/interlock-go/interlock/analyzers/pass/guards"
	"github.com/interlock-go/interlock/analyzers/pass/invariants"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockgraph"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/scope"
	"github.com/interlock-go/interlock/analyzers/pass/stationary"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
	"github.com/interlock-go/interlock/analyzers/registry"
)

// Version is the version of a [Summary]. Driver and passes are one binary;
// it guards against summaries of another one in a cache.
const Version = 2

// Category marks the diagnostic that carries a summary.
const Category = "interlock-summary"

// ProblemCategory marks diagnostics that are problems, not findings.
const ProblemCategory = "interlock-problem"

// Name of the analyzer, which prefixes its flags.
const Name = "interlocksummary"

//go:embed doc.go
var doc string

// Analyzer makes the [Summary] of a package.
var Analyzer = &analysis.Analyzer{
	Name:  Name,
	Doc:   check.Help(doc),
	Flags: makeFlags(),
	Run:   run,
	Requires: append(registry.Analyzers(), accesses.Analyzer, stationary.Analyzer, lockset.Analyzer, lockgraph.Analyzer,
		guards.Annotations, invariants.Analyzer, directives.Analyzer),
	ResultType: reflect.TypeFor[*Summary](),
}

// emit means that the summary is to be reported. Like scope.Flag it is set
// while flags are parsed, and only read by passes.
var emit bool

func makeFlags() flag.FlagSet {
	var fs flag.FlagSet
	fs.BoolVar(&emit, "emit", false, "report the summary of each package as a diagnostic, for interlock itself")
	fs.Bool("always", false, "report it of packages with tests, too, of which others ask for facts alone")
	fs.BoolVar(&invariants.Wanted, "invariants", false,
		"find all candidates of atomic sections, not only those that comments declare")
	fs.BoolVar(&waits.Thorough, "thorough", false, "look for endless waits in all of a large package")
	fs.Var(&scope.Flag, "modules", "module `paths` to analyse, separated by commas (default: the main modules)")
	fs.String("config", "", "hash of the settings outside of the command line: part of the go command's cache key")
	return fs
}

// Summary is the result of the passes for one package.
type Summary struct {
	Version int    `json:"version"`
	Package string `json:"package"`
	// Tests: it is the package together with test files.
	Tests    bool               `json:"tests,omitempty"`
	Findings []*finding.Finding `json:"findings,omitempty"`
	// Files are the names that skips refer to by number.
	Files []string `json:"files,omitempty"`
	Skips []Skip   `json:"skips,omitempty"`
	// Fields are those that skips refer to by number; Written those that the
	// package writes while others may reach their object.
	Fields  []string `json:"fields,omitempty"`
	Written []string `json:"written,omitempty"`
	// Variables are those that other packages may access too; Unpack returns
	// them as they were.
	Variables []crosspkg.Variable `json:"variables,omitempty"`
	Locks     Locks               `json:"locks"`
	// Sections are atomic sections that comments declare, and if asked for
	// all candidates.
	Sections []invariants.Section `json:"sections,omitempty"`
	// Incomplete: a shared pass failed, so that things are missing above.
	Incomplete bool `json:"incomplete,omitempty"`
	// GaveUp names the passes that did not finish functions, and these, for their size: findings there may be
	// missing.
	GaveUp []string `json:"gaveUp,omitempty"`
	// Problems name the parts that were not analysed, and directives that make no sense.
	Problems []string `json:"problems,omitempty"`
	// Ignores are the findings that people have accepted in comments; Unused lists, in sentences, those that no
	// check needs.
	Ignores []directives.Ignore `json:"ignores,omitempty"`
	Unused  []string            `json:"unused,omitempty"`
}

// Reason is why an access needs no monitor. The plan has the words for it.
type Reason string

const (
	Fresh      Reason = "f" // no other goroutine can reach the object yet
	Stationary Reason = "s" // every write of the field comes before its object is shared
	// Guarded comes after the others: every access to the field, in tests too, holds one
	// lock. That two paths to the lock lead to the same one is likely, not proven.
	Guarded Reason = "g"
)

// Skip is an access that needs no monitor. Its place is the start of the
// accessing expression, as in plan.Key.
type Skip struct {
	File   int          `json:"f"` // index into Summary.Files
	Line   int          `json:"l"`
	Column int          `json:"c"`
	Mode   finding.Mode `json:"m"`
	Map    bool         `json:"map,omitempty"` // the map itself, not the variable that holds it
	Reason Reason       `json:"r"`
	// Unless, if not 0, is 1 + the index into Summary.Fields of a field that is
	// stationary unless some package has it in Written.
	Unless int `json:"u,omitempty"`
}

func run(pass *analysis.Pass) (any, error) {
	s := &Summary{Version: Version, Package: pass.Pkg.Path(), Tests: slices.ContainsFunc(pass.Files, isTest(pass.Fset))}
	list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
	comments := pass.ResultOf[directives.Analyzer].(*directives.Set)
	// The findings of the checks, and the facts that the plan and package crosspkg need.
	s.gatherFindings(pass)
	list.Prog.Analyse(pass, func() {
		s.gatherSkips(list, pass.ResultOf[stationary.Analyzer].(*stationary.Fields))
		s.gatherVariables(pass, list)
		s.gatherLocks(list, pass.ResultOf[lockset.Analyzer].(*lockset.Result),
			pass.ResultOf[lockgraph.Analyzer].(*lockgraph.Result))
	})
	// Parts that were not analysed have to be named.
	if p := list.Prog.Problem(); p != "" {
		s.Problems, s.Incomplete = append(s.Problems, p), true
	}
	for _, a := range list.Prog.Abandoned() {
		s.GaveUp = append(s.GaveUp, s.Package+": "+notSearched(a, list.Prog.FuncName(a.Function)))
	}
	// Sections that people declared, and directives that make no sense.
	sections := pass.ResultOf[invariants.Analyzer].(*invariants.Result)
	s.Sections = sections.Sections
	problems := comments.Problems()
	for _, p := range sections.Problems {
		problems = append(problems, directives.Problem(p))
	}
	unused := comments.Unused(listCodes()...)
	s.Ignores, s.Unused = comments.Ignores(), placeProblems(pass, unused)
	s.Problems = append(s.Problems, placeProblems(pass, problems)...)
	// For our own driver the summary is a diagnostic; go vet prints the problems.
	switch {
	case !list.Prog.InScope():
		return s, nil
	case emit:
		return s, s.emitDiagnostic(pass)
	}
	s.complain(pass, problems, unused)
	return s, nil
}

// placeProblems returns each problem behind its place.
func placeProblems(pass *analysis.Pass, problems []directives.Problem) (all []string) {
	for _, p := range problems {
		all = append(all, fmt.Sprintf("%s: %s", ir.Position(pass.Fset, p.Pos), p.Message))
	}
	return all
}

func isTest(fset *token.FileSet) func(*ast.File) bool {
	return func(f *ast.File) bool { return strings.HasSuffix(fset.File(f.FileStart).Name(), "_test.go") }
}

func listCodes() []finding.Code {
	var all []finding.Code
	for _, c := range registry.Checks() {
		all = append(all, c.Code)
	}
	return all
}

// gatherFindings merges the findings of all checks: ordinals are over the package.
func (s *Summary) gatherFindings(pass *analysis.Pass) {
	for _, c := range registry.Checks() {
		r := pass.ResultOf[c.Analyzer].(*check.Result)
		s.Findings = append(s.Findings, r.Findings...)
		s.Problems = append(s.Problems, r.Problems...)
	}
	finding.Sort(s.Findings)
	finding.Seal(s.Findings)
}

// emitDiagnostic reports the summary as a diagnostic.
func (s *Summary) emitDiagnostic(pass *analysis.Pass) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encoding the summary of %s: %w", s.Package, err)
	}
	pass.Report(analysis.Diagnostic{Pos: pass.Files[0].Package, Category: Category, Message: string(text)})
	return nil
}

// complain reports the problems to people: those with a place there, the
// others, which come first in s.Problems, at the package clause.
func (s *Summary) complain(pass *analysis.Pass, placed, unused []directives.Problem) {
	for _, p := range s.Problems[:len(s.Problems)-len(placed)] {
		pass.Report(analysis.Diagnostic{Pos: pass.Files[0].Package, Category: ProblemCategory, Message: p})
	}
	for _, p := range slices.Concat(placed, unused) {
		pass.Report(analysis.Diagnostic{Pos: p.Pos, Category: ProblemCategory, Message: p.Message})
	}
}

// Unpack returns the variables as the join needs them, with the names of files
// in place of their numbers.
func (s *Summary) Unpack() []crosspkg.Variable {
	for _, v := range s.Variables {
		v.Unpack(s.Package)
		for _, a := range v.Accesses {
			if i, err := strconv.Atoi(a.File); err == nil && i >= 0 && i < len(s.Files) {
				a.File = s.Files[i]
			}
		}
	}
	return s.Variables
}

// fileNumber returns the number of a file name.
func (s *Summary) fileNumber(name string) int {
	if i := slices.Index(s.Files, name); i >= 0 {
		return i
	}
	s.Files = append(s.Files, name)
	return len(s.Files) - 1
}
