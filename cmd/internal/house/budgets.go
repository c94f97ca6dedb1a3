package house

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Budget is how many lines some files of a package may have, tests apart.
type Budget struct {
	Dir   string // slash path below the root
	Files string // a pattern of path.Match for the base name, or "others": those that no other row of Dir has
	Most  int
}

// ReadBudgets reads the table "Budgets" of docs/architecture.md in root.
func ReadBudgets(root string) ([]Budget, error) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		return nil, err
	}
	_, table, _ := strings.Cut(string(data), "\n## Budgets\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var budgets []Budget
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 6 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		most, err := strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(cells[3]), ",", ""))
		if err != nil || strings.TrimSpace(cells[4]) == "" {
			return nil, fmt.Errorf("docs/architecture.md: a budget without a number or a reason: %s", line)
		}
		budgets = append(budgets, Budget{strings.Trim(cells[1], " `"), strings.Trim(cells[2], " `"), most})
	}
	if len(budgets) == 0 {
		return nil, fmt.Errorf("docs/architecture.md: no budgets: the form of the table has changed")
	}
	return budgets, nil
}

// Spent returns how many lines each budget's files have.
func (t *Tree) Spent(budgets []Budget) []int {
	spent := make([]int, len(budgets))
	for _, pkg := range t.Packages {
		for _, f := range pkg.Files {
			if i := budgetOf(budgets, pkg.Dir, path.Base(f.Name)); !f.Test && i >= 0 {
				spent[i] += f.Lines
			}
		}
	}
	return spent
}

// budgetOf returns the index of the budget that a file counts to, or -1.
func budgetOf(budgets []Budget, dir, file string) int {
	others := -1
	for i, b := range budgets {
		if b.Dir != dir {
			continue
		}
		if matched, _ := path.Match(b.Files, file); matched {
			return i
		}
		if b.Files == "others" {
			others = i
		}
	}
	return others
}
