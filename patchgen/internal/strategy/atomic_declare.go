package strategy

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// isSetAtOnce reports whether a package variable of a number type is declared with a constant value. An atomic type
// would need a function init for that; the plain word keeps it: var limit int64 = -1.
func (w *atomicWriter) isSetAtOnce() bool {
	v := w.problem.Variable
	if !source.IsGlobal(v.Object) || v.Object.Exported() {
		return false
	}
	basic, ok := v.Object.Type().Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsInteger == 0 {
		return false
	}
	file, id := w.problem.declaration()
	if file == nil {
		return false
	}
	spec, ok := file.Parents[id].(*ast.ValueSpec)
	return ok && len(spec.Names) == 1 && len(spec.Values) == 1 && file.Package.Info.Types[spec.Values[0]].Value != nil
}

// isRetyped reports whether functions of sync/atomic take the variable only when its declaration has another type.
func (w *atomicWriter) isRetyped() bool { return w.functions && w.conv != "" }

// declare returns the variables their new types, those that are declared together in one place.
func declare(writers []*atomicWriter) error {
	groups := map[ast.Node][]*atomicWriter{}
	var order []ast.Node
	var files []*source.File
	for _, w := range writers {
		if w.functions && !w.isRetyped() {
			continue
		}
		file, id := w.problem.declaration()
		if file == nil {
			return fmt.Errorf("the declaration of %s is not in the module", w.problem.Variable)
		}
		parent := file.Parents[id]
		if groups[parent] == nil {
			order, files = append(order, parent), append(files, file)
		}
		groups[parent] = append(groups[parent], w)
	}
	for i, n := range order {
		if err := declareTogether(files[i], n, groups[n]); err != nil {
			return err
		}
	}
	return nil
}

// declareTogether writes the types of variables with one declaration.
func declareTogether(file *source.File, n ast.Node, writers []*atomicWriter) error {
	w := writers[0]
	switch n := n.(type) {
	case *ast.Field:
		return w.declareFields(file, n, writers)
	case *ast.ValueSpec:
		switch {
		case w.isSet && w.isRetyped() && n.Type == nil:
			// limit = -1	->	limit int64 = -1
			at := file.Offset(n.Names[0].End())
			w.edits.Add(file, at, at, func() string { return " " + w.conv })
		case w.isSet && w.isRetyped():
			w.edits.Replace(file, n.Type, w.conv)
		case len(n.Names) != len(writers) || n.Type == nil || len(n.Values) > 0:
			return fmt.Errorf("%s is not declared by a plain var", w.problem.Variable)
		default:
			w.edits.Replace(file, n.Type, w.typeText(w.edits, file))
		}
		return nil
	}
	return errors.New("its declaration has no type of its own")
}

// declareFields writes the types of fields that one line declares; those that stay plain get a line of their own:
//
//	hits, misses, size uint64	->	hits, misses atomic.Uint64
//					size         uint64
func (w *atomicWriter) declareFields(file *source.File, n *ast.Field, writers []*atomicWriter) error {
	typ := w.typeText(w.edits, file)
	if len(n.Names) == len(writers) {
		w.edits.Replace(file, n.Type, typ)
		return nil
	}
	var atomics, plain []string
	for _, name := range n.Names {
		isAtomic := slices.ContainsFunc(writers, func(w *atomicWriter) bool { return w.problem.Variable.Name == name.Name })
		if isAtomic {
			atomics = append(atomics, name.Name)
		} else {
			plain = append(plain, name.Name)
		}
	}
	if n.Tag != nil {
		return fmt.Errorf("%s is declared together with others, with a tag", w.problem.Variable)
	}
	// The offsets of fields of 64 bits matter on machines of 32 bits; an atomic type is aligned by itself.
	text := strings.Join(atomics, ", ") + " " + typ + "\n" + strings.Join(plain, ", ") + " " + file.Text(n.Type)
	indent := file.Indent(n.Pos())
	w.edits.Add(file, file.Offset(n.Names[0].Pos()), file.Offset(n.Type.End()), func() string {
		return strings.TrimSuffix(edit.Lines(text, indent), "\n"+indent)
	})
	return nil
}

// typeText writes the atomic type.
func (w *atomicWriter) typeText(edits *edit.Edits, file *source.File) string {
	typ := edits.AddImport(file, "sync/atomic") + "." + w.elem
	if w.pointee != "" {
		typ += "[" + w.pointee + "]"
	}
	return typ
}
