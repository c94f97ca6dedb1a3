package production

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// operations are how the names of functions of sync/atomic begin, and whether they release.
var operations = map[string]bool{
	"Load": false, "Store": true, "Swap": true, "CompareAndSwap": true, "Add": true, "And": true, "Or": true,
}

// operands are how these names end.
var operandTypes = []string{"Int32", "Uint32", "Int64", "Uint64", "Uintptr", "Pointer"}

// releases reports whether a function of sync/atomic with this name is an operation on memory, and whether it stores.
func releases(name string) (operation, stores bool) {
	for _, of := range operandTypes {
		if begin, ok := strings.CutSuffix(name, of); ok {
			stores, operation = operations[begin]
			return operation, stores
		}
	}
	return false, false
}

// countedName returns the name of the function that counts an operation of sync/atomic. It is as long as the
// operation's, so that columns stay. The compiler makes an instruction of the operation itself, whatever its body is,
// but not of this.
func countedName(name string) string { return name[:1] + strings.ToUpper(name[1:2]) + name[2:] }

// countedFunctions returns a file of package sync/atomic with the functions that count. Each inlined call is known by
// the frame of its function: an access there is atomic.
func countedFunctions(root string) ([]byte, error) {
	out := bytes.NewBufferString("package atomic\n\nimport \"unsafe\"\n\n" +
		"//go:linkname ilkRelease runtime.ilkRelease\nfunc ilkRelease()\n\nvar _ unsafe.Pointer\n\n")
	for _, name := range []string{"doc.go", "doc_64.go"} {
		text, err := os.ReadFile(filepath.Join(root, "src", "sync", "atomic", name))
		if os.IsNotExist(err) && name != "doc.go" {
			continue
		} else if err != nil {
			return nil, err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			if operation, stores := releases(fn.Name.Name); operation {
				writeCounted(out, fn, string(text[fset.Position(fn.Type.Params.Pos()).Offset:fset.Position(fn.Type.End()).Offset]),
					stores)
			}
		}
	}
	return format.Source(out.Bytes())
}

func writeCounted(out *bytes.Buffer, fn *ast.FuncDecl, signature string, stores bool) {
	var args []string
	for _, p := range fn.Type.Params.List {
		for _, name := range p.Names {
			args = append(args, name.Name)
		}
	}
	fmt.Fprintf(out, "func %s%s {\n", countedName(fn.Name.Name), signature)
	if stores {
		fmt.Fprintf(out, "\tilkRelease()\n")
	}
	returns := ""
	if fn.Type.Results != nil {
		returns = "return "
	}
	fmt.Fprintf(out, "\t%s%s(%s)\n}\n\n", returns, fn.Name.Name, strings.Join(args, ", "))
}

// CountAtomics returns the text of a Go file with each operation of sync/atomic replaced by the one that counts it, or
// nil where there is none. Of package sync/atomic itself, the names stand alone.
func CountAtomics(name string, text []byte, ofAtomic bool) ([]byte, error) {
	if !ofAtomic && !bytes.Contains(text, []byte(`"sync/atomic"`)) {
		return nil, nil
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return nil, nil // the compiler will report it
	}
	alias := atomicName(f)
	if alias == "" && !ofAtomic {
		return nil, nil
	}
	var at []int
	note := func(id *ast.Ident) {
		if operation, _ := releases(id.Name); operation {
			at = append(at, fset.Position(id.Pos()).Offset)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if ofAtomic && n.Body != nil {
				ast.Inspect(n.Body, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						if id, ok := call.Fun.(*ast.Ident); ok {
							note(id)
						}
					}
					return true
				})
			}
		case *ast.SelectorExpr:
			// A variable with the name of the package hides it.
			if id, ok := n.X.(*ast.Ident); ok && !ofAtomic && id.Name == alias && id.Obj == nil {
				note(n.Sel)
			}
		}
		return true
	})
	if len(at) == 0 {
		return nil, nil
	}
	counted := slices.Clone(text)
	for _, i := range at {
		counted[i+1] = byte(strings.ToUpper(string(counted[i+1 : i+2]))[0])
	}
	return counted, nil
}

// atomicName returns the name by which a file calls package sync/atomic, or "".
func atomicName(f *ast.File) string {
	for _, spec := range f.Imports {
		if spec.Path.Value != `"sync/atomic"` {
			continue
		}
		if spec.Name == nil {
			return "atomic"
		}
		if spec.Name.Name != "_" && spec.Name.Name != "." {
			return spec.Name.Name
		}
	}
	return ""
}
