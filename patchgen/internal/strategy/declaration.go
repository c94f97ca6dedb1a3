package strategy

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// lockName is free in the struct or scope where the lock goes: mu for one that guards several fields.
func (p *Problem) lockName() (string, error) {
	if len(p.beside()) > 0 && p.Variable.Owner != nil && !p.isTaken("mu") {
		return "mu", nil
	}
	name := source.LowerFirst(p.Variable.Name) + "Mu"
	if p.isTaken(name) {
		return "", fmt.Errorf("the new lock would be called %s, and that name is taken", name)
	}
	return name, nil
}

// isTaken reports whether a name stands for something in the struct or scope where a lock goes.
func (p *Problem) isTaken(name string) bool {
	switch {
	case p.Variable.Owner != nil:
		obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(p.Variable.Owner), true, p.Variable.Object.Pkg(), name)
		return obj != nil
	case source.IsGlobal(p.Variable.Object):
		return p.Variable.Object.Pkg().Scope().Lookup(name) != nil
	}
	return source.UsedNames(p.Variable.Function)[name]
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
	for _, q := range p.beside() {
		guards += ", " + q.Variable.Name
	}
	switch n := p.declNode(file, id).(type) {
	case *ast.Field:
		if p.Variable.Function == nil {
			if p.byPointer {
				p.setInLiterals(edits, name)
				pkg = "*" + pkg
			}
			if err := p.nameFields(edits); err != nil {
				return err
			}
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

// nameFields writes the names of the fields into the literals that list them by position, as a new field is among them
// now:
//
//	&counter{1, 2}	->	&counter{n: 1, max: 2}
func (p *Problem) nameFields(edits *edit.Edits) error {
	for _, lit := range p.Module.Positional(p.Variable.Owner) {
		for i, value := range lit.Elts {
			name := lit.Struct.Field(i).Name()
			if name == "_" {
				return fmt.Errorf("the literal at %s sets a field without a name", lit.At(lit.CompositeLit))
			}
			at := lit.Offset(value.Pos())
			edits.Add(lit.File, at, at, func() string { return name + ": " })
		}
	}
	return nil
}

// setInLiterals makes the lock in each literal of its struct:
//
//	wrapper{Conn: c}	->	wrapper{mu: new(sync.Mutex), Conn: c}
func (p *Problem) setInLiterals(edits *edit.Edits, name string) {
	for _, q := range p.Module.Packages {
		for _, file := range q.Files {
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				lit, ok := n.(*ast.CompositeLit)
				if !ok || source.IsPointer(file.TypeOf(lit)) ||
					!source.SameNamed(source.Named(file.TypeOf(lit)), p.Variable.Owner) {
					return true
				}
				field := name + ": new(" + edits.AddImport(file, "sync") + ".Mutex)"
				switch {
				case len(lit.Elts) == 0:
					at := file.Offset(lit.Lbrace) + 1
					edits.Add(file, at, at, func() string { return field })
				case file.Line(lit.Elts[0].Pos()) == file.Line(lit.Lbrace):
					at := file.Offset(lit.Elts[0].Pos())
					edits.Add(file, at, at, func() string { return field + ", " })
				default:
					edits.Before(file, lit.Elts[0], func() string { return field + "," })
				}
				return true
			})
		}
	}
}

// withDoc returns the doc comment of a declaration, or the declaration.
func withDoc(n ast.Node, doc *ast.CommentGroup) ast.Node {
	if doc != nil {
		return doc
	}
	return n
}

// guardsComment is the comment of a lock that names what it guards.
var guardsComment = regexp.MustCompile(`^// guards \w+(, \w+)*$`)

// nameGuarded adds the variable to the comment on a lock beside it that names all that it guards:
//
//	mu sync.Mutex // guards n	->	mu sync.Mutex // guards n, sum
func (p *Problem) nameGuarded(edits *edit.Edits, lock *knownLock) {
	file, id := p.declarationOf(source.ObjectKey(p.Module, lock.declared))
	if file == nil || !lock.isBeside(p.Variable) {
		return
	}
	var comment *ast.CommentGroup
	for n := file.Parents[id]; n != nil && comment == nil; n = file.Parents[n] {
		switch n := n.(type) {
		case *ast.Field:
			comment = n.Comment
		case *ast.ValueSpec:
			comment = n.Comment
		case ast.Stmt, ast.Decl:
			return
		}
	}
	if comment == nil || len(comment.List) != 1 || !guardsComment.MatchString(comment.List[0].Text) {
		return
	}
	// Words that are no names are a sentence.
	names := strings.Split(strings.TrimPrefix(comment.List[0].Text, "// guards "), ", ")
	if slices.Contains(names, p.Variable.Name) {
		return
	}
	for _, name := range names {
		if !p.isSibling(name) {
			return
		}
	}
	end := file.Offset(comment.End())
	edits.Add(file, end, end, func() string { return ", " + p.Variable.Name })
}

// isSibling reports whether a name is that of another field of the variable's struct, or of another variable of its
// package or function.
func (p *Problem) isSibling(name string) bool {
	switch {
	case p.Variable.Owner != nil:
		obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(p.Variable.Owner), true, p.Variable.Object.Pkg(), name)
		_, ok := obj.(*types.Var)
		return ok
	case source.IsGlobal(p.Variable.Object):
		_, ok := p.Variable.Object.Pkg().Scope().Lookup(name).(*types.Var)
		return ok
	}
	return p.Variable.Function != nil && source.UsedNames(p.Variable.Function)[name]
}

// declaration finds the identifier that declares the variable.
func (p *Problem) declaration() (*source.File, *ast.Ident) { return p.declarationOf(p.Variable.Key) }

// declarationOf finds the identifier that declares what has a key: see [source.ObjectKey].
func (p *Problem) declarationOf(key string) (*source.File, *ast.Ident) {
	name, _, _ := strings.Cut(key, "@")
	for _, q := range p.Module.Packages {
		for _, file := range q.Files {
			var found *ast.Ident
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name == name && file.Package.Info.Defs[id] != nil &&
					source.ObjectKey(p.Module, file.Package.Info.Defs[id]) == key {
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
