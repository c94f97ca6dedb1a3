package driver

import (
	"encoding/json"
	"fmt"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/summary"
)

// inside returns the arguments with which unitchecker is to serve a package of
// which only the facts are asked for, since others import it: those for its
// summary too. Go 1.26 keeps one result of a package, whichever was asked for
// first, and would later replay one without a summary; and writes of others
// are worth knowing. A package with tests of its own is another one together
// with them, and the summary of that one is asked for, unless the tests
// of some packages are left out: then it is that of any.
func inside(args []string) ([]string, error) {
	if !hasFlag(args, "emit") {
		return args, nil
	}
	u, err := readUnit(args)
	if err != nil || !u.VetxOnly || !u.in() || hasTests(u.Dir) && !hasFlag(args, "always") {
		return args, nil // unitchecker reports the fault
	}
	name := args[len(args)-1]
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the go command's request: %w", err)
	}
	request := map[string]any{} // with all that this version of the go command says
	if err := json.Unmarshal(data, &request); err != nil {
		return nil, fmt.Errorf("reading the go command's request: %w", err)
	}
	request["VetxOnly"] = false
	if data, err = json.Marshal(request); err != nil {
		return nil, fmt.Errorf("asking for a summary: %w", err)
	}
	name = filepath.Join(filepath.Dir(name), "summary.cfg")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return nil, fmt.Errorf("asking for a summary: %w", err)
	}
	return append(slices.Clone(args[:len(args)-1]), name), nil
}

// hasFlag reports whether a flag of the summary is among the arguments.
func hasFlag(args []string, name string) bool {
	flag := "-" + summary.Name + "." + name
	return slices.Contains(args, flag) || slices.Contains(args, flag+"=true")
}

// hasTests reports whether the folder has tests within its package, as far as
// the file names and build constraints tell. A wrong answer costs time, or the
// result for a package that was asked for after its importers, and only with
// build tags that are not the default.
func hasTests(dir string) bool {
	names, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
	return slices.ContainsFunc(names, func(name string) bool {
		if ok, err := build.Default.MatchFile(dir, filepath.Base(name)); err != nil || !ok {
			return false
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly)
		return err == nil && !strings.HasSuffix(f.Name.Name, "_test")
	})
}
