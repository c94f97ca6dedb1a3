package registry_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/invariants"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/summary"
)

// maxGrowth is how many times as much CPU time a pass may need for a source of
// twice the size. What is square needs four times as much.
const maxGrowth = 3

// squares names the passes whose docs state a square for a shape, and what they
// compare: twice the size may cost six times as much there.
var squares = map[string]string{
	"defers": "interlocktestuses", // each branch that asks with each use of the variable
}

const maxSquareGrowth = 6

// tooLittle is a cost that says nothing: a collection of garbage costs more.
const tooLittle = 150 * time.Millisecond

// skipUnderRace leaves a test to the second command of make unit: one that measures costs, or analyses hundreds of
// programs, by passes that the tests of the checks run under the race detector.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if underRace {
		t.Skip("make unit runs it once more without the race detector")
	}
}

// No pass is much worse than linear in any of the shapes, except squares. One
// that is, is named with its figures.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	skipUnderRace(t)
	invariants.Wanted = true
	t.Cleanup(func() { invariants.Wanted = false })
	std := stdImporter(t)
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			var worst string
			size := s.size
			small, large := map[string]time.Duration{}, map[string]time.Duration{}
			for range 3 { // other work on the machine adds to a figure, and takes nothing off
				least(small, measure(t, std, s.source(size)).cost)
				least(large, measure(t, std, s.source(2*size)).cost)
				t.Log("size", size, costs(small), "and twice", costs(large))
				if worst = grown(small, large, squares[s.name]); worst == "" {
					return
				}
			}
			t.Errorf("from size %d to %d: %s", size, 2*size, worst)
		})
	}
}

// least brings the least figures of each pass up to date.
func least(of, again map[string]time.Duration) {
	for name, d := range again {
		if old, known := of[name]; !known || d < old {
			of[name] = d
		}
	}
}

// grown names the passes whose cost grew too much. That of the pass square may
// grow with the square of the size.
func grown(small, large map[string]time.Duration, square string) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(large)) {
		limit := time.Duration(maxGrowth)
		if name == square {
			limit = maxSquareGrowth
		}
		if s, l := small[name], large[name]; l > tooLittle && l > limit*s {
			names = append(names, fmt.Sprintf("%s from %v to %v", name, s.Round(time.Millisecond), l.Round(time.Millisecond)))
		}
	}
	return strings.Join(names, ", ")
}

// costs lists what passes need more than a hundredth of a second.
func costs(of map[string]time.Duration) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if of[name] > 10*time.Millisecond {
			parts = append(parts, fmt.Sprintf("%s %v", name, of[name].Round(time.Millisecond)))
		}
	}
	return strings.Join(parts, ", ")
}

// A function that takes too many steps is left, and that is said; the others
// are judged.
func TestWorkLimit(t *testing.T) {
	defer func(n int) { ir.WorkLimit = n }(ir.WorkLimit)
	ir.WorkLimit = 500
	lookUp := "t.mu.Lock(); _, ok# := t.byKey[k]; t.mu.Unlock(); if !ok# { t.mu.Lock(); t.byKey[k] = &T{}; " +
		"t.mu.Unlock() }\n"
	r := measure(t, stdImporter(t), `
import "sync"

type T struct {
	mu    sync.Mutex
	byKey map[int]*T
}

func (t *T) Small(k int) {
`+repeat(1, lookUp)+`}
func (t *T) Large(k int) {
`+repeat(100, lookUp)+"}")
	s := r.results[summary.Analyzer].(*summary.Summary)
	if want := []string{
		"example.com/growth: (*T).Large is not searched to its end for tests that are out of date when they are relied on " +
			"(IL2002): it is too large",
		"example.com/growth: (*T).Large is not searched to its end for lost updates (IL2001): it is too large",
		"example.com/growth: (*T).Large is not searched to its end for ways that keep a lock (IL3004): it is too large",
	}; !slices.Equal(s.GaveUp, want) {
		t.Errorf("gave up: %q, want %q", s.GaveUp, want)
	}
	if !slices.ContainsFunc(s.Findings, func(f *finding.Finding) bool {
		return f.Code == finding.TestAndUse && f.Accesses[0].Function == "(*T).Small"
	}) {
		t.Errorf("nothing is found in the small function: %+v", s.Findings)
	}
}

