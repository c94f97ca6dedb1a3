package validate

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// otherBuilds doubts where a file that this build leaves out, such as one for another system, or that cgo rewrites,
// uses a variable that the patch protects, or may not compile with it any more.
func (j *judge) otherBuilds() {
	files := map[string][]outside{} // by package
	of := func(path string) []outside {
		if _, known := files[path]; !known {
			files[path] = outsideOf(j.old.Package(path))
		}
		return files[path]
	}
	// What the patch protects is not protected there.
	for _, v := range append([]Variable{j.now.claim.Variable}, j.now.claim.Also...) {
		for _, f := range of(v.Package) {
			if v.Name != "" && v.Func == "" && f.mayAccess(v) {
				j.doubt(place{}, finding.Light, "other builds", "what it does there is not protected by this patch",
					"%s may be accessed in %s, which this build leaves out or generates", v, f.name)
			}
		}
	}
	// What it declares in another way has the old use there.
	for _, c := range j.now.Changes {
		before, after := j.old.Package(c.Package), j.now.Package(c.Package)
		for _, f := range of(c.Package) {
			if changed := f.usesChanged(before, after); changed != "" {
				j.doubt(place{}, finding.Heavy, "other builds", "that build may fail",
					"the patch changes or adds %s, which is used in %s too, which this build leaves out or generates", changed, f.name)
			}
		}
	}
}

// outside is a Go file of a package that the analysis has not seen.
type outside struct {
	name   string
	source []byte
	syntax *ast.File // nil if it does not parse
}

// outsideOf reads the files of a package that were not loaded. A file of another package beside this one, such as a
// generator's, is none of them.
func outsideOf(p *session.Package) (list []outside) {
	if p == nil {
		return nil
	}
	for _, name := range p.Outside() {
		src, err := os.ReadFile(name)
		if err != nil {
			continue // removed since: no build has it
		}
		f, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
		if err == nil && strings.TrimSuffix(f.Name.Name, "_test") != p.Types.Name() {
			continue
		}
		if err != nil {
			f = nil
		}
		list = append(list, outside{filepath.Base(name), src, f})
	}
	return list
}

// mayAccess reports whether the file may access a variable. One that declares the type of a field, or a package
// variable, itself belongs to builds without the one that was seen.
func (f outside) mayAccess(v Variable) bool {
	declared := v.Name
	if v.Type != "" {
		declared = v.Type
	}
	return f.uses(v.Name) && !f.declares(declared)
}

// uses reports whether a name occurs as an identifier, the package clause apart; of a file that does not parse, whether
// it occurs at all.
func (f outside) uses(name string) (found bool) {
	if !bytes.Contains(f.source, []byte(name)) || f.syntax == nil {
		return f.syntax == nil && bytes.Contains(f.source, []byte(name))
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id != f.syntax.Name && id.Name == name
		return !found
	})
	return found
}

// declares reports whether the file declares a type or a variable of the package by a name.
func (f outside) declares(name string) bool {
	return f.syntax != nil && slices.ContainsFunc(f.syntax.Decls, func(d ast.Decl) bool {
		group, ok := d.(*ast.GenDecl)
		return ok && slices.ContainsFunc(group.Specs, func(s ast.Spec) bool {
			switch s := s.(type) {
			case *ast.TypeSpec:
				return s.Name.Name == name
			case *ast.ValueSpec:
				return slices.ContainsFunc(s.Names, func(id *ast.Ident) bool { return id.Name == name })
			}
			return false
		})
	})
}

// usesChanged returns a declaration of the package that the file uses and that is gone, new, or has another type; ""
// for none. A struct with other fields is used by a literal without names and by a conversion.
func (f outside) usesChanged(before, after *session.Package) string {
	for _, name := range namesOf(before.Types.Scope().Names(), after.Types.Scope().Names()) {
		old, now := before.Types.Scope().Lookup(name), after.Types.Scope().Lookup(name)
		if !isSameDeclared(old, now) && f.uses(name) {
			return name
		}
		was, wasType := old.(*types.TypeName)
		is, isType := now.(*types.TypeName)
		if !wasType || !isType {
			continue
		}
		if typeText(was.Type().Underlying()) != typeText(is.Type().Underlying()) && f.needsFieldsOf(name) {
			return name
		}
		// A new field may be found there in the place of another one.
		for _, field := range newFields(was, is) {
			if f.uses(field) && f.embeds(name) {
				return name + "." + field
			}
		}
		methods, newer := methodsOf(was), methodsOf(is)
		for _, m := range namesOf(slices.Collect(maps.Keys(methods)), slices.Collect(maps.Keys(newer))) {
			if !isSameDeclared(methods[m], newer[m]) && f.uses(m) {
				return name + "." + m
			}
		}
	}
	return ""
}

// newFields lists the fields that a struct has now and had not.
func newFields(was, is *types.TypeName) (names []string) {
	if st, ok := is.Type().Underlying().(*types.Struct); ok {
		for f := range st.Fields() {
			if fieldOf(was.Type(), f.Name()) == nil {
				names = append(names, f.Name())
			}
		}
	}
	return names
}

// embeds reports whether a struct of the file has an embedded field of a type.
func (f outside) embeds(name string) (found bool) {
	if f.syntax == nil {
		return f.uses(name)
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if ok && len(field.Names) == 0 {
			t := field.Type
			if star, isPointer := t.(*ast.StarExpr); isPointer {
				t = star.X
			}
			id, isName := t.(*ast.Ident)
			found = found || isName && id.Name == name
		}
		return !found
	})
	return found
}

// namesOf returns the names of two lists, in ascending order.
func namesOf(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// methodsOf returns the declared methods of a type, by name.
func methodsOf(tn *types.TypeName) map[string]types.Object {
	methods := map[string]types.Object{}
	if named, ok := tn.Type().(*types.Named); ok {
		for m := range named.Methods() {
			methods[m.Name()] = m
		}
	}
	return methods
}

// isSameDeclared reports whether two objects of one name have the same type.
func isSameDeclared(old, now types.Object) bool {
	return old != nil && now != nil && typeText(old.Type()) == typeText(now.Type())
}

// typeText returns the text of a type, the same for one package typed twice.
func typeText(t types.Type) string { return types.TypeString(t, nil) }

// needsFieldsOf reports whether the file has a literal of a struct without names, T{x, y}, or a conversion to it, T(x).
func (f outside) needsFieldsOf(name string) (found bool) {
	if !f.uses(name) || f.declares(name) {
		return false
	}
	if f.syntax == nil {
		return true
	}
	isNamed := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && id.Name == name
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			isKeyed := len(n.Elts) == 0 || isKeyValue(n.Elts[0])
			found = found || !isKeyed && (n.Type == nil || isNamed(n.Type))
		case *ast.CallExpr:
			found = found || isNamed(n.Fun)
		}
		return !found
	})
	return found
}

func isKeyValue(e ast.Expr) bool {
	_, ok := e.(*ast.KeyValueExpr)
	return ok
}
