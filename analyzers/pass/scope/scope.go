// Package scope decides which packages the passes analyse: those of the main modules. An analyzer with facts is
// run on every dependency, the standard library included, so a pass asks here first and returns at once
// outside.
//
// Outside of scope only tables know of a function; the shared passes then assume the worst for a skip and the
// best for a finding.
package scope

import (
	"go/build"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Modules is a flag value: the module paths to analyse, separated by commas.
// Empty means every main module (one without a version), and packages that
// belong to no module outside of GOROOT, as other build systems have them.
//
// It is set while flags are parsed, before any pass runs, and only read then.
type Modules []string

func (m *Modules) String() string { return strings.Join(*m, ",") }

// Set implements [flag.Value].
func (m *Modules) Set(s string) error {
	*m = nil
	for path := range strings.SplitSeq(s, ",") {
		if path = strings.TrimSpace(path); path != "" {
			*m = append(*m, path)
		}
	}
	return nil
}

// Flag is the one setting of a process; package summary registers it.
var Flag Modules

// In reports whether the package of pass is to be analysed.
func In(pass *analysis.Pass) bool {
	if len(pass.Files) == 0 {
		return false
	}
	u := Unit{Path: pass.Pkg.Path(), File: pass.Fset.File(pass.Files[0].FileStart).Name()}
	if m := pass.Module; m != nil {
		u.Module, u.Version = m.Path, m.Version
	}
	return u.In()
}

// Unit has the facts of a package that are known before it is typed.
type Unit struct {
	Path            string // import path
	Module, Version string // of its module; "" where the driver does not say
	File            string // one of its files
}

// In reports whether the package is to be analysed.
func (u Unit) In() bool {
	switch {
	case len(Flag) > 0 && u.Module != "":
		return slices.Contains(Flag, u.Module)
	case len(Flag) > 0: // a go command before 1.23 names no module
		return slices.ContainsFunc(Flag, func(module string) bool { return isInModule(module, u.Path) })
	case u.Module != "":
		return u.Version == "" && u.Module != "std" && u.Module != "cmd"
	}
	return !inGoroot(u.File)
}

// isInModule reports whether a package is of the module, by its import path alone:
// one of a module nested in it is taken for it too.
func isInModule(module, pkg string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSuffix(pkg, "_test"), module)
	return ok && (rest == "" || rest[0] == '/')
}

func inGoroot(file string) bool {
	root := filepath.Join(build.Default.GOROOT, "src") + string(filepath.Separator)
	return build.Default.GOROOT != "" && strings.HasPrefix(filepath.Clean(file), root)
}
