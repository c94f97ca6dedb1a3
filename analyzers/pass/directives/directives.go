// Package directives is the shared pass that reads what people wrote to
// Interlock in comments:
//
//	//interlock:ignore CODE why   on the line of a finding or the line above
//	//interlock:guardedby mu      on a field or package variable
//	// +checklocks:mu             the same, in gVisor's words
//
// A directive that says nothing (no reason, no known lock) or suppresses
// nothing is a problem, so that they do not outlive their cause.
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

	"github.com/interlock-go/interlock/analyzers/finding"
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
	ignores []*ignore // their used flags are guarded by mu: checks run at the same time
}

type ignore struct {
	pos  token.Pos
	file string
	line int
	code finding.Code
	used bool
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

func (s *Set) readIgnore(c *ast.Comment) {
	rest, ok := strings.CutPrefix(c.Text, "//interlock:ignore")
	if !ok {
		return
	}
	code, why, _ := strings.Cut(strings.TrimSpace(rest), " ")
	switch {
	case !finding.Code(code).Known():
		s.problem(c.Pos(), "interlock:ignore of unknown code %q: write //interlock:ignore CODE why", code)
	case strings.TrimSpace(why) == "":
		s.problem(c.Pos(), "interlock:ignore %s without a reason: say why after the code", code)
	default:
		p := s.fset.PositionFor(c.Pos(), false)
		s.ignores = append(s.ignores, &ignore{pos: c.Pos(), file: p.Filename, line: p.Line, code: finding.Code(code)})
	}
}

// Ignored reports whether a directive suppresses a finding of the code at one
// of the positions, and marks it as used. It is safe for concurrent use.
func (s *Set) Ignored(code finding.Code, at ...token.Pos) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := false
	for _, pos := range at {
		p := s.fset.PositionFor(pos, false)
		for _, ig := range s.ignores {
			if ig.code == code && ig.file == p.Filename && (ig.line == p.Line || ig.line == p.Line-1) {
				ig.used, found = true, true
			}
		}
	}
	return found
}

// Problems lists the directives that make no sense, and the ignores of the
// given codes that suppressed nothing; ask once the checks have run.
func (s *Set) Problems(codes ...finding.Code) []Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := append([]Problem(nil), s.problems...)
	for _, ig := range s.ignores {
		for _, code := range codes {
			if ig.code == code && !ig.used {
				all = append(all, Problem{ig.pos, fmt.Sprintf("interlock:ignore %s suppresses nothing: remove it", code)})
			}
		}
	}
	return all
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
			if lock, pos := guardIn(field.Doc, field.Comment); lock != "" {
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
	if lock == "" {
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
