package production

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Operations of sync/atomic are replaced, columns stay, and what only looks like one is left alone.
func TestCountAtomics(t *testing.T) {
	const file = `package p

import (
	a "sync/atomic"
)

type local struct{}

func (local) AddInt32(*int32, int32) {}

func f(p *int32, q *a.Int32) func(*int32) int32 {
	a.AddInt32(p, 1)
	q.Add(1)
	{
		a := local{}
		a.AddInt32(p, 1)
	}
	return a.LoadInt32
}
`
	got, err := CountAtomics("p.go", []byte(file), false)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(file, "\ta.AddInt32(p, 1)\n\tq", "\ta.ADdInt32(p, 1)\n\tq", 1)
	want = strings.Replace(want, "return a.LoadInt32", "return a.LOadInt32", 1)
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
	for _, none := range []string{"package p\n", "package p\n\nimport _ \"sync/atomic\"\n", "no Go \"sync/atomic\""} {
		if got, err := CountAtomics("p.go", []byte(none), false); got != nil || err != nil {
			t.Errorf("%q became %q, %v", none, got, err)
		}
	}
}

func installation(t *testing.T) Installation {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	in := Installation{strings.TrimSpace(string(root)), runtime.Version(), runtime.GOOS, runtime.GOARCH}
	if why := in.unsupported(); why != "" {
		t.Skip("a production build ", why)
	}
	return in
}

// Each edit has its place in this installation, and each file that is added is there.
func TestPrepare(t *testing.T) {
	in := installation(t)
	main := filepath.Join(t.TempDir(), "cmd")
	overlay, err := Prepare(in, Program{Module: "example.com/m", Dir: filepath.Dir(main), Mains: []Main{{main, true}},
		Uncounted: []string{"example.com/asm"}, Switches: Switches{"127.0.0.1:6061", Signal{"SIGUSR2", 12}}}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	src := filepath.Join(in.Root, "src")
	ours := filepath.Join(filepath.Dir(main), "zinterlock")
	for name, want := range map[string]string{
		filepath.Join(src, "runtime", "runtime2.go"):          "ilkClock uint64",
		filepath.Join(src, "runtime", "zinterlock_trap.go"):   "func ilkTrap(",
		filepath.Join(src, "runtime", "zinterlock_number.go"): "const ilkSignal = 12",
		filepath.Join(src, "runtime", "signal_unix.go"):       " if ilkTakes(sig) { return };\n",
		filepath.Join(src, "sync", "atomic", "zinterlock.go"): "func ADdInt64(addr *int64, delta int64) (new int64) {",
		filepath.Join(src, "sync", "atomic", "type.go"):       "ADdInt32(&x.v, delta)",
		filepath.Join(main, "zinterlock_agent.go"):            `import _ "example.com/m/zinterlock/agent"`,
		filepath.Join(ours, "agent", "program.go"):            `[]string{"example.com/asm"}`,
		filepath.Join(ours, "serve", "where.go"):              `where = "127.0.0.1:6061"`,
		filepath.Join(ours, "serve", "serve.go"):              `"example.com/m/zinterlock/pages"`,
		filepath.Join(ours, "vars", "vars.go"):                "package vars",
		filepath.Join(ours, "operands", "function.go"):        `"example.com/m/zinterlock/x86asm"`,
		filepath.Join(ours, "x86asm", "decode.go"):            "package x86asm",
	} {
		text, err := os.ReadFile(overlay[name])
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s has no %q: %v", name, want, err)
		}
		if strings.HasPrefix(string(text), constraint) {
			t.Errorf("%s would be left out of the build", name)
		}
	}
}

// A program imports pages only if it is built with an agent, and package expvar only if it has that already.
func TestImports(t *testing.T) {
	for _, test := range []struct {
		agent  string
		expvar bool
		want   string
	}{{"", true, "agent"}, {"mux", false, "agent serve"}, {"mux", true, "agent serve vars"}} {
		p := Program{Module: "m", Switches: Switches{Agent: test.agent}}
		got := string(p.imports(Main{Expvar: test.expvar}))
		want := "package main\n\n"
		for _, name := range strings.Fields(test.want) {
			want += "import _ \"m/zinterlock/" + name + "\"\n"
		}
		if got != want {
			t.Errorf("%+v: %s", test, got)
		}
		texts, err := p.texts()
		if err != nil {
			t.Fatal(err)
		}
		if _, serves := texts["zinterlock/pages/handler.go"]; serves != (test.agent != "") {
			t.Errorf("%+v: pages are part of the program: %t", test, serves)
		}
	}
}

// Each edit counts a release that is in the source as the watch knows it: an installation without one is refused.
func TestPrepareRefuses(t *testing.T) {
	in := installation(t)
	for _, e := range edits {
		if _, ok := e.apply([]byte("package p\n")); ok {
			t.Errorf("%s: an edit without its place", e.file)
		}
		if _, ok := e.apply([]byte(e.behind + e.behind)); ok {
			t.Errorf("%s: an edit with two places", e.file)
		}
	}
	in.Version = "go1.4"
	if _, err := Prepare(in, Program{}, t.TempDir()); !errors.As(err, new(*UnsupportedError)) {
		t.Errorf("go1.4: %v", err)
	}
}

// The compiler gets the files that count in the place of the user's, with lines as these have them.
func TestCountFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.go")
	text := "package p\n\nimport \"sync/atomic\"\n\nvar n int32\n\nfunc F() { atomic.AddInt32(&n, 1) }\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-o", filepath.Join(dir, "p.a"), "-p", "p", "-pack", file}
	counted := slices.Clone(args)
	if err := countFiles(counted); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(counted[len(counted)-1])
	if err != nil || !strings.HasPrefix(string(got), "//line "+file+":1:1\npackage p") ||
		!strings.Contains(string(got), "atomic.ADdInt32") {
		t.Errorf("%v: %s", err, got)
	}
	args[3] = "internal/sync"
	alone := slices.Clone(args)
	if err := countFiles(alone); err != nil || !slices.Equal(alone, args) {
		t.Errorf("%v: %v", err, alone)
	}
}
