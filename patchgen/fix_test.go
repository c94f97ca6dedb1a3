package patchgen

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/session/sessiontest"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/syncfix"
)

var updateGolden = flag.Bool("update", false, "write the diffs that come out into the golden files")

// TestFix runs every archive of testdata/fix. Its comment holds
//
//	only: strategy      try no other strategy
//	go: go1.13          the go directive (default go1.26)
//	strategy: name      the one that has to succeed; the diff section is golden
//	withheld: text      a part of the reason; may stand several times
//	relies: part        the patch of the strategy is a draft; a part of its doubt
//	draft: name         where drafts are allowed, the strategy that makes one; the draft section is golden
//	doubt: text         a part of a doubt of the draft; each needs one
//	note: text          a part of a note; may stand several times
//	code: IL2001        the code of the finding (default IL1000); may stand again for the next one of the group
//	type: name          the type that declares the field, where the strategy asks for it
//	confirmed: yes      a run has shown the findings, of which one access stands for both sides
//
// and the accesses of the finding are marked by `// race: mode name` behind
// them. A digit behind race is the number of the finding in its group, `first`
// behind the name puts the access first, `in stats` says that the access is of the
// struct stats as a whole, `beside x` that the
// finding is on x and names this one too, `calls f` that a function of another module accesses what has no name, and
// `under t.mu` at the end names a lock
// that is held there, as further places of one finding need it. An edge in the order of locks is
// marked by `// edge since: T.mu` and then `// edge takes: U.mu`, the halves of
// an atomic section by `// section entry: x.m[k]` and `// section end: x.m`, those that a callee makes also by
// `// section entry call: x.get`, and where the lock was acquired
// that is waited for by `// held: x.mu`, or by a call that has ended `// returned: x.mu`. `// frame 1` and so on are
// the calls on the stack of the first access, from the innermost.
func TestFix(t *testing.T) {
	files, err := filepath.Glob("testdata/fix/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no archives", err)
	}
	root := t.TempDir()
	cases := map[string]*fixCase{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		cases[name] = readCase(t, file, root, name)
	}
	loaded := loadAll(t, root)
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) { cases[name].run(t, root, loaded) })
	}
}

type fixCase struct {
	file, name string
	archive    *txtar.Archive
	header     map[string][]string
}

func readCase(t *testing.T, file, root, name string) *fixCase {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := &fixCase{file: file, name: name, archive: ar, header: map[string][]string{}}
	for line := range strings.Lines(string(ar.Comment)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			c.header[key] = append(c.header[key], value)
		}
	}
	for _, f := range ar.Files {
		if f.Name != "diff" && f.Name != "draft" {
			writeFile(t, filepath.Join(root, name, f.Name), f.Data)
		}
	}
	return c
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

