package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/dynamic"
	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/internal/testmodule"
	"github.com/interlock-go/interlock/dynamic/scratch"
)

func TestMain(m *testing.M) { testmodule.Main(m) }

// monitor stands in for the real one: packages that import it say so.
var monitor = map[string][]byte{
	"go.mod": []byte("module " + dynamic.MonitorPath + "\n\ngo " + dynamic.MonitorGo + "\n"),
	"rt.go":  []byte("package rt\n\nfunc Here(f string) bool { println(\"monitored\", f); return true }\n"),
}

// mark rewrites every file of m so that it names itself when it is
// initialised.
func mark(m *Module) map[string][]byte {
	out := map[string][]byte{}
	for _, p := range m.Packages {
		for _, f := range p.Files {
			name := p.Fset.File(f.FileStart).Name()
			end := p.Fset.Position(f.Name.End()).Offset
			src := p.Src[name]
			imp := fmt.Sprintf("; import interlockrt %q", dynamic.MonitorPath)
			decl := fmt.Sprintf("\nvar _ = interlockrt.Here(%q)\n", m.Rel(name))
			out[name] = slices.Concat(src[:end], []byte(imp), src[end:], []byte(decl))
		}
	}
	return out
}

func load(t *testing.T, dir string, patterns ...string) *Module {
	t.Helper()
	m, err := Load(context.Background(), Options{Dir: dir, Patterns: patterns})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func workspace(t *testing.T, m *Module, rewritten map[string][]byte) *Workspace {
	t.Helper()
	ws, err := prepare(scratchFor(t), m, rewritten, monitor, "watch")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

// run starts each binary as `go test` does and returns what they print.
func run(t *testing.T, bins []Binary) string {
	t.Helper()
	var all bytes.Buffer
	for _, b := range bins {
		if b.Path == "" {
			continue
		}
		cmd := exec.Command(b.Path, "-test.paniconexit0")
		cmd.Dir = b.Dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", b.Package, err, out)
		}
		all.Write(out)
	}
	return all.String()
}

func buildTests(t *testing.T, ws *Workspace) []Binary {
	t.Helper()
	bins, err := ws.BuildTests(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return bins
}

// snapshot names every file below dir with its contents and time.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			var data []byte
			data, err = os.ReadFile(path)
			files[path] = info.ModTime().String() + string(data)
		} else if err == nil {
			files[path] = info.ModTime().String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

const wholeModule = `
-- go.mod --
module example.com/whole

go 1.22
-- a.go --
package whole

import _ "embed"

//go:embed hello.txt
var Hello string
-- hello.txt --
hello
-- main_test.go --
package whole

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	println("TestMain")
	os.Exit(code)
}

func TestEmbed(t *testing.T) {
	if Hello != "hello\n" {
		t.Error(Hello)
	}
	if data, err := os.ReadFile("testdata/x.txt"); err != nil || len(data) == 0 {
		t.Error("testdata:", err)
	}
}
-- ext_test.go --
package whole_test

import (
	"testing"

	"example.com/whole"
	"example.com/whole/deep/util"
)

func TestExternal(t *testing.T) { println(whole.Hello, util.Name()) }
-- testdata/x.txt --
x
-- util/util.go --
package util

func Name() string { return "util" }
-- util/util_test.go --
package util

import "testing"

func TestName(t *testing.T) { Name() }
-- deep/util/util.go --
package util

func Name() string { return "deep" }
-- deep/util/util_test.go --
package util_test

import (
	"testing"

	"example.com/whole/deep/util"
)

func TestName(t *testing.T) { util.Name() }
-- none/none.go --
package none
`

func TestWholeModule(t *testing.T) {
	t.Parallel()
	dir := testmodule.Unpack(t, wholeModule)
	before := snapshot(t, dir)
	m := load(t, dir, "./...")
	if m.Path != "example.com/whole" || m.Root != dir || m.GoVersion != "1.22" {
		t.Errorf("module %q at %q, go %s", m.Path, m.Root, m.GoVersion)
	}
	ws := workspace(t, m, mark(m))
	bins := buildTests(t, ws)
	out := run(t, bins)
	for _, file := range []string{"a.go", "main_test.go", "ext_test.go", "util/util.go", "util/util_test.go",
		"deep/util/util.go", "deep/util/util_test.go"} {
		if !strings.Contains(out, "monitored "+file+"\n") {
			t.Errorf("%s was not monitored", file)
		}
	}
	if !strings.Contains(out, "TestMain\n") {
		t.Error("TestMain did not run")
	}
	var none []string
	for _, b := range bins {
		if b.Path == "" {
			none = append(none, b.Package)
		} else if !b.Monitored {
			t.Errorf("%s is taken for unmonitored", b.Package)
		}
	}
	if !slices.Equal(none, []string{"example.com/whole/none"}) {
		t.Errorf("packages without tests: %v", none)
	}
	if err := ws.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ws.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("temporary folder is left behind: %v", err)
	}
	if after := snapshot(t, dir); !maps.Equal(before, after) {
		t.Error("the user's tree was changed")
	}
}

// Where a go.work does not do, go.mod is overlaid, and nobody's file is touched.
func TestOverlaidGoMod(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	t.Parallel()
	dir := testmodule.Unpack(t, wholeModule)
	before := snapshot(t, dir)
	m := load(t, dir, "./...")
	ws := workspace(t, m, mark(m))
	if ok, err := ws.overlayGoMod(); !ok || err != nil {
		t.Fatalf("got %v, %v", ok, err)
	}
	if out := run(t, buildTests(t, ws)); !strings.Contains(out, "monitored util/util.go\n") {
		t.Errorf("util/util.go was not monitored:\n%s", out)
	}
	if ok, err := ws.overlayGoMod(); ok || err != nil {
		t.Errorf("a second time: got %v, %v", ok, err)
	}
	if after := snapshot(t, dir); !maps.Equal(before, after) {
		t.Error("the user's tree was changed")
	}
}

func TestDependenciesAreRewrittenToo(t *testing.T) {
	dir := testmodule.Unpack(t, wholeModule)
	m := load(t, dir, ".")
	bins := buildTests(t, workspace(t, m, mark(m)))
	if len(bins) != 1 || bins[0].Package != "example.com/whole" {
		t.Fatalf("binaries: %v", bins)
	}
	out := run(t, bins)
	if !strings.Contains(out, "monitored deep/util/util.go\n") {
		t.Errorf("a package that the tests depend on was not rewritten:\n%s", out)
	}
	if strings.Contains(out, "monitored deep/util/util_test.go\n") || strings.Contains(out, "monitored util/util.go\n") {
		t.Errorf("more was built than the named package needs:\n%s", out)
	}
}

func TestSecondBuildLinksNothing(t *testing.T) {
	dir := testmodule.Unpack(t, wholeModule)
	m := load(t, dir, "./...")
	build := func() []fs.FileInfo {
		ws := workspace(t, m, mark(m))
		defer ws.Close()
		var got []fs.FileInfo
		for _, b := range buildTests(t, ws) {
			if b.Path != "" {
				info, err := os.Stat(b.Path)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, info)
			}
		}
		return got
	}
	// The go command puts a new file in the place of one that it builds again.
	if first, second := build(), build(); len(first) != 3 || !slices.EqualFunc(first, second, os.SameFile) {
		t.Errorf("binaries were built again:\n%v\n%v", first, second)
	}
}

func TestSecondProcessAtTheSameTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	dir := testmodule.Unpack(t, wholeModule)
	m := load(t, dir, "./util")
	one, two := workspace(t, m, mark(m)), workspace(t, m, mark(m))
	a, b := buildTests(t, one), buildTests(t, two)
	if a[0].Path == b[0].Path {
		t.Errorf("both write %s", a[0].Path)
	}
	run(t, slices.Concat(a, b))
}

func TestLoadThroughSymbolicLink(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	t.Parallel()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(testmodule.Unpack(t, wholeModule), link); err != nil {
		t.Skip(err)
	}
	m := load(t, link, "./util")
	out := run(t, buildTests(t, workspace(t, m, mark(m))))
	if !strings.Contains(out, "monitored util/util.go\n") {
		t.Errorf("the overlay was not met:\n%s", out)
	}
}

// expectConfig and expectCompile check the type of an error and its words.
func expectConfig(t *testing.T, err error, words ...string) {
	t.Helper()
	var conf *gocmd.ConfigError
	if !errors.As(err, &conf) {
		t.Fatalf("got %v, want a *ConfigError", err)
	}
	expectWords(t, err, words)
	if strings.Contains(strings.TrimSpace(err.Error()), "\n") || conf.Next == "" {
		t.Errorf("not one line that says what to do: %q", err)
	}
}

