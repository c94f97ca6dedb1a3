package house

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// roomColumns is how many rooms stand in one row of the table of their sizes.
const roomColumns = 3

// WriteLimits sets the limits of docs/architecture.md in root to the figures of t, and the sizes of its rooms. The
// table "Budgets" stays as it is, as each of its rows has a reason.
func WriteLimits(root string, t *Tree) error {
	name := filepath.Join(root, "docs", "architecture.md")
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	page := string(data)
	for _, table := range []struct{ heading, rows string }{
		{"Figures that only fall", figureRows(t.Figures())},
		{"Sizes of the rooms", roomRows(t.RoomSizes())},
	} {
		if page, err = replaceRows(page, table.heading, table.rows); err != nil {
			return err
		}
	}
	return os.WriteFile(name, []byte(page), 0o666)
}

// figureRows formats a row a figure, in the order of Figures.
func figureRows(values map[string]int) string {
	var rows strings.Builder
	for _, f := range Figures {
		fmt.Fprintf(&rows, "| %s | %d |\n", f.Name, values[f.Name])
	}
	return rows.String()
}

// roomRows formats the sizes by the names of their rooms, down each column.
func roomRows(sizes map[string]int) string {
	names := slices.Sorted(maps.Keys(sizes))
	height := (len(names) + roomColumns - 1) / roomColumns
	var rows strings.Builder
	for i := range height {
		for j := i; j < height*roomColumns; j += height {
			if j < len(names) {
				fmt.Fprintf(&rows, "| `%s` | %s ", names[j], thousands(sizes[names[j]]))
			} else {
				rows.WriteString("| | ")
			}
		}
		rows.WriteString("|\n")
	}
	return rows.String()
}

// thousands formats n with a comma before its last three digits.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// replaceRows puts rows in the place of those below the head of the table that heading names.
func replaceRows(page, heading, rows string) (string, error) {
	before, section, ok := strings.Cut(page, "\n### "+heading+"\n")
	if !ok {
		return "", fmt.Errorf("docs/architecture.md has no heading %q", heading)
	}
	text, table, ok := strings.Cut(section, "\n|")
	_, rest, found := strings.Cut(table, "\n|") // the line of dashes
	dashes, rest, complete := strings.Cut(rest, "\n")
	if !ok || !found || !complete {
		return "", fmt.Errorf("docs/architecture.md has no table below %q", heading)
	}
	head := strings.TrimSuffix(table, "\n|"+dashes+"\n"+rest)
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return before + "\n### " + heading + "\n" + text + "\n|" + head + "\n|" + dashes + "\n" + rows + rest, nil
}
