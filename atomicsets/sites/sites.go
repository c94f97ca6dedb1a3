package sites

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

// Package is one typed package, as [Enumerate] and the rewriter take it. The
// syntax needs comments (directives) and no objects; Info needs Types, Defs,
// Uses, Selections, Implicits and FileVersions.
type Package struct {
	Path  string // import path
	Root  string // absolute root of the module: Site.File is relative to it
	Fset  *token.FileSet
	Files []*ast.File
	Types *types.Package
	Info  *types.Info
	Src   map[string][]byte // contents by the name that Fset has, as parsed
}

// Access is a site together with its syntax.
type Access struct {
	Site plan.Site // ID is 0: the plan numbers the sites
	File *ast.File
	// Node is the operand of the monitor: the access expression without parentheses around it, or, for a map,
	// the operand that has the map as its value.
	Node ast.Expr
	// Deferred: the statement is `defer delete(m, k)` or `go clear(m)`. The
	// access is made later, so that it has no place to put a monitor at.
	Deferred bool
	// Each: Node is the operand of a range clause, and the access, which is
	// Behind it, is made to one element in each iteration.
	Each bool
	// Through: the access, which is Behind Node, is to this embedded field of
	// it, or to a path of them: the E of x.f that stands for x.E.f.
	Through string
	// Pointer: the access is by a method of a sync.Map, to which Node is a pointer.
	Pointer bool
	// Append: the access, which is Behind Node, is to the elements that append
	// puts behind the end of the slice, if there is room.
	Append bool
}

// Map reports whether a is the access to a map itself.
func (a *Access) Map() bool { return a.Site.Variable.Kind == plan.KindMap }

// SyncMap reports whether a is an access to the entries of a sync.Map.
func (a *Access) SyncMap() bool { return a.Site.Variable.Kind == plan.KindSyncMap }

// Synchronises reports whether a is an operation of a channel or a WaitGroup that must be ordered itself.
func (a *Access) Synchronises() bool {
	return a.Site.Variable.Kind == plan.KindChannel || a.Site.Variable.Kind == plan.KindWaitGroup
}

// Enumerate lists the sites of p, by file and position: the static accesses to memory that two goroutines can
// share. Those are fields and pointees reached through a pointer or a slice, package variables, locals that a
// closure captures and that are assigned again, locals with their address taken, maps, channels that are sent
// on or closed, the counters of WaitGroups, and the entries of a sync.Map. A chain x.f.g through struct values is one
// site, the whole chain.
//
// All decisions are Monitor, except in functions with a directive that forbids
// calls (go:nosplit and the like) and in files that import "C".
//
// An access to all elements of a slice (copy, clear, the operand of append
// that is copied) is one site; so is the read of the elements in a range loop.
// Elements of a slice that never leaves its function are no shared memory.
//
// Missed: accesses of the language without an expression of their own (all but one of several embedded pointers
// on the way to a promoted field, results written by return); memory that unsafe or assembly reaches.
func Enumerate(p *Package) []Access {
	var all []Access
	names := newClosureNames()
	for _, f := range p.Files {
		w := &walker{pkg: p, info: p.Info, file: f, names: names}
		w.tfile = p.Fset.File(f.FileStart)
		w.lines = bytes.Split(p.Src[w.tfile.Name()], []byte("\n"))
		w.locals = sharedLocals(p, f)
		w.linknames = linknames(f)
		w.cgo = importsC(f)
		w.walkFile()
		slices.SortStableFunc(w.found, byPlace)
		all = append(all, w.found...)
	}
	return all
}

// All returns the sites of packages, package by package.
func All(pkgs []*Package) []plan.Site {
	var all []plan.Site
	for _, p := range pkgs {
		for _, a := range Enumerate(p) {
			all = append(all, a.Site)
		}
	}
	return all
}

// mapOrder puts the variable that holds a map before the map itself.
func (a *Access) mapOrder() int {
	if a.Map() || a.Site.Behind {
		return 1
	}
	return 0
}

// byPlace orders accesses by where they start, the shorter of two first; the
// variable that holds a map comes before the map.
func byPlace(a, b Access) int {
	return cmp.Or(
		cmp.Compare(a.Node.Pos(), b.Node.Pos()),
		cmp.Compare(a.Site.EndLine, b.Site.EndLine),
		cmp.Compare(a.Site.EndCol, b.Site.EndCol),
		cmp.Compare(a.mapOrder(), b.mapOrder()),
	)
}

