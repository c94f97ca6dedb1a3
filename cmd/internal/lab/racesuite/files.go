package racesuite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
)

// files is the copy of the suite's files.
type files struct {
	dir       string            // module
	functions []function        // that can run
	leftOut   map[string]string // others, with the reason
}

// function is one test function of the suite.
type function struct {
	name string
	file string
	racy bool
}

// leftOut are files of the suite that cannot run here, with the reason.
var leftOut = map[string]string{
	"cgo_test.go":  "runs `go run -race` on a cgo program",
	"main_test.go": "holds no function of the suite",
}

// adapt makes the files compile outside of the distribution and without -race:
// the internal synctest package is the public one, apart from the name of the
// entry, and one function turns the detector off, to no effect here.
var adapt = strings.NewReplacer(
	`runtime.RaceDisable()`, `runtime.Gosched()`,
	`"internal/synctest"`, `"testing/synctest"`,
	`synctest.Run(func()`, `synctest.Test(t, func(*testing.T)`,
)

// copySuite makes a module of the suite's test files.
func copySuite(testdata, dir string) (*files, error) {
	names, err := filepath.Glob(filepath.Join(testdata, "*_test.go"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no test files in %s: this Go installation has no sources of the runtime's tests", testdata)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	s := &files{dir: dir, leftOut: map[string]string{}}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := s.listFunctions(filepath.Base(name), adapt.Replace(string(src))); err != nil {
			return nil, err
		}
	}
	return s, os.WriteFile(filepath.Join(dir, "go.mod"), command.GoMod("racesuite"), 0o644)
}

// listFunctions lists the functions of a file, and copies it unless it is left out.
func (s *files) listFunctions(file, src string) error {
	f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	why, out := leftOut[file]
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil {
			continue
		}
		name := fn.Name.Name
		racy := strings.HasPrefix(name, "TestRace")
		switch {
		case !racy && !strings.HasPrefix(name, "TestNoRace"):
			continue
		case out:
			s.leftOut[name] = why
		default:
			s.functions = append(s.functions, function{name, file, racy})
		}
	}
	if out {
		return nil
	}
	return os.WriteFile(filepath.Join(s.dir, file), []byte(src), 0o644)
}
