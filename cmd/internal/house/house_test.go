package house

import (
	"bytes"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const root = "../../.."

// topLevel are the files and folders that the design fixes, and those that
// go with any repository.
var topLevel = []string{
	"analyzers", "pointsto", "atomicsets", "dynamic", "editors", "patchgen", "cmd", "testdata", "docs", "ci",
	"go.mod", "go.sum", "Makefile", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE",
	".ci", ".github", ".gitignore", ".gitattributes", ".pre-commit-hooks.yaml",
	"bin", ".git", // never committed
}

// rtMayImport is what the injected monitor may import. Each of these is in
// nearly every Go program already, or imports nothing else but such, starts no
// goroutine, and changes nothing that a program can see by being linked in.
var rtMayImport = []string{
	"hash/maphash", "math/bits", "os", "runtime", "runtime/debug", "strconv", "sync", "sync/atomic",
	"syscall", "time", "unsafe", Module + "/dynamic/rt/crash", Module + "/dynamic/rt/mapkey",
	Module + "/dynamic/rt/policy",
}

// tree and rooms are read once for all tests.
var (
	tree  = sync.OnceValues(func() (*Tree, error) { return Survey(root) })
	rooms = sync.OnceValues(func() (Rooms, error) { return ReadRooms(root) })
)

// readTree returns the packages of the module by folder.
func readTree(t *testing.T) map[string]*Package {
	t.Helper()
	tree, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	pkgs := map[string]*Package{}
	for _, pkg := range tree.Packages {
		pkgs[pkg.Dir] = pkg
	}
	if pkgs["cmd/interlock"] == nil || pkgs["analyzers/finding"] == nil {
		t.Fatalf("the walk missed what must be there; it saw %v", slices.Sorted(maps.Keys(pkgs)))
	}
	return pkgs
}

func readRooms(t *testing.T) Rooms {
	t.Helper()
	rooms, err := rooms()
	if err != nil {
		t.Fatal(err)
	}
	return rooms
}

// imports returns the paths that a package imports, each with a file that does,
// of its tests or of its other files.
func imports(pkg *Package, tests bool) map[string]string {
	files := map[string]string{}
	for _, f := range pkg.Files {
		for _, imported := range f.Imports {
			if f.Test == tests {
				files[imported] = f.Name
			}
		}
	}
	return files
}

func TestImportOrder(t *testing.T) {
	rooms := readRooms(t)
	for dir, pkg := range readTree(t) {
		if rooms.row(dir) == "" {
			t.Errorf("%s has no row in docs/architecture.md", dir)
			continue
		}
		for imported, file := range imports(pkg, false) {
			if folder, ok := strings.CutPrefix(imported, Module+"/"); ok && !rooms.allows(dir, folder) {
				t.Errorf("%s imports %s, which docs/architecture.md does not allow to %s", file, folder, dir)
			}
		}
		for imported, file := range imports(pkg, true) {
			if strings.HasPrefix(imported, Module+"/cmd") && !within(dir, "cmd/...") {
				t.Errorf("%s imports %s: only cmd may", file, imported)
			}
		}
	}
}

// The table must be able to refuse, or the test above says nothing.
func TestRoomsRefuse(t *testing.T) {
	rooms := readRooms(t)
	for _, tt := range []struct {
		dir, imported string
		want          bool
	}{
		{"analyzers/finding", "atomicsets/plan", false},
		{"analyzers/guardedby", "analyzers/finding", true},
		{"analyzers/guardedby", "dynamic/build", false},
		{"analyzers/guardedby", "analyzers/pass/guards", true},
		{"analyzers/guardedby", "analyzers/readlock", false}, // a check imports no check
		{"analyzers/guardedby", "analyzers/registry", false},
		{"analyzers/pass/lockset", "analyzers/pass/ownership", true},
		{"analyzers/pass/lockset", "analyzers/guardedby", false}, // a pass imports no check
		{"analyzers/pass/lockset", "analyzers/check", false},
		{"analyzers/registry", "analyzers/guardedby", true},
		{"analyzers/crosspkg", "analyzers/pass/lockset", false},
		{"analyzers/internal/knowledge", "analyzers/finding", false},
		{"dynamic/rt", "dynamic/evidence", false},
		{"dynamic/instrument", "analyzers/finding", false},
		{"dynamic/campaign", "analyzers/finding", true},
		{"dynamic/campaign", "analyzers/guardedby", false},
		{"patchgen", "dynamic/campaign", false},
		{"cmd/interlock", "cmd/internal/cli", true},
		{"cmd/interlock", "patchgen", false},
		{"cmd/internal/cli", "dynamic/build", true},
	} {
		if got := rooms.allows(tt.dir, tt.imported); got != tt.want {
			t.Errorf("%s -> %s: %v, want %v", tt.dir, tt.imported, got, tt.want)
		}
	}
}

func TestContractsImportTheStandardLibraryOnly(t *testing.T) {
	pkgs := readTree(t)
	for _, dir := range []string{"analyzers/finding", "atomicsets/plan", "dynamic/evidence"} {
		for imported, file := range imports(pkgs[dir], false) {
			if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") {
				t.Errorf("%s imports %s: a contract imports the standard library only", file, imported)
			}
		}
	}
}

