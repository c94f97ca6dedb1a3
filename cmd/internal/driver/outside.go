package driver

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
	"golang.org/x/tools/go/gcexportdata"

	"github.com/interlock-go/interlock/analyzers/pass/scope"
	"github.com/interlock-go/interlock/analyzers/summary"
)

// outside serves a package that is not to be analysed, if the arguments ask
// for the types and facts of such a one: the passes have no facts there, so
// that its declarations are typed and no function bodies, which cost most.
// These are nearly all packages that a module imports. It reports whether it
// did; where anything is odd, unitchecker is to do it, and to say so.
func outside(args []string) bool {
	u, err := readUnit(args)
	if err != nil || !u.VetxOnly || u.VetxOutput == "" || u.in() {
		return false
	}
	return u.writeTypes() == nil
}

// unit is the go command's request for one package, by the protocol of
// [unitchecker.Main].
type unit struct{ unitchecker.Config }

func readUnit(args []string) (*unit, error) {
	for _, a := range args {
		if modules, ok := strings.CutPrefix(a, "-"+summary.Name+".modules="); ok {
			if err := scope.Flag.Set(modules); err != nil {
				return nil, err
			}
		}
	}
	data, err := os.ReadFile(args[len(args)-1])
	if err != nil {
		return nil, err
	}
	u := new(unit)
	if err := json.Unmarshal(data, &u.Config); err != nil {
		return nil, err
	}
	if len(u.GoFiles) == 0 {
		return nil, fmt.Errorf("package %s has no files", u.ImportPath)
	}
	return u, nil
}

func (u *unit) in() bool {
	m := u.Module
	if m == nil {
		m = &analysis.Module{Path: u.ModulePath, Version: u.ModuleVersion}
	}
	return (scope.Unit{Path: u.ImportPath, Module: m.Path, Version: m.Version, File: u.GoFiles[0]}).In()
}

// writeTypes types the declarations of the package and leaves them for its
// importers.
func (u *unit) writeTypes() error {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range u.GoFiles {
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	conf := types.Config{
		Importer:         &vetxImporter{u, fset, map[string]*types.Package{}},
		Sizes:            types.SizesFor("gc", build.Default.GOARCH),
		GoVersion:        u.GoVersion,
		IgnoreFuncBodies: true,
	}
	pkg, err := conf.Check(u.ImportPath, fset, files, nil)
	if err != nil {
		return err
	}
	var exported bytes.Buffer
	if err := gcexportdata.Write(&exported, fset, pkg); err != nil {
		return err
	}
	return writeVetx(u.VetxOutput, exported.Bytes()[1:])
}

// A vetx file is how unitchecker hands types and facts from package to
// package: this word, the lengths of both, the types as gcexportdata has them
// without their first byte, the facts.
const vetxWord = "vetx"

func writeVetx(name string, exported []byte) error {
	data := binary.LittleEndian.AppendUint32([]byte(vetxWord), uint32(len(exported)))
	data = binary.LittleEndian.AppendUint32(data, 0) // no facts
	return os.WriteFile(name, append(data, exported...), 0o666)
}

func readVetx(name string) (exported []byte, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(data, []byte(vetxWord))
	if !ok || len(rest) < 8 || uint64(len(rest)-8) < uint64(binary.LittleEndian.Uint32(rest)) {
		return nil, fmt.Errorf("%s is no vetx file", name)
	}
	return rest[8 : 8+binary.LittleEndian.Uint32(rest)], nil
}

// vetxImporter holds the packages that a unit imports, from their vetx files.
// It is used by one goroutine.
type vetxImporter struct {
	unit     *unit
	fset     *token.FileSet
	packages map[string]*types.Package
}

// Import implements [types.Importer].
func (i *vetxImporter) Import(name string) (*types.Package, error) {
	path := i.unit.ImportMap[name]
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if pkg := i.packages[path]; pkg != nil && pkg.Complete() {
		return pkg, nil
	}
	exported, err := readVetx(i.unit.PackageVetx[path])
	if err != nil {
		return nil, err
	}
	return gcexportdata.Read(io.MultiReader(strings.NewReader("i"), bytes.NewReader(exported)), i.fset, i.packages, path)
}
