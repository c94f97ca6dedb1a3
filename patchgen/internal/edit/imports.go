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
		if p != "C" && (p < path || last == nil) {
			last = spec
		}
	}
	edits.insertImport(file, last, path)
	return name
}

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
	p, _ := strconv.Unquote(near.Path.Value)
	switch {
	case decl == nil || !decl.Lparen.IsValid():
		old := file.Text(near)
		specs := []string{old, line}
		if p > path {
			slices.Reverse(specs)
		}
		edits.Replace(file, near, "(\n\t"+strings.Join(specs, "\n\t")+"\n)")
	case p < path:
		edits.After(file, near, func() string { return line })
	default:
		edits.Before(file, near, func() string { return line })
	}
}
