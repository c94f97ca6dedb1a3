// Package sessiontest helps tests that make many small sessions of packages loaded at once.
package sessiontest

import (
	"strings"

	"golang.org/x/tools/go/packages"
)

// ShareImports has each package find what only others of its module import. A session has the
// packages of one case alone, and would type the new imports of a patch from the source of the
// standard library, for each case.
func ShareImports(loaded []*packages.Package) {
	library := map[string]*packages.Package{}
	for _, p := range loaded {
		for path, dep := range p.Imports {
			if !strings.Contains(path, ".") && dep.Types != nil {
				library[path] = dep
			}
		}
	}
	for _, p := range loaded {
		for path, dep := range library {
			if p.Imports[path] == nil {
				p.Imports[path] = dep
			}
		}
	}
}
