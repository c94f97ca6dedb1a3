package house

import (
	"slices"
	"testing"
)

// The packages of the table in docs/architecture.md keep to their sizes, and a budget is
// not much more than what is spent, or it would hold nothing.
func TestBudgets(t *testing.T) {
	readTree(t)
	tree, _ := tree()
	budgets, err := ReadBudgets(root)
	if err != nil {
		t.Fatal(err)
	}
	for i, spent := range tree.Spent(budgets) {
		switch b := budgets[i]; {
		case spent > b.Most:
			t.Errorf("%s (%s) has %d lines: docs/architecture.md allows %d", b.Dir, b.Files, spent, b.Most)
		case spent < b.Most*3/4:
			t.Errorf("%s (%s) has %d lines: lower its budget of %d in docs/architecture.md", b.Dir, b.Files, spent, b.Most)
		}
	}
}

// A file counts to the first pattern that it matches, or to the others, and tests count nowhere.
func TestSpent(t *testing.T) {
	tree := &Tree{Packages: []*Package{
		{Dir: "a", Files: []*File{
			{Name: "a/x_one.go", Lines: 1}, {Name: "a/x_two.go", Lines: 2}, {Name: "a/y.go", Lines: 4},
			{Name: "a/x_test.go", Lines: 8, Test: true},
		}},
		{Dir: "b", Files: []*File{{Name: "b/x_one.go", Lines: 16}}},
	}}
	budgets := []Budget{{"a", "others", 1}, {"a", "x_*.go", 1}, {"c", "*.go", 1}}
	if got, want := tree.Spent(budgets), []int{4, 3, 0}; !slices.Equal(got, want) {
		t.Errorf("spent %v, want %v", got, want)
	}
}