func expectCompile(t *testing.T, err error, words ...string) {
	t.Helper()
	var comp *CompileError
	if !errors.As(err, &comp) {
		t.Fatalf("got %v, want a *CompileError", err)
	}
	expectWords(t, err, words)
}

func expectWords(t *testing.T, err error, words []string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error lacks %q: %v", w, err)
		}
	}
}

func TestRequestsThatCannotBeServed(t *testing.T) {
	dir := testmodule.Unpack(t, wholeModule)
	for _, tt := range []struct {
		name     string
		dir      string
		patterns []string
		flags    []string
		env      []string
		words    []string
	}{
		{"no go.mod", t.TempDir(), nil, nil, nil, []string{"no go.mod", "go mod init"}},
		{"no such package", dir, []string{"./nowhere"}, nil, nil, []string{"nowhere"}},
		{"nothing matches", filepath.Join(dir, "testdata"), []string{"./..."}, nil, nil,
			[]string{"no package matches ./..."}},
		{"no tests", dir, []string{"./none"}, nil, nil, []string{"no test files in ./none", "interlock help env"}},
		{"files", dir, []string{"main_test.go", "a.go"}, nil, nil, []string{"names files"}},
		{"other module", dir, []string{"strings"}, nil, nil, []string{"package strings is not of the module"}},
		{"cover", dir, nil, []string{"-cover"}, nil, []string{"-cover", "a run of its own"}},
		{"coverprofile", dir, nil, []string{"-coverprofile=x"}, nil, []string{"-coverprofile"}},
		{"overlay", dir, nil, nil, []string{"GOFLAGS=-overlay=/x.json"}, []string{"GOFLAGS holds -overlay"}},
		{"modfile", dir, nil, []string{"-modfile=x.mod"}, nil, []string{"-modfile"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(context.Background(), Options{Dir: tt.dir, Patterns: tt.patterns, BuildFlags: tt.flags,
				Env: append(os.Environ(), tt.env...)})
			expectConfig(t, err, tt.words...)
		})
	}
}

func TestCompileErrorsAreTheCompilers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, archive, words string }{
		{"types", "-- go.mod --\nmodule m\n-- a.go --\npackage m\n\nvar X int = \"x\"\n-- a_test.go --\npackage m\n",
			"./a.go:3:13: cannot use \"x\" (untyped string constant) as int value in variable declaration"},
		{"syntax", "-- go.mod --\nmodule m\n-- a.go --\npackage m\n\nfunc {\n-- a_test.go --\npackage m\n", "a.go:3:6: "},
		{"test", "-- go.mod --\nmodule m\n-- a.go --\npackage m\n-- a_test.go --\npackage m\n\nvar _ = undefined\n",
			"./a_test.go:3:9: undefined: undefined"},
		{"import", "-- go.mod --\nmodule m\n-- a.go --\npackage m\n\nimport _ \"m/gone\"\n-- a_test.go --\n" +
			"package m\n", "m/gone"},
		{"beside one without tests", "-- go.mod --\nmodule m\n-- a.go --\npackage m\n-- a_test.go --\npackage m\n\n" +
			"var _ = undefined\n-- none/b.go --\npackage none\n", "./a_test.go:3:9: undefined: undefined"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(context.Background(), Options{Dir: testmodule.Unpack(t, tt.archive), Patterns: []string{"./..."}})
			expectCompile(t, err, tt.words)
		})
	}
}

