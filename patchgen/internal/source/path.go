package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Path is where an expression such as x.a.b leads: a root variable and the
// fields from there. Two expressions with the same key denote the same memory
// as long as nothing on the way is assigned in between.
type Path struct {
	Key   string
	Class string // what a lock at that place is called: "pkg.T.mu", "pkg.mu", LocalClass and its key
	root  types.Object
}

// LocalClass starts the class of locks in local variables.
const LocalClass = "local "

// PathOf of e; ok is false where e holds a call or anything else that may lead
// elsewhere the next time.
func (file *File) PathOf(e ast.Expr) (Path, bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return file.PathOf(e.X)
	case *ast.StarExpr:
		return file.PathOf(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return file.PathOf(e.X)
		}
	case *ast.Ident:
		return file.identPath(e)
	case *ast.SelectorExpr:
		return file.selectorPath(e)
	case *ast.IndexExpr:
		return file.indexPath(e)
	}
	return Path{}, false
}

func (file *File) identPath(id *ast.Ident) (Path, bool) {
	obj, ok := file.Package.Info.ObjectOf(id).(*types.Var)
	if !ok {
		return Path{}, false
	}
	if IsGlobal(obj) {
		name := obj.Pkg().Path() + "." + obj.Name()
		return Path{Key: name, Class: name, root: obj}, true
	}
	if value := file.singleValue[obj]; value != nil && IsPointer(obj.Type()) {
		if p, ok := file.PathOf(value); ok {
			return p, true
		}
	}
	key := ObjectKey(file.Module, obj)
	return Path{Key: key, Class: LocalClass + key, root: obj}, true
}

func (file *File) selectorPath(e *ast.SelectorExpr) (Path, bool) {
	sel := file.Package.Info.Selections[e]
	if sel == nil {
		return file.identPath(e.Sel) // pkg.Var
	}
	if sel.Kind() != types.FieldVal {
		return Path{}, false
	}
	base, ok := file.PathOf(e.X)
	if !ok {
		return Path{}, false
	}
	return base.through(sel.Recv(), sel.Index()), true
}

// through follows a selection's index path from a value of type t.
func (p Path) through(t types.Type, index []int) Path {
	for _, i := range index {
		st, ok := StructOf(t)
		if !ok || i >= st.NumFields() {
			return p
		}
		f := st.Field(i)
		p.Key += "." + f.Name()
		p.Class = OwnerName(t) + "." + f.Name()
		t = f.Type()
	}
	return p
}

func (file *File) indexPath(e *ast.IndexExpr) (Path, bool) {
	base, ok := file.PathOf(e.X)
	if !ok {
		return Path{}, false
	}
	switch i := e.Index.(type) {
	case *ast.BasicLit:
		base.Key += "[" + i.Value + "]"
	case *ast.Ident:
		obj := file.Package.Info.ObjectOf(i)
		if obj == nil {
			return Path{}, false
		}
		base.Key += "[" + ObjectKey(file.Module, obj) + "]"
	default:
		return Path{}, false
	}
	base.Class += "[]"
	return base, true
}

// ObjectKey identifies an object across the variants of its package, which share
// positions but not objects.
func ObjectKey(m *Module, obj types.Object) string {
	if v, ok := obj.(*types.Var); ok {
		obj = v.Origin()
	}
	return KeyAt(m.Fset, obj.Name(), obj.Pos())
}

// KeyAt returns the key of the object that is declared by name at pos.
func KeyAt(fset *token.FileSet, name string, pos token.Pos) string {
	p := fset.PositionFor(pos, false)
	return fmt.Sprintf("%s@%s:%d:%d", name, p.Filename, p.Line, p.Column)
}

// Short drops directories from the import path of a lock class, for reasons
// that people read.
func Short(class string) string {
	if key, ok := strings.CutPrefix(class, LocalClass); ok {
		name, _, _ := strings.Cut(key, "@")
		return name
	}
	return class[strings.LastIndexByte(class, '/')+1:]
}
