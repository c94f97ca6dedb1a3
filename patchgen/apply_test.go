package patchgen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

func TestApplyWritesAllAndKeepsModes(t *testing.T) {
	root := t.TempDir()
	old := map[string][]byte{"a.go": []byte("package a\n"), "sub/b.go": []byte("package b\n")}
	for path, src := range old {
		writeFile(t, filepath.Join(root, path), src)
	}
	if err := os.Chmod(filepath.Join(root, "a.go"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.go", filepath.Join(root, "link.go")); err != nil {
		t.Fatal(err)
	}
	patched := map[string][]byte{"a.go": []byte("package a // x\n"), "sub/b.go": []byte("package b // y\n")}
	if err := Apply(root, old, patched); err != nil {
		t.Fatal(err)
	}
	for path, want := range patched {
		if got, err := os.ReadFile(filepath.Join(root, path)); err != nil || string(got) != string(want) {
			t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
		}
	}
	if info, err := os.Stat(filepath.Join(root, "a.go")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode of a.go is now %v (%v)", info.Mode(), err)
	}

	// A file keeps all of its names.
	if err := os.Link(filepath.Join(root, "a.go"), filepath.Join(root, "hard")); err != nil {
		t.Fatal(err)
	}
	if err := Apply(root, map[string][]byte{"a.go": patched["a.go"]}, map[string][]byte{"a.go": []byte("short")}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(root, "hard")); err != nil || string(got) != "short" {
		t.Errorf("the other name has %q (%v)", got, err)
	}
	patched["a.go"] = []byte("short")

	// A link stays a link.
	err := Apply(root, map[string][]byte{"link.go": patched["a.go"]}, map[string][]byte{"link.go": []byte("package z\n")})
	info, statErr := os.Lstat(filepath.Join(root, "link.go"))
	if err != nil || statErr != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced by a file (%v, %v)", err, statErr)
	}
}

func TestApplyIsAllOrNothing(t *testing.T) {
	for name, spoil := range map[string]func(root string) error{
		"changed": func(root string) error {
			return os.WriteFile(filepath.Join(root, "b.go"), []byte("package other\n"), 0o666)
		},
		"gone": func(root string) error { return os.Remove(filepath.Join(root, "b.go")) },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			old := map[string][]byte{"a.go": []byte("package a\n"), "b.go": []byte("package b\n")}
			for path, src := range old {
				writeFile(t, filepath.Join(root, path), src)
			}
			if err := spoil(root); err != nil {
				t.Fatal(err)
			}
			err := Apply(root, old, map[string][]byte{"a.go": []byte("1\n"), "b.go": []byte("2\n")})
			if err == nil || name == "changed" && !errors.Is(err, ErrChanged) {
				t.Errorf("Apply gave %v", err)
			}
			if got, _ := os.ReadFile(filepath.Join(root, "a.go")); string(got) != "package a\n" {
				t.Errorf("a.go was written: %q", got)
			}
		})
	}
	if err := Apply(t.TempDir(), nil, map[string][]byte{"../x.go": nil}); err == nil {
		t.Error("Apply leads out of the module")
	}
}

// broken is a file on a disk that is full once some bytes were written, and
// stays full for good if stays is set.
type broken struct {
	file
	room  int
	stays bool
}

func (b *broken) Write(p []byte) (int, error) {
	if len(p) > b.room {
		n, err := b.file.Write(p[:b.room])
		if !b.stays {
			b.room = 1 << 20
		}
		return n, errors.Join(errors.New("disk full"), err)
	}
	return b.file.Write(p)
}

func TestApplyPutsBack(t *testing.T) {
	real := openFile
	defer func() { openFile = real }()
	t.Setenv("TMPDIR", t.TempDir())
	for _, stays := range []bool{false, true} {
		root := t.TempDir()
		old := map[string][]byte{"a.go": []byte("package a\n"), "b.go": []byte("package b\n")}
		for path, src := range old {
			writeFile(t, filepath.Join(root, path), src)
		}
		openFile = func(name string) (file, error) {
			f, err := real(name)
			if filepath.Base(name) == "b.go" {
				f = &broken{f, 5, stays}
			}
			return f, err
		}
		err := Apply(root, old, map[string][]byte{"a.go": []byte("package a // 1\n"), "b.go": []byte("package b // 2\n")})
		if err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("Apply returned %v", err)
			continue
		}
		if got, _ := os.ReadFile(filepath.Join(root, "a.go")); string(got) != "package a\n" {
			t.Errorf("a.go holds %q", got)
		}
		if !stays {
			if got, _ := os.ReadFile(filepath.Join(root, "b.go")); string(got) != "package b\n" {
				t.Errorf("b.go holds %q", got)
			}
			continue
		}
		_, where, ok := strings.Cut(err.Error(), "its old contents are in ")
		if got, _ := os.ReadFile(strings.TrimSpace(where)); !ok || string(got) != "package b\n" {
			t.Errorf("no way back: %v", err)
		}
	}
}

