package userpath

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/build"
)

// Goroutine returns the files of g's stacks as findings name them.
func Goroutine(ws *build.Workspace, g *finding.Goroutine) {
	for _, frames := range [][]finding.Frame{g.Stack, g.Created} {
		for i := range frames {
			frames[i].File = File(ws, frames[i].File)
		}
	}
}

// File returns a file of a stack as findings name it: relative to the root
// where it lies below.
func File(ws *build.Workspace, file string) string {
	m := ws.Module
	file = ws.Original(file)
	if rel := m.Rel(file); filepath.IsLocal(filepath.FromSlash(rel)) {
		return rel
	}
	// Built with -trimpath, files begin with the module's path.
	if rel, ok := strings.CutPrefix(file, m.Path+"/"); ok {
		return rel
	}
	return filepath.ToSlash(file)
}

// Shown returns a file of a dump as reports name it; "" for the file that Interlock adds.
func Shown(ws *build.Workspace) func(string) string {
	return func(file string) string {
		if path.Base(file) == build.EndName {
			return ""
		}
		return File(ws, file)
	}
}
