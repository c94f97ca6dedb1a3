package ir

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/scope"
	"github.com/interlock-go/interlock/analyzers/syncapi"
)

// Analyzer builds the [Program] of a package.
var Analyzer = &analysis.Analyzer{
	Name:       "interlockssa",
	Doc:        "build the SSA form of packages in scope, for later passes",
	Run:        run,
	Requires:   []*analysis.Analyzer{inspect.Analyzer, Lent},
	FactTypes:  []analysis.Fact{new(noReturn)},
	ResultType: reflect.TypeFor[*Program](),
}

// Program is one package in SSA form. It is read-only once built.
type Program struct {
	Pkg *ssa.Package
	// Funcs are the functions that have source: declared functions, literals
	// and range-over-func bodies, an outer function before those inside it.
	// Generic functions are there once, as their origin.
	Funcs []*ssa.Function

	fset     *token.FileSet
	info     *types.Info
	nodes    map[token.Pos]ast.Node
	promoted map[token.Pos]*ast.SelectorExpr
	names    map[ast.Node]string
	asks     asking
	noLock   noLock
	inTest   map[*ssa.Function]bool

	session Session
	inScope bool
	mu      sync.Mutex
	usable  bool   // guarded by mu
	problem string // guarded by mu
	// abandoned lists the functions that passes did not finish; guarded by mu.
	abandoned []Abandoned

	flowMu sync.Mutex
	flows  map[*ssa.Function]*Flow // guarded by flowMu
}

func run(pass *analysis.Pass) (any, error) {
	p := &Program{
		fset:    pass.Fset,
		info:    pass.TypesInfo,
		names:   map[ast.Node]string{},
		inTest:  map[*ssa.Function]bool{},
		session: *pass.ResultOf[Lent].(*Session),
	}
	p.inScope = scope.In(pass)
	p.usable = p.inScope
	p.Analyse(pass, func() { p.buildFunctions(pass) })
	return p, nil
}

func (p *Program) buildFunctions(pass *analysis.Pass) {
	p.nodes, p.promoted = indexNodes(pass)
	p.asks = readAsking(pass)
	p.noLock = readNoLock(pass)
	n := &namer{names: p.names}
	for _, f := range pass.Files {
		n.nameFile(f)
	}
	p.Pkg = buildPackage(pass, noReturns(pass))
	p.collect(pass)
}

// Analyse runs body, which is a shared pass over p, if p is in scope and no
// earlier pass has failed. A panic of body is kept as p's problem: then the
// passes that come after it see an empty package, and the run goes on.
func (p *Program) Analyse(pass *analysis.Pass, body func()) {
	if !p.Usable() {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.usable = false
			p.problem = fmt.Sprintf("%s: internal error in %s: %v (%s)", pass.Pkg.Path(), pass.Analyzer.Name, v,
				Frame(debug.Stack()))
		}
	}()
	p.Proceed()
	body()
}

// Usable reports whether the package is in scope and was analysed so far.
func (p *Program) Usable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.usable
}

// InScope reports whether the package is one of those to analyse.
func (p *Program) InScope() bool { return p.inScope }

// Problem returns why a package in scope is not usable; empty if it is.
func (p *Program) Problem() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.problem
}

// Frame returns the place in the analyzers where the stack of a recovered
// panic began, as folder/file.go:line.
func Frame(stack []byte) string {
	_, after, _ := strings.Cut(string(stack), "panic(")
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		if i := strings.LastIndex(line, "/analyzers/"); i >= 0 && strings.Contains(line, ".go:") {
			place, _, _ := strings.Cut(line[i+1:], " ")
			return place
		}
	}
	return "no stack"
}

func buildPackage(pass *analysis.Pass, neverReturns func(*types.Func) bool) *ssa.Package {
	prog := ssa.NewProgram(pass.Fset, ssa.BuilderMode(0))
	prog.SetNoReturn(neverReturns)
	for _, imp := range pass.Pkg.Imports() {
		prog.CreatePackage(imp, nil, nil, true)
	}
	pkg := prog.CreatePackage(pass.Pkg, pass.Files, pass.TypesInfo, false)
	pkg.Build()
	return pkg
}