func TestLineEnds(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{"a\nb\n", "a\nx\nb\n", "a\nx\nb\n"},
		{"a\r\nb\r\n", "a\nx\nb\n", "a\r\nx\r\nb\r\n"},
		{"a\r\nb\r\n", "x\na\n", "x\r\na\r\n"},
		{"a\nb\r\nc\n", "a\nx\nb\ny\nc\nz\n", "a\nx\nb\r\ny\r\nc\nz\n"},
		{"a\r\nb", "a\nx\nb", "a\r\nx\r\nb"},
		{"a\r\nb", "a\nb\nx\n", "a\r\nb\r\nx\r\n"},
	} {
		if got := endLinesAs([]byte(tt.old), []byte(tt.new)); string(got) != tt.want {
			t.Errorf("%q, now %q: %q, want %q", tt.old, tt.new, got, tt.want)
		}
	}
}

// TestDiffRandom has git apply the diff of random edits, line ends at the end
// of the file missing or not.
func TestDiffRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() []string {
		var out []string
		for range r.IntN(40) {
			out = append(out, string(rune('a'+r.IntN(6))))
		}
		return out
	}
	for range 40 {
		a := text()
		b := slices.Clone(a)
		for range 1 + r.IntN(4) {
			if at := r.IntN(len(b) + 1); r.IntN(2) == 0 || at == len(b) {
				b = slices.Insert(b, at, "new")
			} else {
				b = slices.Delete(b, at, at+1)
			}
		}
		m := &Module{files: map[string]*unit{"f": {src: join2(a, r.IntN(3) > 0)}}}
		files := map[string][]byte{"f": join2(b, r.IntN(3) > 0)}
		if len(m.files["f"].src) == 0 || len(files["f"]) == 0 {
			continue // git takes an empty side for a new or deleted file
		}
		diff, err := Diff(m.Old(files), files)
		if err != nil {
			t.Fatal(err)
		}
		if diff != "" {
			checkApplies(t, m, diff, files)
		}
	}
}

func join2(lines []string, newline bool) []byte {
	s := strings.Join(lines, "\n")
	if newline && s != "" {
		s += "\n"
	}
	return []byte(s)
}

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
	if want := "[type-checks lock covers every access lock order builds vet tests pass does not come back]"; err != nil || fmt.Sprint(fix.Checked) != want {
		t.Errorf("checked %v (%v), want %v", fix.Checked, err, want)
	}
	if fmt.Sprint(ran) != "[build vet test campaign]" {
		t.Errorf("ran %v", ran)
	}

	// What no run has shown cannot fail to come back.
	group[0].Status, ran = finding.Suspected, nil
	fix, _, err = Fix(t.Context(), Input{Module: m, Group: group, Checks: Checks{
		Campaign: check("campaign", nil), Static: check("static", nil)}})
	if want := "[type-checks lock covers every access lock order static finding gone]"; err != nil || fmt.Sprint(fix.Checked, ran) != want+" [campaign static]" {
		t.Errorf("checked %v (%v), ran %v, want %v", fix.Checked, err, ran, want)
	}

	ran = nil
	fix, files, err := Fix(t.Context(), Input{Module: m, Group: group, Checks: Checks{
		Build: check("build", nil), Vet: check("vet", errors.New("copies a lock")), Test: check("test", nil)}})
	if err != nil || fix.Diff != "" || files != nil || !strings.Contains(fix.Withheld, `guard: not "vet": copies a lock`) || !strings.Contains(fix.Withheld, `mutex: not "vet"`) {
		t.Errorf("fix %+v (%v)", fix, err)
	}
	if fmt.Sprint(ran) != "[build vet build vet]" {
		t.Errorf("ran %v: guard and mutex should each have met build and vet", ran)
	}

	_, _, err = Fix(t.Context(), Input{Module: m, Group: group, Checks: Checks{Build: check("build", fmt.Errorf("%w: no go command", ErrCannotCheck))}})
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
			Accesses: []finding.Access{{Position: finding.Position{File: file, Line: line, Column: 1}}}}}
	}
	for want, group := range map[string][]*finding.Finding{
		"is not among the loaded files":   at("nowhere.go", 1),
		"no access of n at":               at("guard_getter/a.go", 1),
		"the file changed since":          at("guard_getter/a.go", 4000),
		"no finding given":                nil,
		"the findings name no access":     {{}},
		"the findings are on several var": {c.finding(t, root), {Variable: finding.Variable{Name: "mu"}, Accesses: []finding.Access{{Position: finding.Position{File: "guard_getter/a.go", Line: 17, Column: 2}}}}},
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
	other.Accesses = []finding.Access{{Position: finding.Position{File: "a/a.go", Line: 22, Column: 6}}}
	fix, files, err := Fix(t.Context(), Input{Module: m, Group: []*finding.Finding{&other}, Patched: true})
	if err != nil || len(files) > 0 || fix.Strategy != "guard" || fix.Diff != "" || !slices.Contains(fix.Checked, "lock covers every access") {
		t.Errorf("fix %+v, files %v (%v)", fix, files, err)
	}
	fix, _, err = Fix(t.Context(), Input{Module: m, Group: []*finding.Finding{&other}})
	if err != nil || fix.Strategy != "mutex" {
		t.Errorf("strategy %q (%v), want mutex, since guard has nothing to do", fix.Strategy, err)
	}
}
