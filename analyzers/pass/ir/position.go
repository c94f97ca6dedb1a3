package ir

import (
	"go/token"
	"path/filepath"
	"strings"
)

// Position returns the place of pos in the file that people write: in the file on disk, whatever
// its line directives say, as the monitor and the patches go by the files on disk. A file that imports
// "C" is typed as cgo has rewritten it, in a file of the go command's that nobody knows and that is
// removed: there the line directives, which cgo writes, name the place.
func Position(fset *token.FileSet, pos token.Pos) token.Position {
	at := fset.PositionFor(pos, false)
	if isMadeByCgo(at.Filename) {
		return fset.PositionFor(pos, true)
	}
	return at
}

// isMadeByCgo reports whether the go command uses a name like this for the file that cgo has made
// from another: x.cgo1.go while it builds, and a hash in its cache.
func isMadeByCgo(name string) bool {
	return strings.HasSuffix(name, ".cgo1.go") || name != "" && filepath.Ext(name) != ".go"
}
