package strategy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Unseen refuses variables whose name occurs in files of their package that were not loaded: those for other systems,
// and files that cgo rewrites. Where the strategies are bold, each patch has that doubt.
func (p *Problem) Unseen() error {
	err := p.open(finding.Light, "what it does there is not protected by this patch", p.unseen())
	p.lasting, p.doubts = p.doubts, nil
	return err
}

func (p *Problem) unseen() error {
	if p.Variable.Function != nil {
		return nil // other files do not know a local
	}
	for _, name := range p.declaredIn().Ignored {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		if src, err := os.ReadFile(name); err == nil && p.mayAccess(src, p.Variable.Object.Pkg().Name()) {
			return fmt.Errorf("%s may be accessed in %s, which this build leaves out or generates", p.Variable,
				filepath.Base(name))
		}
	}
	return nil
}

// mayAccess reports whether a file that was not loaded may access the variable. In one that does not parse, each
// occurrence of its name counts. A file of another package beside this one, such as a generator's, has no access, nor
// has one that declares the type of a field, or a package variable, itself: it belongs to builds with that one.
func (p *Problem) mayAccess(src []byte, pkg string) bool {
	f, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return regexp.MustCompile(`\b` + regexp.QuoteMeta(p.Variable.Name) + `\b`).Match(src)
	}
	declared := p.Variable.Name
	if p.Variable.Owner != nil {
		declared = p.Variable.Owner.Obj().Name()
	}
	return strings.TrimSuffix(f.Name.Name, "_test") == pkg && !declares(f, declared) && uses(f, p.Variable.Name)
}

// uses reports whether a name occurs in a file as an identifier, its package clause apart.
func uses(f *ast.File, name string) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id != f.Name && id.Name == name
		return !found
	})
	return found
}

// declares reports whether a file declares a type or a variable of the package by that name.
func declares(f *ast.File, name string) bool {
	return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
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
