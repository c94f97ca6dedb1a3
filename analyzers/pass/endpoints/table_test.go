package endpoints

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

// Each line of the table finds its fixture, and no other line does; what the
// lines excuse (ok…) is not found.
func TestTable(t *testing.T) {
	found := map[string][]*rule{}
	for _, r := range analysistest.Run(t, analysistest.TestData(), TestUses, "table") {
		for _, use := range r.Result.([]*TestUse) {
			name := strings.TrimPrefix(use.Section.Function, "(*T).")
			found[name] = append(found[name], use.rule)
		}
	}
	var lines []*rule
	for _, list := range [][]rule{table, leads} {
		for i := range list {
			lines = append(lines, &list[i])
		}
	}
	for i, line := range lines {
		if got := found[line.fixture]; !slices.Equal(got, []*rule{line}) {
			t.Errorf("line %d: %s is found by %d lines, want by this one: %+v", i, line.fixture, len(got), describe(got))
		}
		delete(found, line.fixture)
	}
	for name, rules := range found {
		t.Errorf("%s is found: %v", name, describe(rules))
	}
}

func describe(rules []*rule) []string {
	var names []string
	for _, r := range rules {
		names = append(names, r.fixture)
	}
	return names
}
