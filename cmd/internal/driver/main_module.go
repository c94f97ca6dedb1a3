package driver

import (
	"go/version"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// environment is the output of go env.
type environment struct{ GOWORK, GOVERSION, GOMOD, GOMODCACHE, GOROOT, GOFLAGS string }

// showsMain reports whether the go command shows a vet tool which packages are of the main module, in the folder root,
// by their version, and will never take them for those of another one: it keeps results by folder.
func (e *environment) showsMain(root string) bool {
	const firstWithModules = "go1.23"
	return version.Compare(e.GOVERSION, firstWithModules) >= 0 && !strings.Contains(e.GOFLAGS, "-modfile") &&
		!isBelow(root, e.GOMODCACHE) && !isBelow(root, e.GOROOT) && !replacesByFolder(e.GOMOD)
}

func isBelow(dir, of string) bool {
	rel, err := filepath.Rel(of, dir)
	return err != nil || filepath.IsLocal(rel)
}

// replacesByFolder reports whether the go.mod takes a module from a folder, in which it may be the main module another
// time. So it is with a go.mod that cannot be read.
func replacesByFolder(mod string) bool {
	data, err := os.ReadFile(mod)
	if err != nil {
		return true
	}
	file, err := modfile.Parse(mod, data, nil)
	return err != nil || slices.ContainsFunc(file.Replace, func(r *modfile.Replace) bool { return r.New.Version == "" })
}
