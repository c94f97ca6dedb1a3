package house

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Module is the path of this module.
const Module = "github.com/interlock-go/interlock"

// Rooms is the table "The rooms" of docs/architecture.md: folder -> the packages of
// this module that it may import.
type Rooms map[string][]string

// ReadRooms reads the table of the module in root.
func ReadRooms(root string) (Rooms, error) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		return nil, err
	}
	rooms := Rooms{}
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		folder, may := strings.Trim(cells[1], " `"), strings.TrimSpace(cells[3])
		switch may {
		case "nothing", "-":
			rooms[folder] = []string{}
			continue
		case "everything":
			rooms[folder] = []string{"..."}
			continue
		}
		for p := range strings.SplitSeq(may, ",") {
			rooms[folder] = append(rooms[folder], strings.Trim(p, " `"))
		}
	}
	if len(rooms) < 10 {
		return nil, fmt.Errorf("docs/architecture.md: %d rows in the table of rooms: its form has changed", len(rooms))
	}
	return rooms, nil
}

// row returns the name of the row that rules a folder: its own, or that of the
// nearest pattern such as analyzers/<check>, or that of a room that the folder
// stands in. It returns "" if there is none.
func (r Rooms) row(dir string) string {
	if _, ok := r[dir]; ok {
		return dir
	}
	for pattern := range r {
		if parent, _, ok := strings.Cut(pattern, "/<"); ok && path.Dir(dir) == parent {
			return pattern
		}
	}
	if parent := path.Dir(dir); parent != "." {
		return r.row(parent)
	}
	return ""
}

// allows reports whether dir may import the folder imported.
func (r Rooms) allows(dir, imported string) bool {
	return slices.ContainsFunc(r[r.row(dir)], func(p string) bool { return within(imported, p) }) ||
		within(imported, dir+"/internal/...")
}

// within reports whether p names folder: as it is, or by a pattern with "...".
func within(folder, p string) bool {
	if p == "..." {
		return true
	}
	if prefix, ok := strings.CutSuffix(p, "/..."); ok {
		return folder == prefix || strings.HasPrefix(folder, prefix+"/")
	}
	return folder == p
}

// Loose returns the patterns of rows that the code does not use, as "row: pattern". A
// pattern x/... must be used for two folders: with one, the row can name it. A
// row that says "everything" must be used for a third of the rooms that it can name.
func (r Rooms) Loose(tree *Tree) (loose []string) {
	used := map[string]map[string]bool{} // row -> folders that code under it imports
	for _, pkg := range tree.Packages {
		row := r.row(pkg.Dir)
		for folder := range pkg.ownImports() {
			if used[row] == nil {
				used[row] = map[string]bool{}
			}
			used[row][folder] = true
		}
	}
	for _, row := range slices.Sorted(maps.Keys(r)) {
		for _, pattern := range r[row] {
			need := 1
			switch {
			case pattern == "...":
				need = r.importableFrom(row) / 3
			case strings.HasSuffix(pattern, "/..."):
				need = 2
			}
			n := 0
			for folder := range used[row] {
				if within(folder, pattern) {
					n++
				}
			}
			if n < need {
				loose = append(loose, fmt.Sprintf("%s: %s (used for %d)", row, pattern, n))
			}
		}
	}
	return loose
}

// importableFrom counts the rooms that the Go command lets a folder import: not
// the internal rooms of others.
func (r Rooms) importableFrom(folder string) (n int) {
	for row := range r {
		owner, _, internal := strings.Cut(row, "/internal/")
		if !internal || within(folder, owner+"/...") {
			n++
		}
	}
	return n
}

// ownImports returns the folders of this module that a package imports, apart
// from its tests.
func (p *Package) ownImports() map[string]bool {
	folders := map[string]bool{}
	for _, f := range p.Files {
		for _, imported := range f.Imports {
			if folder, ok := strings.CutPrefix(imported, Module+"/"); ok && !f.Test {
				folders[folder] = true
			}
		}
	}
	return folders
}
