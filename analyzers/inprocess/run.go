package inprocess

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/objectpath"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Unit is one typed package to analyse.
type Unit struct {
	Fset   *token.FileSet
	Files  []*ast.File
	Types  *types.Package
	Info   *types.Info
	Sizes  types.Sizes
	Module *analysis.Module // nil if the package is of none
	Memory *sync.Map        // of passes, by [ir.Session]; nil: none
	// Read returns the content of a file as it was parsed; nil stands for the file on disk.
	Read func(name string) ([]byte, error)
	// Imported returns the facts of another package by its import path; nil where nothing is known of it.
	Imported func(path string) *Facts
	// Spent, if not nil, has how long each analyzer took, beside others, when [Unit.Run] returns.
	Spent map[*analysis.Analyzer]time.Duration
}

// Results are the results of the analyzers of one run, those that others require too.
type Results map[*analysis.Analyzer]any

// Run runs the analyzers, behind those that they require, and returns their
// results and the facts that they have noted of the package. Diagnostics are
// dropped: the results hold the findings. It ends soon after ctx, with its error. A panic of an analyzer is an error.
func (u *Unit) Run(ctx context.Context, analyzers ...*analysis.Analyzer) (Results, *Facts, error) {
	r := &execution{ctx: ctx, unit: u, facts: newFacts(), actions: map[*analysis.Analyzer]*action{}}
	for _, a := range analyzers {
		r.planAction(a)
	}
	defer r.facts.dropPrivate()
	if err := r.runAll(analyzers); err != nil {
		return nil, nil, err
	}
	results := Results{}
	for a, done := range r.actions {
		results[a] = done.result
		if u.Spent != nil {
			u.Spent[a] = done.took
		}
	}
	return results, r.facts, nil
}

// execution is one call of [Unit.Run].
type execution struct {
	ctx     context.Context
	unit    *Unit
	facts   *Facts
	actions map[*analysis.Analyzer]*action // complete before the first analyzer starts

	pathMu sync.Mutex
	paths  objectpath.Encoder // of imported objects; guarded by pathMu
}

// action is one analyzer of an execution, with its result.
type action struct {
	once   sync.Once
	result any
	took   time.Duration
	err    error
}

// planAction makes an action for a and all that it requires.
func (r *execution) planAction(a *analysis.Analyzer) {
	if r.actions[a] != nil {
		return
	}
	r.actions[a] = new(action)
	for _, b := range a.Requires {
		r.planAction(b)
	}
}

// runAll runs the analyzers side by side and returns the error of the first that failed.
func (r *execution) runAll(list []*analysis.Analyzer) error {
	var group sync.WaitGroup
	for _, a := range list {
		group.Go(func() { r.runOnce(a) })
	}
	group.Wait()
	for _, a := range list {
		if err := r.actions[a].err; err != nil {
			return err
		}
	}
	return nil
}

// runOnce runs a, once, behind those that it requires.
func (r *execution) runOnce(a *analysis.Analyzer) {
	done := r.actions[a]
	done.once.Do(func() {
		if done.err = r.runAll(a.Requires); done.err == nil {
			start := time.Now()
			done.result, done.err = r.analyse(a)
			done.took = time.Since(start)
		}
	})
}

// analyse runs a on the unit; the analyzers that it requires have run. A panic is an error.
func (r *execution) analyse(a *analysis.Analyzer) (result any, err error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if a == ir.Lent {
		return &ir.Session{Context: r.ctx, Memory: r.unit.Memory}, nil
	}
	path := r.unit.Types.Path()
	defer func() {
		if r.ctx.Err() != nil { // the facts that the analyzer has left are not whole
			result, err = nil, r.ctx.Err()
		}
	}()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("analysing %s: internal error in %s: %v (%s)", path, a.Name, v, ir.Frame(debug.Stack()))
		}
	}()
	if result, err = a.Run(r.passOf(a)); err != nil {
		return nil, fmt.Errorf("analysing %s: %s: %w", path, a.Name, err)
	}
	return result, nil
}

// passOf returns the input of a: the unit, the results that it requires, and the facts.
func (r *execution) passOf(a *analysis.Analyzer) *analysis.Pass {
	u := r.unit
	results := map[*analysis.Analyzer]any{}
	for _, b := range a.Requires {
		results[b] = r.actions[b].result
	}
	return &analysis.Pass{
		Analyzer: a, Fset: u.Fset, Files: u.Files, Pkg: u.Types, TypesInfo: u.Info, TypesSizes: u.Sizes,
		Module: u.Module, ResultOf: results, ReadFile: u.readFile,
		Report:            func(analysis.Diagnostic) {},
		ImportObjectFact:  r.importFact,
		ExportObjectFact:  r.facts.setFact,
		AllObjectFacts:    func() []analysis.ObjectFact { return r.importedFacts(a) },
		ImportPackageFact: func(*types.Package, analysis.Fact) bool { return false },
		ExportPackageFact: func(analysis.Fact) { panic("inprocess: an analyzer exports facts of packages") },
		AllPackageFacts:   func() []analysis.PackageFact { return nil },
	}
}

func (u *Unit) readFile(name string) ([]byte, error) {
	if u.Read != nil {
		return u.Read(name)
	}
	return os.ReadFile(name)
}

// importFact sets fact to the one noted of obj, here or in another package.
func (r *execution) importFact(obj types.Object, fact analysis.Fact) bool {
	pkg := obj.Pkg()
	if pkg == nil {
		return false
	}
	if pkg == r.unit.Types {
		return r.facts.ofObject(obj, fact)
	}
	known := r.unit.Imported(pkg.Path())
	if known == nil {
		return false
	}
	r.pathMu.Lock()
	path, err := r.paths.For(obj)
	r.pathMu.Unlock()
	return err == nil && known.ofPath(path, fact)
}

// importedFacts lists the facts that a knows, of objects of the packages that
// the unit imports, as the unit sees them.
func (r *execution) importedFacts(a *analysis.Analyzer) (all []analysis.ObjectFact) {
	seen := map[*types.Package]bool{}
	var visit func(pkg *types.Package)
	visit = func(pkg *types.Package) {
		if seen[pkg] {
			return
		}
		seen[pkg] = true
		if known := r.unit.Imported(pkg.Path()); known != nil {
			all = append(all, known.resolved(pkg, a.FactTypes)...)
			for _, dep := range pkg.Imports() {
				visit(dep)
			}
		}
	}
	for _, pkg := range r.unit.Types.Imports() {
		visit(pkg)
	}
	return all
}