// A fixture that is named like a package of the standard library is never looked
// at: analysistest loads that package instead.
func TestFixturesHideNoStandardPackage(t *testing.T) {
	fixtures, err := filepath.Glob(filepath.Join(root, "analyzers/*/testdata/src/*"))
	if err != nil || len(fixtures) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	ofPasses, err := filepath.Glob(filepath.Join(root, "analyzers/pass/*/testdata/src/*"))
	if err != nil || len(ofPasses) == 0 {
		t.Fatalf("no fixtures of the shared passes: %v", err)
	}
	fixtures = append(fixtures, ofPasses...)
	for _, dir := range fixtures {
		if p, err := build.Default.Import(filepath.Base(dir), "", build.FindOnly); err == nil && p.Goroot {
			t.Errorf("%s: rename it: package %s of the standard library is loaded in its place", dir, p.ImportPath)
		}
	}
}

func TestMonitorImports(t *testing.T) {
	pkg := readTree(t)["dynamic/rt"]
	if pkg == nil {
		t.Fatal("no dynamic/rt")
	}
	for imported, file := range imports(pkg, false) {
		if !slices.Contains(rtMayImport, imported) {
			t.Errorf("%s imports %s: the injected monitor may import %s only", file, imported, strings.Join(rtMayImport, ", "))
		}
	}
}

func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(topLevel, e.Name()) {
			t.Errorf("%s does not belong at the top level", e.Name())
		}
	}
}

// Every check, that is whatever the registry imports beside the contract,
// says what is wrong and what is right; that text is its help as well.
func TestChecksExplainThemselves(t *testing.T) {
	registry := readTree(t)["analyzers/registry"]
	if registry == nil {
		t.Fatal("no analyzers/registry")
	}
	checks := 0
	for imported := range imports(registry, false) {
		dir, ok := strings.CutPrefix(imported, Module+"/")
		if !ok || dir == "analyzers/finding" {
			continue
		}
		checks++
		doc, err := os.ReadFile(filepath.Join(root, dir, "doc.go"))
		if err != nil {
			t.Errorf("check %s: %v", dir, err)
			continue
		}
		for _, word := range []string{"WRONG", "RIGHT"} {
			if !bytes.Contains(doc, []byte(word)) {
				t.Errorf("%s/doc.go shows nothing %s", dir, word)
			}
		}
	}
	if checks == 0 {
		t.Error("the registry imports no check")
	}
}

// machinePath matches absolute paths of somebody's machine.
var machinePath = regexp.MustCompile(`(?m)(^|[\s"'=(:])(/(root|home/[a-z]\w*|Users/\w+|work)/|[A-Z]:\\Users\\)`)

