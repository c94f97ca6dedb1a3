package driver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/crosspkg"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/summary"
	"github.com/interlock-go/interlock/cmd/internal/driver"
)

// What is exported is judged by the accesses of all packages.
func TestJoinFields(t *testing.T) {
	dir := unpack(t, "fields")
	r, err := vet(t, dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"IL1001 m.go (*Table).Full: Table.Max is read without t.Mu",
		"IL1001 use/use.go Len: Table.Len is read without t.Mu",
		"IL1001 use/use.go Noted: Table.Noted is read without t.Mu",
		"IL1003 m.go (*Stats).Total: Stats.Hits is read plainly and accessed atomically elsewhere",
		"IL1003 use/use.go Missed: Stats.Misses is read plainly and accessed atomically elsewhere",
	}
	if got := told(t, r); !slices.Equal(got, want) || len(r.Problems) > 0 {
		t.Errorf("findings:\n%s\nwant:\n%s\nproblems: %q", strings.Join(got, "\n"), strings.Join(want, "\n"), r.Problems)
	}
	if got, want := stationary(r), marked(t, dir, "m.go", "// still"); !slices.Equal(got, want) || len(want) < 3 {
		t.Errorf("stationary: %q, want %q", got, want)
	}
}

// Packages that are not asked about, and that those do not import, are not in
// their programs.
func TestJoinOfSomePackages(t *testing.T) {
	dir := unpack(t, "fields")
	r, err := vet(t, dir, "./use")
	if err != nil {
		t.Fatal(err)
	}
	// What it imports is part of its programs, and not asked about.
	if got, want := stationary(r), marked(t, dir, "m.go", "// still"); !slices.Equal(got, want) {
		t.Errorf("stationary with package use alone: %q, want %q", got, want)
	}
	if slices.Contains(r.Packages, "example.com/m") {
		t.Errorf("packages %q, want only package use", r.Packages)
	}
	if r, err = vet(t, dir, "."); err != nil {
		t.Fatal(err)
	}
	// Programs of package m alone have no other writers.
	want := slices.Concat(marked(t, dir, "m.go", "// still"), marked(t, dir, "m.go", "// written by"))
	slices.Sort(want)
	if got := stationary(r); !slices.Equal(got, want) {
		t.Errorf("stationary in package m alone: %q, want %q", got, want)
	}
	if got, want := told(t, r), []string{"IL1001 m.go (*Table).Slack: Table.Loose is read without " +
		"t.Mu"}; !slices.Equal(got, want) {
		t.Errorf("findings in package m alone %q, want %q", got, want)
	}
}

// told returns code, place and title of each finding, sorted.
func told(t *testing.T, r *driver.Result) []string {
	t.Helper()
	var all []string
	for _, f := range r.Findings {
		if err := f.Validate(); err != nil {
			t.Error(err)
		}
		a := f.Accesses[0]
		all = append(all, fmt.Sprintf("%s %s %s: %s", f.Code, a.File, a.Function, f.Title))
	}
	slices.Sort(all)
	return all
}

// stationary returns the lines that are skipped since a field is stationary.
func stationary(r *driver.Result) []string {
	var lines []string
	for _, s := range r.Skips {
		if s.Reason == summary.Stationary {
			lines = append(lines, fmt.Sprintf("%s:%d", s.File, s.Line))
		}
	}
	slices.Sort(lines)
	return lines
}

// marked returns the lines of a file that have the mark.
func marked(t *testing.T, dir, file, mark string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i, line := range strings.Split(string(text), "\n") {
		if strings.Contains(line, mark) {
			lines = append(lines, fmt.Sprintf("%s:%d", file, i+1))
		}
	}
	slices.Sort(lines)
	return lines
}

// A deadlock that the simulation of a package shows is kept, unless the orders of locks show it as well.
func TestJoinSimulatedCycle(t *testing.T) {
	at := func(line int) finding.Position { return finding.Position{File: "/m/a.go", Line: line, Column: 2} }
	order := func(from, to string, line int) crosspkg.Order {
		since := at(line)
		return crosspkg.Order{Edge: finding.Edge{From: from, To: to, Position: at(line + 1), Function: from, Since: &since}}
	}
	join := func(orders ...crosspkg.Order) []*finding.Finding {
		f := &finding.Finding{Code: finding.LockCycle, Title: "lock of a may wait for ever"}
		for _, line := range []int{4, 8, 3, 7} { // two wait, and hold what was taken before
			f.Accesses = append(f.Accesses, finding.Access{Position: at(line), Package: "m"})
		}
		s := &summary.Summary{Version: summary.Version, Package: "m", Findings: []*finding.Finding{f}}
		s.Locks.Orders, s.Locks.Written = orders, []string{"a", "b"}
		return driver.Join("/m", []*summary.Summary{s}).Findings
	}
	if list := join(); len(list) != 1 || len(list[0].Cycle) > 0 {
		t.Errorf("without orders: %+v", list)
	}
	if list := join(order("a", "b", 3), order("b", "a", 7)); len(list) != 1 || len(list[0].Cycle) != 2 {
		t.Errorf("with its orders: %+v", list)
	}
	if list := join(order("a", "b", 13), order("b", "a", 17)); len(list) != 2 {
		t.Errorf("with other orders: %+v", list)
	}
}
