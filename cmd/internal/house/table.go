package house

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// largePackage is how many lines a package has, without tests, that gets a row
// of its own below its room.
const largePackage = 1000

// Named is a tree with the heading of its column.
type Named struct {
	Name string
	Dir  string // its folder
	Tree *Tree
	Rows Rooms // of its docs/architecture.md; nil leaves the row of imports out
}

// Write prints the tables of one tree or of several side by side, as Markdown.
func Write(w io.Writer, trees ...Named) {
	writeTotals(w, trees)
	for _, t := range trees {
		fmt.Fprintf(w, "\n## Rooms: %s\n\n", t.Name)
		writeRooms(w, t.Tree)
	}
}

// WriteBreaches prints every breach of the rules in a tree, one a line.
func WriteBreaches(w io.Writer, t Named) {
	all := t.Tree.Breaches()
	for _, rule := range Rules {
		fmt.Fprintf(w, "\n%s: %d\n", rule, count(all, rule))
		for _, b := range all {
			if b.Rule == rule {
				fmt.Fprintf(w, "\t%s\n", b.Where)
			}
		}
	}
	if t.Rows != nil {
		loose := t.Rows.Loose(t.Tree)
		fmt.Fprintf(w, "\nimports allowed and not used: %d\n", len(loose))
		for _, l := range loose {
			fmt.Fprintf(w, "\t%s\n", l)
		}
	}
}

// writeTotals prints one row a figure, one column a tree.
func writeTotals(w io.Writer, trees []Named) {
	var names []string
	var columns [][]row
	for _, t := range trees {
		names = append(names, t.Name)
		columns = append(columns, totals(t))
	}
	fmt.Fprintf(w, "| | %s |\n|---|%s\n", strings.Join(names, " | "), strings.Repeat("--:|", len(trees)))
	for i, r := range columns[0] {
		fmt.Fprintf(w, "| %s |", r.what)
		for _, column := range columns {
			fmt.Fprintf(w, " %s |", column[i].figure)
		}
		fmt.Fprintln(w)
	}
}

// row is one figure of a tree.
type row struct{ what, figure string }

// totals returns the figures of a whole tree.
func totals(t Named) (rows []row) {
	add := func(what, format string, args ...any) {
		rows = append(rows, row{what, fmt.Sprintf(format, args...)})
	}
	// Sizes.
	s := t.Tree.size(func(*Package) bool { return true })
	add("packages", "%d", len(t.Tree.Packages))
	add("files", "%d", s.files)
	add("lines", "%d", s.lines)
	add("lines of code", "%d", s.code)
	add("lines with a comment", "%d (%s)", s.comments, percent(s.comments, s.lines))
	add("lines of tests", "%d", s.test)
	add("lines of fixtures", "%d", s.fixtures)
	add("exported names, with a comment", "%d (%s)", s.exported, percent(s.documented, s.exported))

	// The shape of functions.
	var length, branches, nested, parameters []int
	for _, f := range t.Tree.sources(func(*Package) bool { return true }) {
		for _, fn := range f.Functions {
			length = append(length, fn.Lines)
			branches = append(branches, fn.Cyclomatic)
			nested = append(nested, fn.Nesting)
			parameters = append(parameters, fn.Parameters)
		}
	}
	add("functions", "%d", len(length))
	add("their lines: median, 90 %, 99 %, most", "%s", spread(length))
	add("their cyclomatic number", "%s", spread(branches))
	add("their nesting", "%s", spread(nested))
	add("their parameters", "%s", spread(parameters))

	// Breaches of the rules.
	all := t.Tree.Breaches()
	for _, rule := range Rules {
		add(string(rule), "%d", count(all, rule))
	}
	if t.Rows == nil {
		add("imports allowed and not used", "-")
	} else {
		add("imports allowed and not used", "%d", len(t.Rows.Loose(t.Tree)))
	}
	return rows
}

// spread returns the median, two percentiles and the largest of some numbers.
func spread(n []int) string {
	if len(n) == 0 {
		return "-"
	}
	slices.Sort(n)
	at := func(share float64) int { return n[min(len(n)-1, int(share*float64(len(n))))] }
	return fmt.Sprintf("%d, %d, %d, %d", at(0.5), at(0.9), at(0.99), n[len(n)-1])
}

// size is the sum of some packages.
type size struct {
	files, lines, code, comments, test, fixtures, exported, documented int
}

// size adds up the packages that in reports.
func (t *Tree) size(in func(*Package) bool) (s size) {
	for _, f := range t.sources(in) {
		s.files++
		s.lines += f.Lines
		s.code += f.Code
		s.comments += f.Comments
		s.exported += f.Exported
		s.documented += f.Documented
	}
	for _, pkg := range t.Packages {
		if !in(pkg) {
			continue
		}
		s.fixtures += pkg.Fixtures
		for _, f := range pkg.Files {
			if f.Test {
				s.test += f.Lines
			}
		}
	}
	return s
}

// writeRooms prints a row for each folder at the top, and below it one for each
// of its large packages.
func writeRooms(w io.Writer, t *Tree) {
	fmt.Fprintln(w,
		"| room | files | lines | code | comments | tests (+ fixtures) | tests/code | exported (with a comment) |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|--:|--:|")
	last := ""
	for _, pkg := range t.Packages {
		room, _, inner := strings.Cut(pkg.Dir, "/")
		if room != last {
			last = room
			writeRoom(w, "**"+room+"**", t.size(func(p *Package) bool { return within(p.Dir, room+"/...") }))
		}
		s := t.size(func(p *Package) bool { return p == pkg })
		if inner && s.lines >= largePackage {
			writeRoom(w, pkg.Dir, s)
		}
	}
	writeRoom(w, "**all**", t.size(func(*Package) bool { return true }))
}

func writeRoom(w io.Writer, name string, s size) {
	fmt.Fprintf(w, "| %s | %d | %d | %d | %s | %d (+%d) | %.2f | %d (%s) |\n", name, s.files, s.lines, s.code,
		percent(s.comments, s.lines), s.test, s.fixtures, float64(s.test)/float64(max(1, s.code)),
		s.exported, percent(s.documented, s.exported))
}

// percent returns part of whole as "12 %", or "-" of nothing.
func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}