// collect lists the functions, those of package variables' initialisers last.
func (p *Program) collect(pass *analysis.Pass) {
	unit := Unit{Fset: pass.Fset, Files: pass.Files, Pkg: pass.Pkg, Info: pass.TypesInfo}
	if pass.Module != nil {
		unit.Module = pass.Module.Path
	}
	testing := TestingFiles(unit)
	var add func(f *ssa.Function)
	add = func(f *ssa.Function) {
		p.Funcs = append(p.Funcs, f)
		p.inTest[f] = f.Pos().IsValid() && testing[pass.Fset.File(f.Pos())]
		for _, anon := range f.AnonFuncs {
			add(anon)
		}
	}
	for _, file := range pass.Files {
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.FuncDecl); ok {
				if f := p.Pkg.Prog.FuncValue(pass.TypesInfo.Defs[decl.Name].(*types.Func)); f != nil {
					add(f)
				}
			}
		}
	}
	for _, anon := range p.Pkg.Func("init").AnonFuncs {
		add(anon)
	}
}

// InTest reports whether f stands in a _test.go file that tests other code. One
// that uses nothing else of the module is a program of its own.
func (p *Program) InTest(f *ssa.Function) bool { return p.inTest[f] }

// InTestFile reports whether f stands in a _test.go file.
func (p *Program) InTestFile(f *ssa.Function) bool {
	file := p.fset.File(f.Pos())
	return file != nil && IsTestFile(file.Name())
}

// Info returns the type information of the package.
func (p *Program) Info() *types.Info { return p.info }

// Fset returns the file set of the package.
func (p *Program) Fset() *token.FileSet { return p.fset }

// Outermost returns the declared function (or the initialiser of package
// variables) that f stands in; f itself if it is one.
func Outermost(f *ssa.Function) *ssa.Function {
	for f.Parent() != nil {
		f = f.Parent()
	}
	return f
}

// Declared returns the function or method that f is declared as, an instance as its generic one; nil for a literal.
func Declared(f *ssa.Function) *types.Func {
	if f == nil {
		return nil
	}
	obj, _ := f.Object().(*types.Func)
	return obj
}

// PackagePath returns the path of the package that declares f, or the function that the literal f stands in; "" if it
// has none.
func PackagePath(f *ssa.Function) string {
	if obj := f.Object(); obj != nil && obj.Pkg() != nil {
		return obj.Pkg().Path()
	}
	if p := Outermost(f).Package(); p != nil {
		return p.Pkg.Path()
	}
	return ""
}

// IsZero reports whether v is a constant that a variable has if nothing was assigned: nil, false, 0 or "".
func IsZero(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && (c.Value == nil || slices.Contains([]string{"0", "false", `""`}, c.Value.ExactString()))
}

// Pointee returns the type that t points to, or t.
func Pointee(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// Named returns the named type that t is or points to.
func Named(t types.Type) (named *types.Named, ok bool) {
	t = types.Unalias(t)
	if p, isPointer := t.(*types.Pointer); isPointer {
		t = types.Unalias(p.Elem())
	}
	named, ok = t.(*types.Named)
	return named, ok
}

// Atomic returns the operation of package sync/atomic that the call carries out, as [syncapi.Atomic] names it; "" for
// others, and for dynamic calls.
func Atomic(call *ssa.CallCommon) string {
	fn := call.StaticCallee()
	if fn == nil {
		return ""
	}
	obj, _ := fn.Object().(*types.Func)
	return syncapi.Atomic(obj)
}

// IsBool reports whether t is a boolean type.
func IsBool(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// Origin returns the generic function that f is an instance of, or f.
func Origin(f *ssa.Function) *ssa.Function {
	if f == nil {
		return nil
	}
	if o := f.Origin(); o != nil {
		return o
	}
	return f
}