// walker finds the sites of one file. Its methods say in which role an
// expression stands: load (its value is read), access (it is the place that
// is read or written), address (only its address is taken, so that just its
// operands are read).
type walker struct {
	pkg       *Package
	info      *types.Info
	file      *ast.File
	tfile     *token.File
	lines     [][]byte
	locals    map[*types.Var]*local
	linknames map[string]bool
	names     *closureNames
	cgo       bool

	fn       string      // name of the function we are in
	skip     plan.Reason // why nothing in it may be monitored, or empty
	deferred bool        // in the call of a go or defer statement
	found    []Access
}

func (w *walker) walkFile() {
	for _, d := range w.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body == nil {
				continue
			}
			w.fn, w.skip = w.names.declared(d), ""
			if neverInstrument(d, w.linknames) {
				w.skip = plan.NeverInstrument
			}
			w.visitStmt(d.Body)
		case *ast.GenDecl:
			w.fn, w.skip = "init", plan.InitialValue
			w.genDecl(d)
		}
	}
}

// addSite records the site of node in the given role; the site bears the range and the text of extent.
func (w *walker) addSite(node, extent ast.Expr, mode plan.Mode, v plan.Variable) {
	if t := w.info.TypeOf(node); !isZeroSize(t) {
		a := w.record(node, extent, mode, v)
		if v.Kind != plan.KindMap {
			a.Site.Scalar = scalar(t)
		}
	}
}

// record is add for an access of known size, of which the caller may tell more.
func (w *walker) record(node, extent ast.Expr, mode plan.Mode, v plan.Variable) *Access {
	from, to := w.position(extent.Pos()), w.position(extent.End())
	s := plan.Site{
		Package:  w.pkg.Path,
		Function: w.fn,
		Variable: v,
		Mode:     mode,
		File:     w.relative(from.Filename),
		Line:     from.Line,
		Column:   from.Column,
		EndLine:  to.Line,
		EndCol:   to.Column,
		Expr:     types.ExprString(extent),
		Decision: plan.Monitor,
	}
	if from.Line <= len(w.lines) {
		s.Source = string(bytes.TrimSpace(w.lines[from.Line-1]))
	}
	switch {
	case w.cgo:
		s.Decision, s.Reason = plan.Skip, plan.CgoFile
	case w.skip != "":
		s.Decision, s.Reason = plan.Skip, w.skip
	}
	w.found = append(w.found, Access{Site: s, File: w.file, Node: node})
	return &w.found[len(w.found)-1]
}

// position of pos as the file on disk has it.
func (w *walker) position(pos token.Pos) token.Position {
	return w.pkg.Fset.PositionFor(pos, false)
}

func (w *walker) relative(name string) string {
	if rel, err := filepath.Rel(w.pkg.Root, name); err == nil && !strings.HasPrefix(rel, "..") {
		name = rel
	}
	return filepath.ToSlash(name)
}

// visitValue visits e as an expression that is used for its value.
func (w *walker) visitValue(e ast.Expr) {
	if e == nil {
		return
	}
	// Types and constants read no memory.
	if tv := w.info.Types[e]; tv.IsType() || tv.Value != nil {
		return
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		w.visitValue(e.X)
	case *ast.Ident, *ast.SelectorExpr, *ast.StarExpr, *ast.IndexExpr:
		w.access(e, plan.Read)
	case *ast.SliceExpr:
		w.visitBase(e.X)
		w.visitValues(e.Low, e.High, e.Max)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			w.address(e.X)
		} else {
			w.visitValue(e.X)
		}
	case *ast.BinaryExpr:
		w.visitValues(e.X, e.Y)
	case *ast.CallExpr:
		w.visitCall(e)
	case *ast.TypeAssertExpr:
		w.visitValue(e.X)
	case *ast.CompositeLit:
		w.composite(e)
	case *ast.FuncLit:
		w.closure(e)
	}
}

func (w *walker) visitValues(list ...ast.Expr) {
	for _, e := range list {
		w.visitValue(e)
	}
}

