package strategy

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// lockName is free in the struct or scope where the lock goes.
func (p *Problem) lockName() (string, error) {
	name := source.LowerFirst(p.Variable.Name) + "Mu"
	taken := false
	switch {
	case p.Variable.Owner != nil:
		obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(p.Variable.Owner), true, p.Variable.Object.Pkg(), name)
		taken = obj != nil
	case source.IsGlobal(p.Variable.Object):
		taken = p.Variable.Object.Pkg().Scope().Lookup(name) != nil
	default:
		taken = source.UsedNames(p.Variable.Function)[name]
	}
	if taken {
		return "", fmt.Errorf("the name %s is taken", name)
	}
	return name, nil
}

// declareLock writes the declaration: before the field, package variable or
// local that it guards. A mutex is eight bytes, so it does not disturb the
// alignment of what follows.
func (p *Problem) declareLock(edits *edit.Edits, name string) error {
	file, id := p.declaration()
	if file == nil {
		return fmt.Errorf("the declaration of %s is not in the module", p.Variable)
	}
	pkg := edits.AddImport(file, "sync")
	guards := " // guards " + p.Variable.Name
	switch n := p.declNode(file, id).(type) {
	case *ast.Field:
		if p.Variable.Function == nil {
			edits.Before(file, withDoc(n, n.Doc), func() string { return name + " " + pkg + ".Mutex" + guards })
			return nil
		}
		first := p.Variable.Function.Body.List[0] // a parameter
		edits.Before(file, first, func() string { return "var " + name + " " + pkg + ".Mutex" + guards })
	case *ast.GenDecl:
		edits.Before(file, withDoc(n, n.Doc), func() string { return "var " + name + " " + pkg + ".Mutex" + guards + "\n" })
	case *ast.ValueSpec:
		edits.Before(file, withDoc(n, n.Doc), func() string { return name + " " + pkg + ".Mutex" + guards })
	case ast.Stmt:
		edits.Before(file, n, func() string { return "var " + name + " " + pkg + ".Mutex" + guards })
	default:
		return fmt.Errorf("cannot place a lock beside %s", p.Variable)
	}
	return nil
}

// withDoc returns the doc comment of a declaration, or the declaration.
func withDoc(n ast.Node, doc *ast.CommentGroup) ast.Node {
	if doc != nil {
		return doc
	}
	return n
}

// declaration finds the identifier that declares the variable.
func (p *Problem) declaration() (*source.File, *ast.Ident) {
	for _, q := range p.Module.Packages {
		for _, file := range q.Files {
			var found *ast.Ident
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name == p.Variable.Name && file.Package.Info.Defs[id] != nil &&
					source.ObjectKey(p.Module, file.Package.Info.Defs[id]) == p.Variable.Key {
					found = id
				}
				return found == nil
			})
			if found != nil {
				return file, found
			}
		}
	}
	return nil, nil
}

// declNode is what the lock's declaration goes before.
func (p *Problem) declNode(file *source.File, id *ast.Ident) ast.Node {
	for n := file.Parents[id]; n != nil; n = file.Parents[n] {
		switch n := n.(type) {
		case *ast.Field:
			return n
		case *ast.ValueSpec:
			if decl, ok := file.Parents[n].(*ast.GenDecl); ok {
				if _, local := file.Parents[decl].(*ast.DeclStmt); local {
					continue
				}
				if !decl.Lparen.IsValid() {
					return decl
				}
			}
			return n
		case ast.Stmt:
			switch file.Parents[n].(type) {
			case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
				return n
			}
		}
	}
	return nil
}