func loadAll(t *testing.T, root string) []*packages.Package {
	t.Helper()
	writeFile(t, filepath.Join(root, "go.mod"), []byte("module example.com/m\n\ngo 1.26.0\n"))
	loaded, err := packages.Load(&packages.Config{Mode: LoadMode, Dir: root, Tests: true,
		Env: append(os.Environ(), "GOWORK=off", "GOFLAGS=")}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	sessiontest.ShareImports(loaded)
	return loaded
}

// moduleOf makes a module of the packages below one directory.
func moduleOf(t *testing.T, root, dir string, loaded []*packages.Package) *Module {
	t.Helper()
	var own []*packages.Package
	for _, p := range loaded {
		if p.PkgPath == "example.com/m/"+dir || strings.HasPrefix(p.PkgPath, "example.com/m/"+dir+"/") ||
			p.PkgPath == "example.com/m/"+dir+"_test" {
			own = append(own, p)
		}
	}
	m, err := NewModule(root, own)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (c *fixCase) run(t *testing.T, root string, loaded []*packages.Package) {
	m := moduleOf(t, root, c.name, loaded)
	if v := c.header["go"]; v != nil {
		m.Packages[0].GoVersion = v[0]
	}
	if only := c.header["only"]; only != nil {
		old, oldSync := strategy.All, syncfix.All
		defer func() { strategy.All, syncfix.All = old, oldSync }()
		strategy.All = slices.DeleteFunc(slices.Clone(strategy.All),
			func(s strategy.Strategy) bool { return s.Name != only[0] })
		syncfix.All = slices.DeleteFunc(slices.Clone(syncfix.All),
			func(s syncfix.Strategy) bool { return s.Name != only[0] })
	}
	want := strings.Join(c.header["strategy"], "")
	in := Input{Module: m, Group: c.findings(t, root)}
	fix, files, err := Fix(context.Background(), in)
	// A patch that relies on something is a draft.
	if relies := c.header["relies"]; err == nil && relies != nil {
		if !strings.Contains(fix.Withheld, relies[0]) {
			t.Errorf("withheld %q without drafts, want a part %q", fix.Withheld, relies[0])
		}
		in.Drafts = true
		fix, files, err = Fix(context.Background(), in)
	}
	if err != nil {
		t.Fatal(err)
	}
	if fix.Strategy != want {
		t.Fatalf("strategy %q, want %q\nwithheld: %s\nrejected: %s\n%s", fix.Strategy, want, fix.Withheld,
			strings.Join(fix.Rejected, "\n"), fix.Diff)
	}
	for _, part := range c.header["withheld"] {
		if !strings.Contains(fix.Withheld, part) {
			t.Errorf("withheld %q, want a part %q", fix.Withheld, part)
		}
	}
	for _, part := range c.header["note"] {
		if !strings.Contains(strings.Join(fix.Notes, "\n"), part) {
			t.Errorf("notes %q, want a part %q", fix.Notes, part)
		}
	}
	if fix.Strategy == "" {
		c.draft(t, m, root)
		if len(c.header["withheld"]) == 0 || len(files) > 0 {
			t.Errorf("the archive expects no reason, or there are files without a fix")
		}
		return
	}
	if got := len(c.header["note"]); got != len(fix.Notes) {
		t.Errorf("%d notes, want %d: %q", len(fix.Notes), got, fix.Notes)
	}
	c.golden(t, "diff", strings.ReplaceAll(fix.Diff, c.name+"/", ""))
	checkApplies(t, m, fix.Diff, files)
	checkAgain(t, m, files)
}

// draft runs the archive of a patch that is withheld with drafts allowed.
func (c *fixCase) draft(t *testing.T, m *Module, root string) {
	t.Helper()
	fix, files, err := Fix(context.Background(), Input{Module: m, Group: c.findings(t, root), Drafts: true})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join(c.header["draft"], "")
	var doubts []string
	for _, d := range fix.Doubts {
		doubts = append(doubts, string(d.Weight)+": "+d.Text)
	}
	if fix.Strategy != want || want != "" && fix.Verdict != finding.Draft {
		t.Fatalf("draft by %q, want %q, verdict %s\nDOUBTS %s\n%s\nwithheld: %s", fix.Strategy, want, fix.Verdict,
			strings.Join(doubts, "\n"), fix.Diff, fix.Withheld)
	}
	if want == "" {
		return
	}
	if len(doubts) != len(c.header["doubt"]) {
		t.Errorf("%d doubts, want %d: %q", len(doubts), len(c.header["doubt"]), doubts)
	}
	for _, part := range c.header["doubt"] {
		if !strings.Contains(strings.Join(doubts, "\n"), part) {
			t.Errorf("doubts %q, want a part %q", doubts, part)
		}
	}
	c.golden(t, "draft", strings.ReplaceAll(fix.Diff, c.name+"/", ""))
	checkApplies(t, m, fix.Diff, files)
}

var (
	mark = regexp.MustCompile(`// race(\d?): (` + strings.Join(modeNames(), "|") +
		`) ([\w\[\]]+)( first)?(?: in \w+)?(?: beside (\w+))?(?: under (.+?))?(?: calls (\w+))?$`)
	sectionMark = regexp.MustCompile(`// section (entry|end)( call)?: (\S+)`)
	wholeMark   = regexp.MustCompile(`// race.* in (\w+)`)
	edgeMark    = regexp.MustCompile(`// edge (since|takes): (\S+)`)
	holderMark  = regexp.MustCompile(`// (held|returned): (\S+)`)
	frameMark   = regexp.MustCompile(`// frame (\d)`)
)

// modeNames lists the modes of accesses as texts.
func modeNames() (names []string) {
	for _, m := range finding.Modes() {
		names = append(names, string(m))
	}
	return names
}

// findings makes findings of the marked accesses, one for each number, and one of the marked edges.
func (c *fixCase) findings(t *testing.T, root string) []*finding.Finding {
	t.Helper()
	byNumber := map[string]*finding.Finding{}
	cycle := &finding.Finding{Code: finding.LockCycle, Title: "locks taken in different orders"}
	var edge finding.Edge
	var section *finding.Section
	var holders []finding.Holder
	frames := map[string]finding.Frame{}
	for _, file := range c.archive.Files {
		for i, line := range strings.Split(string(file.Data), "\n") {
			if file.Name == "diff" || file.Name == "draft" {
				continue
			}
			at := finding.Position{File: c.name + "/" + file.Name, Line: i + 1,
				Column: len(line) - len(strings.TrimLeft(line, "\t")) + 1}
			if m := edgeMark.FindStringSubmatch(line); m != nil {
				class := "example.com/m/" + c.name + "." + m[2]
				if m[1] == "since" {
					edge = finding.Edge{From: class, Since: &at}
				} else {
					edge.To, edge.Position = class, at
					cycle.Cycle = append(cycle.Cycle, edge)
				}
			}
			if m := sectionMark.FindStringSubmatch(line); m != nil {
				if section == nil {
					section = &finding.Section{}
				}
				half := finding.Position{File: at.File, Line: i + 1, Column: strings.Index(line, m[3]) + 1}
				switch {
				case m[1] == "entry" && m[2] != "":
					section.EntryCall = &half
				case m[1] == "entry":
					section.Entry = half
				case m[2] != "":
					section.EndCall = &half
				default:
					section.End = half
				}
			}
			if m := holderMark.FindStringSubmatch(line); m != nil {
				holders = append(holders, finding.Holder{Position: at, Lock: m[2], Returned: m[1] == "returned"})
			}
			if m := frameMark.FindStringSubmatch(line); m != nil {
				frames[m[1]] = finding.Frame{File: at.File, Line: at.Line}
			}
			m := mark.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			f := byNumber[m[1]]
			if f == nil {
				f = &finding.Finding{Code: finding.CaughtInTheAct}
				if c.header["confirmed"] != nil {
					f.Status = finding.Confirmed
				}
				if code := c.header["code"]; code != nil {
					f.Code = finding.Code(code[min(len(byNumber), len(code)-1)])
				}
				byNumber[m[1]] = f
			}
			text := strings.TrimSuffix(m[3], "[]")
			if in := wholeMark.FindStringSubmatch(line); in != nil {
				text = in[1]
			}
			if here := regexp.MustCompile(`[\w.]*\b` + text + `\b`).FindStringIndex(line); here != nil &&
				here[0] < strings.Index(line, "// race") {
				at.Column = here[0] + 1
			}
			f.Variable.Package, f.Variable.Name = "example.com/m/"+c.name, m[3]
			if types := c.header["type"]; types != nil {
				f.Variable.Type = types[0]
			}
			access := finding.Access{Position: at, Mode: finding.Mode(m[2])}
			if m[5] != "" {
				f.Variable.Name, access.Expr = m[5], regexp.MustCompile(`[\w.]*`).FindString(line[at.Column-1:])
			}
			if m[6] != "" {
				access.Locks = []string{m[6]}
			}
			if m[7] != "" {
				f.Variable.Name, access.Column = fmt.Sprintf("memory accessed at a.go:%d", i+1), 0
				access.Goroutine = &finding.Goroutine{Stack: []finding.Frame{
					{Function: "other.(*T)." + m[7], File: "/src/other.go", Line: 1}, {Function: "a.f", File: at.File, Line: i + 1}}}
			}
			if m[4] != "" {
				f.Accesses = slices.Insert(f.Accesses, 0, access)
			} else {
				f.Accesses = append(f.Accesses, access)
			}
		}
	}
	var list []*finding.Finding
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		f := byNumber[number]
		if f.Section = section; f.Status == finding.Confirmed && len(f.Accesses) == 1 {
			f.Accesses = append(f.Accesses, f.Accesses[0])
		}
		if list = append(list, f); len(holders)+len(frames) > 0 {
			f.Evidence = &finding.Evidence{Blocked: "sync.Mutex.Lock", Holders: holders}
			g := &finding.Goroutine{Stack: []finding.Frame{{File: f.Accesses[0].File, Line: f.Accesses[0].Line}}}
			for _, n := range slices.Sorted(maps.Keys(frames)) {
				g.Stack = append(g.Stack, frames[n])
			}
			f.Accesses[0].Goroutine = g
		}
	}
	if len(cycle.Cycle) > 0 {
		list = append(list, cycle)
	}
	if len(list) == 0 {
		t.Fatal("no access is marked")
	}
	return list
}

// finding makes the one finding of the marked accesses.
func (c *fixCase) finding(t *testing.T, root string) *finding.Finding { return c.findings(t, root)[0] }

func (c *fixCase) golden(t *testing.T, section, diff string) {
	t.Helper()
	i := slices.IndexFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == section })
	if i < 0 {
		c.archive.Files = append(c.archive.Files, txtar.File{Name: section})
		i = len(c.archive.Files) - 1
	}
	if *updateGolden {
		c.archive.Files[i].Data = []byte(diff)
		if err := os.WriteFile(c.file, txtar.Format(c.archive), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := string(c.archive.Files[i].Data); got != diff {
		t.Errorf("the diff is not the golden one; go test ./patchgen -run TestFix -update writes it\n"+
			"--- golden\n%s\n--- now\n%s", got, diff)
	}
}

// checkApplies has git apply the diff and compares what comes out.
func checkApplies(t *testing.T, m *Module, diff string, files map[string][]byte) {
	t.Helper()
	dir := t.TempDir()
	for path, src := range m.Old(files) {
		writeFile(t, filepath.Join(dir, path), src)
	}
	cmd := exec.Command("git", "apply", "-")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	cmd.Stdin = strings.NewReader(diff)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, diff)
	}
	for path, want := range files {
		if got, err := os.ReadFile(filepath.Join(dir, path)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s after git apply is not the patched file (%v)", path, err)
		}
	}
}

// checkAgain demands that patched files are gofmt-ed where they were.
func checkAgain(t *testing.T, m *Module, files map[string][]byte) {
	t.Helper()
	for path, src := range files {
		again, err := edit.Tidy(m.Files[path].Source, src)
		if err != nil || !bytes.Equal(again, src) {
			t.Errorf("%s is not gofmt-stable (%v)", path, err)
		}
	}
}
