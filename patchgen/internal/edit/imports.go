package edit

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// AddImport makes path importable in file by its last element; it returns the
// name under which file has it.
func (edits *Edits) AddImport(file *source.File, path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	var last *ast.ImportSpec
	for _, spec := range file.Syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if p == path {
			if spec.Name == nil {
				return name
			}
			if spec.Name.Name != "_" && spec.Name.Name != "." {
				return spec.Name.Name
			}
		}
		// The standard library has a group of its own.
		isNearer := last == nil || isLibrary(p) == isLibrary(path) && (p < path || !isLibrary(pathOf(last)))
		if p != "C" && isNearer {
			last = spec
		}
	}
	edits.insertImport(file, last, path)
	return name
}

// isLibrary reports whether a path is of the standard library: its first element has no dot.
func isLibrary(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// pathOf returns the path that a spec imports.
func pathOf(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value)
	return p
}

// insertImport puts a path of the standard library beside an import, or in front of it in a group of its own.
func (edits *Edits) insertImport(file *source.File, near *ast.ImportSpec, path string) {
	for _, e := range edits.byFile[file] {
		if strings.Contains(e.text(), strconv.Quote(path)) {
			return // asked for before
		}
	}
	line := strconv.Quote(path)
	if near == nil {
		at := file.Offset(file.Syntax.Name.End())
		edits.Add(file, at, at, func() string { return "\n\nimport " + line })
		return
	}
	decl, _ := file.Parents[near].(*ast.GenDecl)
	p := pathOf(near)
	switch {
	case !isLibrary(p) && decl != nil && decl.Lparen.IsValid():
		edits.Before(file, near, func() string { return line + "\n" })
	case decl == nil || !decl.Lparen.IsValid():
		old := file.Text(near)
		specs := []string{old, line}
		between := "\n\t"
		if !isLibrary(p) {
			between = "\n\n\t"
		}
		if p > path || !isLibrary(p) {
			slices.Reverse(specs)
		}
		edits.Replace(file, near, "(\n\t"+strings.Join(specs, between)+"\n)")
	case p < path:
		edits.After(file, near, func() string { return line })
	default:
		edits.Before(file, near, func() string { return line })
	}
}
