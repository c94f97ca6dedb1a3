package house

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// From these sizes on a declaration counts as large in the figures below.
const (
	largeStruct    = 16 // fields
	largeCondition = 6  // operands
	longFunction   = 50 // lines
	manyBranches   = 15 // cyclomatic number
	shortName      = 5  // letters
	longFile       = 350
)

// Figure is one number of the whole tree, tests apart, that a limit of docs/architecture.md holds down.
type Figure struct {
	Name string
	Of   func([]*File) int
}

// Figures lists them as docs/architecture.md does.
var Figures = []Figure{
	{"comment lines with what, who, whom or whose, in 1,000", func(files []*File) int {
		relatives, comments := 0, 0
		for _, f := range files {
			relatives += len(f.Relatives)
			comments += f.Comments
		}
		return share(relatives, comments, 1000)
	}},
	{"functions with a name of five letters or fewer, in 100", func(files []*File) int {
		short, all := 0, 0
		for fn := range functions(files) {
			all++
			if len(fn.Name)-strings.LastIndexByte(fn.Name, '.')-1 <= shortName {
				short++
			}
		}
		return share(short, all, 100)
	}},
	{"structs of 16 fields or more", func(files []*File) (n int) {
		for _, f := range files {
			n += len(f.Structs)
		}
		return n
	}},
	{"functions over 50 lines or above cyclomatic 15", func(files []*File) (n int) {
		for fn := range functions(files) {
			if fn.Lines > longFunction || fn.Cyclomatic > manyBranches {
				n++
			}
		}
		return n
	}},
	{"conditions of six operands or more", func(files []*File) (n int) {
		for _, f := range files {
			n += len(f.Conditions)
		}
		return n
	}},
	{"files over 350 lines, in 100", func(files []*File) int {
		long := 0
		for _, f := range files {
			if f.Lines > longFile {
				long++
			}
		}
		return share(long, len(files), 100)
	}},
}

// functions yields the functions of some files.
func functions(files []*File) func(func(Function) bool) {
	return func(yield func(Function) bool) {
		for _, f := range files {
			for _, fn := range f.Functions {
				if !yield(fn) {
					return
				}
			}
		}
	}
}

// share returns how many in base a part is of the whole, rounded up.
func share(part, whole, base int) int {
	if whole == 0 {
		return 0
	}
	return (part*base + whole - 1) / whole
}

// Figures returns the value of each figure.
func (t *Tree) Figures() map[string]int {
	files := t.sources(func(*Package) bool { return true })
	values := map[string]int{}
	for _, f := range Figures {
		values[f.Name] = f.Of(files)
	}
	return values
}

// ReadLimits reads the table "Figures that only fall" of docs/architecture.md in root: the most of each figure.
func ReadLimits(root string) (map[string]int, error) {
	rows, err := readTable(root, "Figures that only fall")
	if err != nil {
		return nil, err
	}
	limits := map[string]int{}
	for _, cells := range rows {
		most, err := strconv.Atoi(cells[1])
		if err != nil {
			continue // the head
		}
		limits[cells[0]] = most
	}
	return limits, nil
}

// ReadRoomSizes reads the table "Sizes of the rooms" of docs/architecture.md in root: the most lines of each folder of
// the second level, with all that is below it.
func ReadRoomSizes(root string) (map[string]int, error) {
	rows, err := readTable(root, "Sizes of the rooms")
	if err != nil {
		return nil, err
	}
	sizes := map[string]int{}
	for _, cells := range rows {
		for i := 0; i+1 < len(cells); i += 2 {
			if most, err := strconv.Atoi(strings.ReplaceAll(cells[i+1], ",", "")); err == nil {
				sizes[strings.Trim(cells[i], "`")] = most
			}
		}
	}
	return sizes, nil
}

// readTable returns the cells of the rows of the table below a heading of docs/architecture.md, its head included.
func readTable(root, heading string) (rows [][]string, err error) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		return nil, err
	}
	_, text, ok := strings.Cut(string(data), "\n### "+heading+"\n")
	if !ok {
		return nil, fmt.Errorf("docs/architecture.md has no heading %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n#")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	return rows, nil
}

// RoomSizes returns the lines of each folder of the second level, tests and testdata apart, with all that is below it.
// Files that stand in a folder of the first level count for that one.
func (t *Tree) RoomSizes() map[string]int {
	sizes := map[string]int{}
	for _, pkg := range t.Packages {
		parts := strings.Split(pkg.Dir, "/")
		depth := 2
		if len(parts) > 2 && (parts[1] == "internal" || parts[1] == "pass") {
			depth = 3
		}
		room := strings.Join(parts[:min(depth, len(parts))], "/")
		for _, f := range pkg.Files {
			if !f.Test {
				sizes[room] += f.Lines
			}
		}
	}
	return sizes
}