func TestOriginalDoesNotLink(t *testing.T) {
	m := load(t, testmodule.Unpack(t, "-- go.mod --\nmodule m\n-- a.go --\npackage m\n\nfunc F()\n-- a.s --\n"+
		"-- a_test.go --\npackage m\n\nimport \"testing\"\n\nfunc TestF(*testing.T) { F() }\n"+
		"-- printed/a_test.go --\npackage printed\n\nimport \"testing\"\n\n"+
		"func TestF(t *testing.T) { t.Logf(\"%d\", \"one\") }\n"), "./...")
	ws := workspace(t, m, mark(m))
	// The monitored build may link where the original does not: that is not blamed on go vet.
	complaints, err := ws.VetTests(context.Background(), "")
	if err != nil || len(complaints) != 2 || !complaints[0].Unbuilt || complaints[1].Unbuilt {
		t.Errorf("go test would not run m, which does not link, nor m/printed, which vet refuses: %+v, %v", complaints, err)
	}
	// One that does not link either way is left out.
	m.Tests = m.Tests[:1]
	_, err = ws.BuildTests(context.Background())
	expectCompile(t, err, "m.F not defined")
}

func TestFaultyRewriteFallsBack(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	t.Parallel()
	m := load(t, testmodule.Unpack(t, wholeModule), "./...")
	files := mark(m)
	bad := filepath.Join(m.Root, "util", "util.go")
	files[bad] = append(files[bad], "\nvar Bad int = \"x\"\n"...)
	ws := workspace(t, m, files)
	out := run(t, buildTests(t, ws))
	if strings.Contains(out, "monitored util/util.go\n") || !strings.Contains(out, "monitored util/util_test.go\n") {
		t.Errorf("not just the faulty file was left alone:\n%s", out)
	}
	left := ws.LeftAlone()
	if len(left) != 1 || left[0].File != "util/util.go" || !strings.Contains(left[0].Why, "internal error") ||
		!strings.Contains(left[0].Why, "cannot use \"x\"") {
		t.Fatalf("left alone: %+v", left)
	}
	_, kept, _ := strings.Cut(left[0].Why, "report it with ")
	if data, err := os.ReadFile(filepath.Join(kept, "util", "util.go.txt")); err != nil || !bytes.Equal(data, files[bad]) {
		t.Errorf("the faulty file is not kept in %q: %v", kept, err)
	}
}

func TestFaultNotInAFile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	t.Parallel()
	m := load(t, testmodule.Unpack(t, wholeModule), "./util")
	torn := map[string][]byte{"go.mod": monitor["go.mod"], "rt.go": []byte("package rt\n\nfunc Here() {\n")}
	ws, err := prepare(scratchFor(t), m, mark(m), torn, "watch")
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	_, err = ws.BuildTests(context.Background())
	var fault *RewriteError
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "internal error") {
		t.Errorf("got %v, want a *RewriteError", err)
	}
}

func TestCgoFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	if out, _ := exec.Command("go", "env", "CGO_ENABLED").Output(); strings.TrimSpace(string(out)) != "1" {
		t.Skip("needs cgo")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	m := load(t, testmodule.Unpack(t, "-- go.mod --\nmodule m\n\ngo 1.22\n-- c.go --\npackage m\n\n"+
		"// int three(void) { return 3; }\nimport \"C\"\n\nfunc Three() int { return int(C.three()) }\n"+
		"-- a.go --\npackage m\n-- a_test.go --\npackage m\n\nimport \"testing\"\n\n"+
		"func TestThree(t *testing.T) { if Three() != 3 { t.Error() } }\n"))
	ws := workspace(t, m, mark(m))
	out := run(t, buildTests(t, ws))
	if !strings.Contains(out, "monitored a.go\n") {
		t.Errorf("a plain file beside a cgo file was not rewritten:\n%s", out)
	}
	if left := ws.LeftAlone(); len(left) != 1 || left[0].File != "c.go" {
		t.Errorf("left alone: %v", left)
	}
}

func TestEnvCarriesTheBuild(t *testing.T) {
	dir := testmodule.Unpack(t, wholeModule)
	m := load(t, dir, "./...")
	ws := workspace(t, m, mark(m))
	cmd := exec.Command("go", "test", "-vet=off", "./util")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), ws.Env()...)
	cmd.Args = append(cmd.Args, "-v")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "monitored util/util.go\n") {
		t.Errorf("go test with %v: %v\n%s", ws.Env(), err, out)
	}
}

func scratchFor(t *testing.T) *scratch.Folder {
	t.Helper()
	s, err := scratch.New(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