// access visits e as the place that is read or written.
func (w *walker) access(e ast.Expr, mode plan.Mode) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		w.access(e.X, mode)
	case *ast.Ident:
		if v, ok := w.info.Uses[e].(*types.Var); ok && w.sharedVar(v) {
			w.addSite(e, e, mode, w.variable(e))
		}
	case *ast.SelectorExpr:
		w.selector(e, mode)
	case *ast.StarExpr:
		w.addSite(e, e, mode, w.variable(e))
		w.visitValue(e.X)
	case *ast.IndexExpr:
		w.visitIndex(e, mode)
	default:
		w.visitValue(e)
	}
}

func (w *walker) selector(e *ast.SelectorExpr, mode plan.Mode) {
	sel := w.info.Selections[e]
	switch {
	case sel == nil: // qualified identifier
		if v, ok := w.info.Uses[e.Sel].(*types.Var); ok && w.sharedVar(v) {
			w.addSite(e, e, mode, w.variable(e))
		}
	case sel.Kind() == types.MethodVal:
		w.receiver(e, sel)
	case sel.Kind() == types.FieldVal:
		if w.info.Types[e].Addressable() && w.sharedPlace(e) {
			w.addSite(e, e, mode, w.variable(e))
		}
		w.address(e)
	}
}

// receiver visits the operand of the method value or call e.
func (w *walker) receiver(e *ast.SelectorExpr, sel *types.Selection) {
	recv := sel.Obj().(*types.Func).Signature().Recv()
	_, byPointer := types.Unalias(recv.Type()).(*types.Pointer)
	w.embedded(e, sel)
	switch {
	case isPointer(sel.Recv()):
		if !byPointer && len(sel.Index()) == 1 && !types.IsInterface(recv.Type()) {
			w.pointee(e.X, plan.Read, false)
		}
		w.visitValue(e.X)
	case byPointer, len(sel.Index()) > 1: // the address is given, nothing read, of whatever kind the operand is
		w.address(e.X)
	default:
		w.visitValue(e.X)
	}
}

func (w *walker) visitIndex(e *ast.IndexExpr, mode plan.Mode) {
	if w.info.Types[e.Index].IsType() || isGenericFunc(w.info, e) {
		return
	}
	if isMapType(w.info.TypeOf(e.X)) {
		w.addSite(e.X, e, mode, w.mapVariable(e.X))
		w.visitValues(e.X, e.Index)
		return
	}
	if w.info.Types[e].Addressable() && w.sharedPlace(e) {
		w.addSite(e, e, mode, w.variable(e))
	}
	w.indexed(e)
}

// indexed visits the operands of e, an element of a slice, array or string.
func (w *walker) indexed(e *ast.IndexExpr) {
	w.visitBase(e.X)
	w.visitValue(e.Index)
}

// visitBase visits e under an index or a slice expression: arrays are addressed
// there, everything else is read.
func (w *walker) visitBase(e ast.Expr) {
	switch underlying(w.info.TypeOf(e)).(type) {
	case *types.Slice, *types.Pointer, *types.Basic:
		w.visitValue(e)
	default:
		w.address(e)
	}
}

// address visits the operands of the place e, which itself is not read.
func (w *walker) address(e ast.Expr) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		w.address(e.X)
	case *ast.Ident:
	case *ast.SelectorExpr:
		sel := w.info.Selections[e]
		switch {
		case sel == nil:
		case sel.Kind() != types.FieldVal || isPointer(sel.Recv()):
			w.embedded(e, sel)
			w.visitValue(e.X)
		default:
			w.embedded(e, sel)
			w.address(e.X)
		}
	case *ast.StarExpr:
		w.visitValue(e.X)
	case *ast.IndexExpr:
		if isMapType(w.info.TypeOf(e.X)) {
			w.visitIndex(e, plan.Read)
		} else {
			w.indexed(e)
		}
	default:
		w.visitValue(e)
	}
}

func (w *walker) composite(e *ast.CompositeLit) {
	_, isStruct := underlying(w.info.TypeOf(e)).(*types.Struct)
	for _, elt := range e.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		if !ok {
			w.visitValue(elt)
			continue
		}
		if !isStruct {
			w.visitValue(kv.Key)
		}
		w.visitValue(kv.Value)
	}
}

func (w *walker) closure(e *ast.FuncLit) {
	outer, skip := w.fn, w.skip
	w.fn = w.names.closure(outer)
	if w.skip != plan.NeverInstrument {
		w.skip = "" // the body runs later, by itself
	}
	w.visitStmt(e.Body)
	w.fn, w.skip = outer, skip
}
