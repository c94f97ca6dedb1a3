package patchgen

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// TestChecksInOrder follows which checks run, what a failing one says, and
// that the next strategy gets its turn.
func TestChecksInOrder(t *testing.T) {
	root := t.TempDir()
	c := readCase(t, "testdata/fix/guard_getter.txtar", root, "guard_getter")
	m := moduleOf(t, root, c.name, loadAll(t, root))
	group := []*finding.Finding{c.finding(t, root)}
	group[0].Status = finding.Confirmed
	var ran []string
	check := func(name string, fail error) Check {
		return func(_ context.Context, cand Candidate) error {
			ran = append(ran, name)
			if cand.Root != root || len(cand.Files) != 1 {
				t.Errorf("%s got %s with %v", name, cand.Root, slices.Collect(maps.Keys(cand.Files)))
			}
			return fail
		}
	}

	fix, _, err := Fix(t.Context(), Input{Module: m, Group: group, Checks: Checks{
		Build: check("build", nil), Vet: check("vet", nil), Test: check("test", nil), Campaign: check("campaign", nil)}})
	if want := "[type-checks lock covers every access lock order builds vet tests pass does not come back]"; err != nil ||
		fmt.Sprint(fix.Checked) != want {
		t.Errorf("checked %v (%v), want %v", fix.Checked, err, want)
	}
	if fmt.Sprint(ran) != "[build vet test campaign]" {
		t.Errorf("ran %v", ran)
	}

	// What no run has shown cannot fail to come back.
	group[0].Status, ran = finding.Suspected, nil
	fix, _, err = Fix(t.Context(), Input{Module: m, Group: group, Checks: Checks{
		Campaign: check("campaign", nil), Static: check("static", nil)}})
	if want := "[type-checks lock covers every access lock order static finding gone]"; err != nil ||
		fmt.Sprint(fix.Checked, ran) != want+" [campaign static]" {
		t.Errorf("checked %v (%v), ran %v, want %v", fix.Checked, err, ran, want)
	}

	// Tests that failed in each run pass with the patch: that shows it.
	fix, _, err = Fix(t.Context(), Input{Module: m, Group: group, Failing: true, Checks: Checks{
		Build: check("build", nil), Test: check("test", nil), Campaign: check("campaign", nil)}})
	if want := "[builds tests pass that failed they pass in all runs]"; err != nil || fix.Verdict != finding.Verified ||
		!strings.HasSuffix(fmt.Sprint(fix.Checked), want[1:]) {
		t.Errorf("%s, checked %v (%v), want %v", fix.Verdict, fix.Checked, err, want)
	}

	ran = nil
	fix, files, err := Fix(t.Context(), Input{Module: m, Group: group, Checks: Checks{
		Build: check("build", nil), Vet: check("vet", errors.New("copies a lock")), Test: check("test", nil)}})
	if err != nil || fix.Diff != "" || files != nil || !strings.Contains(fix.Withheld,
		`guard: not "vet": copies a lock`) || !strings.Contains(fix.Withheld, `mutex: counter.n is under`) {
		t.Errorf("fix %+v (%v)", fix, err)
	}
	if fmt.Sprint(ran) != "[build vet]" {
		t.Errorf("ran %v: guard should have met build and vet", ran)
	}

	// A check that panics is the reason of its patch, not the end of all others.
	fix, _, err = Fix(t.Context(), Input{Module: m, Group: group, Checks: Checks{
		Build: func(context.Context, Candidate) error { panic("no such node") }}})
	if err != nil || fix.Diff != "" || !strings.Contains(fix.Withheld, "guard: internal error: no such node") {
		t.Errorf("fix %+v (%v)", fix, err)
	}

	_, _, err = Fix(t.Context(), Input{Module: m, Group: group,
		Checks: Checks{Build: check("build", fmt.Errorf("%w: no go command", ErrCannotCheck))}})
	if !errors.Is(err, ErrCannotCheck) {
		t.Errorf("error %v, want ErrCannotCheck", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Fix(ctx, Input{Module: m, Group: group}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// TestPositionsThatDoNotFit: findings that do not match the source are
// withheld, not guessed at.
func TestPositionsThatDoNotFit(t *testing.T) {
	root := t.TempDir()
	c := readCase(t, "testdata/fix/guard_getter.txtar", root, "guard_getter")
	m := moduleOf(t, root, c.name, loadAll(t, root))
	at := func(file string, line int) []*finding.Finding {
		return []*finding.Finding{{Code: finding.CaughtInTheAct, Variable: finding.Variable{Name: "n"},
			Accesses: []finding.Access{{Position: finding.Position{File: file, Line: line, Column: 1}, Mode: finding.Read}}}}
	}
	for want, group := range map[string][]*finding.Finding{
		"is gone since the finding was made": at("nowhere.go", 1),
		"no access of n at":                  at("guard_getter/a.go", 1),
		"the file changed since":             at("guard_getter/a.go", 4000),
		"no finding given":                   nil,
		"the findings name no access":        {{}},
		"the findings are on several var": {c.finding(t, root), {Variable: finding.Variable{Name: "mu"},
			Accesses: []finding.Access{{
				Position: finding.Position{File: "guard_getter/a.go", Line: 17, Column: 2}, Mode: finding.Read}}}},
	} {
		fix, files, err := Fix(t.Context(), Input{Module: m, Group: group})
		if err != nil || files != nil || !strings.Contains(fix.Withheld, want) {
			t.Errorf("withheld %q (%v), want a part %q", fix.Withheld, err, want)
		}
	}
}

// TestPatchedAlready: where an earlier patch put the lock around the variable
// too, the fix is empty, but checked; without one, there is nothing to fix it.
func TestPatchedAlready(t *testing.T) {
	root := t.TempDir()
	c := readCase(t, "testdata/fix/guard_decided_by_other.txtar", root, "a")
	find := c.finding(t, root)
	m := moduleOf(t, root, c.name, loadAll(t, root))
	_, files, err := Fix(t.Context(), Input{Module: m, Group: []*finding.Finding{find}})
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v (%v)", files, err)
	}
	for path, src := range files {
		writeFile(t, filepath.Join(root, path), src)
	}
	m = moduleOf(t, root, c.name, loadAll(t, root))
	other := *find
	other.Variable.Name = "valid"
	other.Accesses = []finding.Access{{
		Position: finding.Position{File: "a/a.go", Line: 22, Column: 6}, Mode: finding.Read}}
	fix, files, err := Fix(t.Context(), Input{Module: m, Group: []*finding.Finding{&other}, Patched: true})
	if err != nil || len(files) > 0 || fix.Strategy != "guard" || fix.Diff != "" ||
		!slices.Contains(fix.Checked, "lock covers every access") {
		t.Errorf("fix %+v, files %v (%v)", fix, files, err)
	}
	fix, _, err = Fix(t.Context(), Input{Module: m, Group: []*finding.Finding{&other}})
	if err != nil || fix.Strategy != "" ||
		!strings.Contains(fix.Withheld, "guard: a.cursor.mu: it is held at every access") {
		t.Errorf("strategy %q, withheld %q (%v), want none, since guard has nothing to do", fix.Strategy, fix.Withheld, err)
	}
}

// TestSaysWhatStandsThere demands the true reason where the source has not
// changed, but what the finding names is not accessed by its name.
func TestSaysWhatStandsThere(t *testing.T) {
	const src = `package a

type item struct{ n int }

func (i *item) size() int { return i.n }

func swap(list []item, p, q *item, raw []int) int {
	*p = *q
	list[0] = *q
	if p.size() > 1 {
		return 1
	}
	raw[0] = 2
	return 0
}
`
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "a", "a.go"), []byte(src))
	m := moduleOf(t, root, "a", loadAll(t, root))
	lines := strings.Split(src, "\n")
	for text, want := range map[string]string{
		"*p = *q":       "*p is what a pointer leads to",
		"list[0] = *q":  "list[0] is an element",
		"p.size() > 1":  "the call p.size() makes it, in another function",
		"raw[0] = 2":    "raw[0] is an element",
		"item, p, q *i": "item is a struct, which is copied or set as a whole",
	} {
		at := finding.Position{File: "a/a.go"}
		for i, line := range lines {
			if column := strings.Index(line, text); column >= 0 {
				at.Line, at.Column = i+1, column+1
			}
		}
		fix, _, err := Fix(t.Context(), Input{Module: m, Group: []*finding.Finding{{Code: finding.CaughtInTheAct,
			Variable: finding.Variable{Name: "n"}, Accesses: []finding.Access{{Position: at, Mode: finding.Read}}}}})
		if err != nil || !strings.Contains(fix.Withheld, want) || strings.Contains(fix.Withheld, "changed since") {
			t.Errorf("%s: withheld %q (%v), want a part %q", text, fix.Withheld, err, want)
		}
	}
}