// A table that a program has written is judged, except who owns its parts, and
// that is said.
func TestLargeTable(t *testing.T) {
	r := measure(t, stdImporter(t), "type e struct{ name string }\nvar table = map[string]*e{\n"+repeat(15000,
		"\"#\": {name: \"#\"},\n")+"}")
	got := r.results[summary.Analyzer].(*summary.Summary).GaveUp
	want := "example.com/growth: init is not searched to its end for objects that no other goroutine reaches: " +
		"it is too large"
	if !slices.Equal(got, []string{want}) {
		t.Errorf("gave up: %q, want %q", got, want)
	}
}

// measure runs all passes on a package of one file.
func measure(t *testing.T, std types.Importer, source string) *runner {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "growth.go", "package growth\n\n"+source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{fset: fset, file: file, results: map[*analysis.Analyzer]any{}, facts: map[fact]analysis.Fact{},
		cost: map[string]time.Duration{}}
	r.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{},
		FileVersions: map[*ast.File]string{},
	}
	conf := types.Config{Importer: std}
	if r.pkg, err = conf.Check("example.com/growth", fset, []*ast.File{file}, r.info); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	if err := r.run(summary.Analyzer); err != nil {
		t.Fatal(err)
	}
	return r
}

// runner runs passes on one package, what they require first.
type runner struct {
	fset    *token.FileSet
	file    *ast.File
	pkg     *types.Package
	info    *types.Info
	results map[*analysis.Analyzer]any
	facts   map[fact]analysis.Fact
	cost    map[string]time.Duration
}

type fact struct {
	of   any // an object or a package
	kind reflect.Type
}

func (r *runner) run(a *analysis.Analyzer) error {
	if _, done := r.results[a]; done {
		return nil
	}
	results := map[*analysis.Analyzer]any{}
	for _, req := range a.Requires {
		if err := r.run(req); err != nil {
			return err
		}
		results[req] = r.results[req]
	}
	pass := &analysis.Pass{
		Analyzer: a, Fset: r.fset, Files: []*ast.File{r.file}, Pkg: r.pkg, TypesInfo: r.info,
		TypesSizes: types.SizesFor("gc", "amd64"),
		ResultOf:   results, ReadFile: os.ReadFile, Report: func(analysis.Diagnostic) {},
		ExportObjectFact:  func(obj types.Object, f analysis.Fact) { r.put(obj, f) },
		ImportObjectFact:  func(obj types.Object, f analysis.Fact) bool { return r.get(obj, f) },
		ExportPackageFact: func(f analysis.Fact) { r.put(r.pkg, f) },
		ImportPackageFact: func(pkg *types.Package, f analysis.Fact) bool { return r.get(pkg, f) },
		AllObjectFacts:    func() []analysis.ObjectFact { return nil },
		AllPackageFacts:   func() []analysis.PackageFact { return nil },
	}
	before := cpuTime()
	result, err := a.Run(pass)
	r.results[a], r.cost[a.Name] = result, cpuTime()-before
	return err
}

func (r *runner) put(of any, f analysis.Fact) { r.facts[fact{of, reflect.TypeOf(f)}] = f }

func (r *runner) get(of any, f analysis.Fact) bool {
	have, ok := r.facts[fact{of, reflect.TypeOf(f)}]
	if ok {
		reflect.ValueOf(f).Elem().Set(reflect.ValueOf(have).Elem())
	}
	return ok
}

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// stdImporter reads the types of the packages that the shapes import from what
// the go command has compiled.
func stdImporter(t *testing.T) types.Importer {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "errors", "sync",
		"sync/atomic", "time").Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for line := range bytes.Lines(out) {
		path, file, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		exports[path] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}
