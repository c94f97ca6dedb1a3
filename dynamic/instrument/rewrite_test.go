package instrument_test

import (
	"flag"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument"
)

// newInfo returns an Info that holds what Rewrite needs.
func newInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
		FileVersions: map[*ast.File]string{},
	}
}

// typed returns the files of one package, contents by name, with their types.
func typed(t *testing.T, goVersion string, srcs map[string]string) *sites.Package {
	t.Helper()
	p := &sites.Package{Path: "m/p", Root: "/m", Fset: fset, Info: newInfo(), Src: map[string][]byte{}}
	for _, name := range slices.Sorted(maps.Keys(srcs)) {
		file := filepath.Join("/m", name)
		f, err := parser.ParseFile(p.Fset, file, srcs[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p.Files = append(p.Files, f)
		p.Src[file] = []byte(srcs[name])
	}
	conf := types.Config{Importer: library, GoVersion: goVersion}
	var err error
	if p.Types, err = conf.Check(p.Path, p.Fset, p.Files, p.Info); err != nil {
		t.Fatal(err)
	}
	return p
}

// fset and library are shared by all tests, so that each package of the standard library
// is typed once.
var (
	fset    = token.NewFileSet()
	library = importer.ForCompiler(fset, "source", nil)
)

// everySite monitors all sites, with ids in the order of the text.
func everySite(p *sites.Package) func(plan.Key) *plan.Site {
	table := map[plan.Key]*plan.Site{}
	for i, a := range sites.Enumerate(p) {
		a.Site.ID = uint32(i + 1)
		table[a.Site.Key()] = &a.Site
	}
	return func(k plan.Key) *plan.Site { return table[k] }
}

// prelude is what the golden cases share.
const prelude = `package p

import "sync/atomic"

type T struct {
	f, i int
	s    []int
	m    map[string]int
	next *T
	ch   chan int
	fn   func(...int) int
	err  error
	ok   flag
	x    any
	it   iface
	n64  int64
	p64  *int64
	at   atomic.Int64
	v    val
	pv   *val
}

type val struct{ a, b int }

func (v val) get(...int) int { return v.a }

func g2(...int) []int { return nil }

type flag bool

type iface interface{ M(...int) int }

func g(...int) int         { return 0 }
func h(int) bool           { return false }
func two() (int, error)    { return 0, nil }
func call(...any)          {}
func conv(any) (int, bool) { return 0, false }
func chans() []chan int    { return nil }
func fn(int) func()        { return nil }
`

var update = flag.Bool("update", false, "write what golden cases become, to be read before it is committed")

// TestGolden rewrites the statements of testdata/*.txtar: in each archive,
// file "in" holds statements, and "want" what becomes of them, with reasons
// for what is left alone as final comments.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, name := range files {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(ar.Files); i += 2 {
			in, want := ar.Files[i], &ar.Files[i+1]
			t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar")+"/"+in.Name, func(t *testing.T) {
				got := golden(t, string(in.Data))
				if *update {
					want.Data = []byte(got)
				}
				if got != string(want.Data) {
					t.Errorf("got:\n%s\nwant:\n%s", got, want.Data)
				}
			})
		}
		if *update {
			if err := os.WriteFile(name, txtar.Format(ar), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

var marks = regexp.MustCompile(`/\*interlock:[0-9]+\*/`)

func golden(t *testing.T, in string) string {
	const head = "package p\n\nimport (\"sync\"; \"sync/atomic\")\n\nvar _, _ = atomic.Int64{}, sync.Mutex{}\n\n" +
		"func _(x, y *T, p *int, n int) { defer g()\n"
	src := head + in + "}\n"
	p := typed(t, "go1.26", map[string]string{"a.go": prelude, "b.go": src})
	res, err := instrument.Rewrite(p, everySite(p), instrument.Options{Marked: true})
	if err != nil {
		t.Fatal(err)
	}
	out := src
	if len(res.Files) > 0 {
		out = string(res.Files[0].Content)
		checkTypes(t, prelude, out)
		if plain := marks.ReplaceAllString(string(res.Files[0].Marked), ""); plain != out {
			t.Errorf("without its marks the marked text is\n%s", plain)
		}
	}
	_, out, _ = strings.Cut(out, "{ defer g()\n")
	out = strings.TrimSuffix(out, "}\n")
	for _, l := range res.Left {
		out += "// left " + l.Site.Expr + ": " + string(l.Reason) + "\n"
	}
	return out
}

// TestLoopVariables checks that below Go 1.22, where a range clause assigns
// one variable again and again, the assignment is announced.
func TestLoopVariables(t *testing.T) {
	const src = "package p\n\nfunc f() {\n\tfor _, v := range []int{1} { // x\n\t\tdefer func() { println(v) }()\n\t}\n}\n"
	for version, want := range map[string]string{
		"go1.21": "for _, v := range []int{1} { _ilrt.W(&v, 1); // x\n\t\tdefer func() { println((*_ilrt.R(&v, 2))) }()\n",
		"go1.22": "",
	} {
		p := typed(t, version, map[string]string{"a.go": src})
		res, err := instrument.Rewrite(p, everySite(p), instrument.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if (len(res.Files) > 0) != (want != "") || want != "" && !strings.Contains(string(res.Files[0].Content), want) {
			t.Errorf("%s: got %s", version, res.Files)
		}
	}
}

// monitor is the type of the monitor's package, on a system on which it does nothing.
var monitor = sync.OnceValues(func() (*types.Package, error) {
	ctxt := build.Default
	ctxt.GOOS, ctxt.GOARCH = "plan9", "amd64"
	found, err := ctxt.ImportDir("../rt", 0)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range found.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join("../rt", name), nil, 0)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: library, IgnoreFuncBodies: true}
	return conf.Check("interlock.invalid/rt", fset, files, nil)
})

type rtImporter struct {
	types.Importer
	rt *types.Package
}

func (i rtImporter) Import(path string) (*types.Package, error) {
	switch path {
	case "interlock.invalid/rt":
		return i.rt, nil
	case "interlock.invalid/rt/locks":
		return i.Importer.Import("github.com/interlock-go/interlock/dynamic/rt/locks")
	}
	return i.Importer.Import(path)
}

// checkTypes reports type errors of a package of the given files.
func checkTypes(t *testing.T, srcs ...string) {
	t.Helper()
	rt, err := monitor()
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, src := range srcs {
		f, err := parser.ParseFile(fset, "x.go", src, 0)
		if err != nil {
			t.Fatalf("%v in:\n%s", err, src)
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: rtImporter{library, rt}}
	if _, err := conf.Check("m/p", fset, files, nil); err != nil {
		t.Errorf("rewritten text has type errors: %v\n%s", err, srcs[len(srcs)-1])
	}
}
