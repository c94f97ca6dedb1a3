package stores

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// A count that is meant to be about right may miss some, and people say so in many words. Wrong or old words cost no
// more than that a test has to show the harm.
var (
	inexactWords = lazily(`(?i)\b(approximat\w*|approx|about right|rough(ly)?|ballpark|estimat\w*|` +
		`best[- ]effort|` +
		`advisory|heuristic\w*|soft|hint|lossy|loosely|inexact|imprecise|not (be )?(exact|precise|accurate)|` +
		`(in)?accura(te|cy) (is|does|of)\b|drift\w*|overshoot\w*|slightly|a (few|little|` +
		`bit) (more|less|over|above|below|off)|` +
		`good enough|close enough|near enough|will do|no harm|harmless|benign|tolerat\w*|` +
		`acceptabl[ey]|(does|do) ?(n't|not) matter|does not hurt|by design|on purpose|on average|statistic\w*|monitoring|` +
		`at most once (in a while|too)|may be (lost|missed|off|stale|wrong|counted twice)|` +
		`uncounted|undercount\w*|overcount\w*|under contention|occasional(ly)?|telemetry|` +
		`(nobody|no one|none) (relies|depends|cares)|` +
		`(may|can|could|might|some|few|now and then)\b[^.]{0,30}\b(lost|lose|missed|missing|miss|off|twice)|` +
		`(lost|missed|stale|duplicate|extra|racing|racy) \w+ (is|are) (fine|ok|okay|all right|expected|allowed|wanted))\b`)
	inexactNames = lazily(`(?i)approx|estimate|rough|hint|lossy|sampled`)
	// of functions that expect others to come in between, and do without a lock for that
	comesBetween = lazily(`(?i)\b(not (be )?(atomic|consistent)|stale|eventual\w*|tries? again|` +
		`retr(y|ies)|snapshot)\b`)
)

// lazily returns a pattern that is compiled when it is first used: most processes use none.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// isInexact reports whether a comment says that a value, or a result, need not be exact.
func isInexact(comment *ast.CommentGroup) bool { return inexactWords().MatchString(comment.Text()) }

// isInexact reports whether a comment on the section's function, on its variable or on the package says that the value
// need not be exact, or a name does.
func (src *Source) isInexact(section *plan.Section, s *evidence.SplitSection) bool {
	entry := src.Plan.Site(section.Entry)
	if inexactNames().MatchString(entry.Variable.Name) || inexactNames().MatchString(section.Function) {
		return true
	}
	places := []*plan.Site{entry}
	if s.End != nil {
		at, end := src.places(section, s)
		places = append(places, at, end)
	}
	for _, p := range src.Packages {
		for _, f := range p.Files {
			if p.Path == entry.Package && isInexact(f.Doc) {
				return true
			}
			if src.saysInexact(p, f, places, entry.Variable) {
				return true
			}
		}
	}
	return false
}

// saysInexact looks at the comments of the file that belong to a function with one of the places, or to the declaration
// of the variable.
func (src *Source) saysInexact(p *sites.Package, f *ast.File, places []*plan.Site, v plan.Variable) bool {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			for _, at := range places {
				if IsFile(p, f, at.File) && covers(p.Fset, d, at) && saysInexactIn(f, d) {
					return true
				}
			}
		case *ast.GenDecl:
			if p.Path == v.Package && declaresInexact(p, d, v) {
				return true
			}
		}
	}
	return false
}

// saysInexactIn reports whether the comment of a function, or one in it, says so.
func saysInexactIn(f *ast.File, d *ast.FuncDecl) bool {
	return isInexact(d.Doc) || slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
		return d.Pos() <= c.Pos() && c.End() <= d.End() && isInexact(c)
	})
}

// declaresInexact reports whether the comment of a declaration of the variable, or of its type, says so.
func declaresInexact(p *sites.Package, d *ast.GenDecl, v plan.Variable) bool {
	says := func(groups ...*ast.CommentGroup) bool { return slices.ContainsFunc(groups, isInexact) }
	// A package variable has a comment of its own, a field may have that of its type as well.
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if v.Type == "" && name.Name == v.Name && says(d.Doc, spec.Doc, spec.Comment) {
					return true
				}
			}
		case *ast.TypeSpec:
			if v.Type == "" || spec.Name.Name != v.Type {
				continue
			}
			if says(d.Doc, spec.Doc, spec.Comment) {
				return true
			}
			if st, ok := spec.Type.(*ast.StructType); ok && fieldSays(p, st, v.Name, says) {
				return true
			}
		}
	}
	return false
}

// fieldSays reports whether the comment of the field with the name says so.
func fieldSays(p *sites.Package, st *ast.StructType, name string, says func(...*ast.CommentGroup) bool) bool {
	for _, field := range st.Fields.List {
		for _, id := range field.Names {
			if _, isVar := p.Info.Defs[id].(*types.Var); isVar && id.Name == name && says(field.Doc, field.Comment) {
				return true
			}
		}
	}
	return false
}

// SaysInexact reports whether the comment of a function, named as in a stack, says that its result is inexact, or that
// others may come in between.
func SaysInexact(pkgs []*sites.Package, function string) (says bool) {
	for _, p := range pkgs {
		rest, ok := strings.CutPrefix(function, p.Path+".")
		if !ok {
			continue
		}
		for _, f := range p.Files {
			for _, d := range f.Decls {
				fn, isFunc := d.(*ast.FuncDecl)
				says = says || isFunc && methodOf(rest) == fn.Name.Name &&
					(isInexact(fn.Doc) || comesBetween().MatchString(fn.Doc.Text()))
			}
		}
	}
	return says
}

// methodOf returns the name of the declared function in one as a stack has it, (*T[...]).M.func1.
func methodOf(function string) string {
	function = strings.ReplaceAll(function, "[...]", "")
	if _, method, ok := strings.Cut(function, ")."); ok {
		function = method
	}
	name, rest, ok := strings.Cut(function, ".")
	if ok && !strings.HasPrefix(rest, "func") { // T.M
		name, _, _ = strings.Cut(rest, ".")
	}
	return name
}
