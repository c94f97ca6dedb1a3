// Package directives is the shared pass that reads the comments of people for Interlock:
//
//	//interlock:ignore CODE why   on the line of a finding or the line above
//	//nolint:interlock // why     the same for all codes, in golangci-lint's words
//	//lint:ignore CODE why        the same, in staticcheck's words
//	//interlock:guardedby mu      on a field or package variable
//	// +checklocks:mu             the same, in gVisor's words
//
// A directive without a reason, or with an unknown code or lock, is a problem. One that
// suppresses nothing is reported too, so that none outlives its cause.
//
// Cost: linear in the comments; each is asked about once for each finding.
package directives

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"maps"
	"reflect"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/pass/scope"
)

// Analyzer reads the directives of a package.
var Analyzer = &analysis.Analyzer{
	Name:       "interlockdirectives",
	Doc:        "read //interlock: directives",
	Run:        run,
	ResultType: reflect.TypeFor[*Set](),
}

// Problem is a directive that does not make sense.
type Problem struct {
	Pos     token.Pos
	Message string
}

// Set is the directives of a package.
type Set struct {
	guards   map[*types.Var]string
	problems []Problem
	fset     *token.FileSet

	mu      sync.Mutex
	ignores []*placedIgnore // their used flags are guarded by mu: checks run at the same time
}

func run(pass *analysis.Pass) (any, error) {
	s := &Set{guards: map[*types.Var]string{}, fset: pass.Fset}
	if !scope.In(pass) {
		return s, nil
	}
	for _, f := range pass.Files {
		for _, group := range f.Comments {
			for _, c := range group.List {
				s.readIgnore(c)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s.readGuards(pass, n)
			return true
		})
	}
	return s, nil
}

func (s *Set) problem(pos token.Pos, format string, args ...any) {
	s.problems = append(s.problems, Problem{pos, fmt.Sprintf(format, args...)})
}

// Guard returns the lock that an annotation names as the guard of v, as
// written: a path from the struct that holds the field, or a package variable.
func (s *Set) Guard(v *types.Var) (lock string, ok bool) {
	lock, ok = s.guards[v]
	return lock, ok
}

// Guards lists the annotated variables and their locks, in no order.
func (s *Set) Guards() iter.Seq2[*types.Var, string] { return maps.All(s.guards) }

func (s *Set) readGuards(pass *analysis.Pass, n ast.Node) {
	switch n := n.(type) {
	case *ast.StructType:
		for _, field := range n.Fields.List {
			if lock, pos := guardIn(field.Doc, field.Comment); pos.IsValid() {
				s.guardFields(pass, n, field, lock, pos)
			}
		}
	case *ast.GenDecl:
		for _, spec := range n.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && n.Tok == token.VAR {
				s.guardVars(pass, n, v)
			}
		}
	}
}

func (s *Set) guardFields(pass *analysis.Pass, st *ast.StructType, field *ast.Field, lock string, pos token.Pos) {
	t, _ := pass.TypesInfo.TypeOf(st).(*types.Struct)
	if lock == "" {
		s.problem(pos, "guardedby without a lock: name the field that guards this one")
		return
	}
	if t == nil || !hasField(t, lock) {
		s.problem(pos, "guardedby %s: the struct has no such field", lock)
		return
	}
	for _, name := range field.Names {
		if v, ok := pass.TypesInfo.Defs[name].(*types.Var); ok {
			s.guards[v] = lock
		}
	}
}

// hasField reports whether the path of fields exists, promoted ones included.
func hasField(t types.Type, path string) bool {
	for part := range strings.SplitSeq(path, ".") {
		obj, _, _ := types.LookupFieldOrMethod(t, true, nil, part)
		if obj == nil {
			obj = ownField(t, part)
		}
		v, ok := obj.(*types.Var)
		if !ok {
			return false
		}
		t = v.Type()
	}
	return true
}

func ownField(t types.Type, name string) types.Object {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if st, ok := t.Underlying().(*types.Struct); ok {
		for f := range st.Fields() {
			if f.Name() == name {
				return f
			}
		}
	}
	return nil
}

func (s *Set) guardVars(pass *analysis.Pass, decl *ast.GenDecl, spec *ast.ValueSpec) {
	doc := spec.Doc
	if doc == nil && !decl.Lparen.IsValid() {
		doc = decl.Doc
	}
	lock, pos := guardIn(doc, spec.Comment)
	if !pos.IsValid() {
		return
	}
	if lock == "" {
		s.problem(pos, "guardedby without a lock: name the variable that guards this one")
		return
	}
	if _, ok := pass.Pkg.Scope().Lookup(lock).(*types.Var); !ok {
		s.problem(pos, "guardedby %s: the package has no such variable", lock)
		return
	}
	for _, name := range spec.Names {
		if v, ok := pass.TypesInfo.Defs[name].(*types.Var); ok {
			s.guards[v] = lock
		}
	}
}

// guardIn returns the lock that one of the comments names, and where that comment stands; no position if none is a
// directive.
func guardIn(groups ...*ast.CommentGroup) (lock string, pos token.Pos) {
	for _, g := range groups {
		if g == nil {
			continue
		}
		for _, c := range g.List {
			if rest, ok := strings.CutPrefix(c.Text, "//interlock:guardedby"); ok {
				lock, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
				return lock, c.Pos()
			}
			text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
			if rest, ok := strings.CutPrefix(text, "+checklocks:"); ok {
				return strings.TrimSpace(rest), c.Pos()
			}
		}
	}
	return "", token.NoPos
}