// machineFolders are parts of what machinePath matches, one of each.
var machineFolders = []string{"/" + "root/", "/" + "home/", "/" + "Users/", "/" + "work/", `:\` + `Users\`}

func TestNoPathOfAMachine(t *testing.T) {
	for s, want := range map[string]bool{
		"see /" + "home/anna/x.go": true, `"/` + "work/main/x": true, "file:///" + "x": false,
		"in /tmp/x": false, "net/work/x": false, "./" + "work/x": false,
	} {
		if got := machinePath.MatchString(s); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
	files := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == ".git" || base == "bin" || base == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || d.Name() == ".git" { // a file in a work tree of git's
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil || bytes.IndexByte(data, 0) >= 0 {
			return err
		}
		files++
		if !slices.ContainsFunc(machineFolders, func(s string) bool { return bytes.Contains(data, []byte(s)) }) {
			return nil // the expression alone takes half a minute under the race detector
		}
		for i, line := range bytes.Split(data, []byte("\n")) {
			if machinePath.Match(line) {
				t.Errorf("%s:%d: path of a machine: %s", name, i+1, line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Errorf("the walk saw %d files only", files)
	}
}

// Each assumption of the monitor in docs/architecture.md names tests that exist, and
// programs or parts of them that the test's files have.
func TestAssumptionsAreTested(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(data), "## What the monitor relies on")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || strings.Trim(cells[1], " -") == "" || strings.TrimSpace(cells[1]) == "what" {
			continue
		}
		rows++
		tests := regexp.MustCompile("`([a-z/]+)\\.(Test\\w+)(?:/([^`]+))?`").FindAllStringSubmatch(cells[3], -1)
		if len(tests) == 0 {
			t.Errorf("no test is named for: %s", cells[2])
		}
		for _, m := range tests {
			text := testFiles(t, filepath.Join(root, filepath.FromSlash(m[1])))
			if !strings.Contains(text, "func "+m[2]+"(t *testing.T)") || m[3] != "" && !strings.Contains(text, m[3]) {
				t.Errorf("%s has no %s %s", m[1], m[2], m[3])
			}
		}
	}
	if rows < 10 {
		t.Errorf("read %d rows of the table of assumptions, the form must have changed", rows)
	}
}

// testFiles returns the text of the tests in a folder, and of their testdata.
func testFiles(t *testing.T, dir string) (text string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "testdata") {
			return err
		}
		data, err := os.ReadFile(name)
		text += string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// noAnalysis are the folders below analyzers that analyse no program.
var noAnalysis = []string{"finding", "golangci", "registry", "pass", "scope", "internal"}

// Every analysis says in its package comment what it costs: who changes it can
// see what he has to keep.
func TestAnalysesSayWhatTheyCost(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(root, "analyzers", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no analyzers: %v", err)
	}
	passes, err := filepath.Glob(filepath.Join(root, "analyzers", "pass", "*"))
	if err != nil || len(passes) == 0 {
		t.Fatalf("no shared passes: %v", err)
	}
	folders = append(folders, passes...)
	for _, name := range []string{"pointsto", "atomicsets", "patchgen"} {
		folders = append(folders, filepath.Join(root, name))
	}
	for _, dir := range folders {
		if slices.Contains(noAnalysis, filepath.Base(dir)) {
			continue
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		says := slices.ContainsFunc(files, func(name string) bool {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			return f.Doc != nil && strings.Contains(f.Doc.Text(), "\nCost: ")
		})
		if !says {
			t.Errorf("%s: the package comment has no paragraph that begins with \"Cost: \"", dir)
		}
	}
}

// copiesTree matches calls that copy a folder of the disk.
var copiesTree = regexp.MustCompile(`os\.CopyFS\(.*os\.DirFS\(`)

// A copy with a link that leads back to the original was written to once.
func TestTreesAreCopiedByOnePackage(t *testing.T) {
	here := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || !d.Type().IsRegular() {
			return err
		}
		here++
		data, err := os.ReadFile(name)
		if copiesTree.Match(data) {
			t.Errorf("%s copies a tree by itself: use dynamic/tree", name)
		}
		return err
	})
	if err != nil || here < 50 {
		t.Fatalf("the walk saw %d files: %v", here, err)
	}
	if !copiesTree.MatchString("err := os.CopyFS(to, os.DirFS(from))") {
		t.Error("a copy is not recognised")
	}
}
