package instrument_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument"
)

// windowRT is a monitor that makes a wrong window visible. A read yields a
// copy made at the monitor's call, so that a call between it and the access,
// which changes everything, changes the program's output. A write must have
// changed the memory when the next call checks it.
const windowRT = `package rt

import (
	"maps"
	"slices"
)

type store struct {
	site      uint32
	unchanged func() bool
}

var pending []store

// What sites have stored: they may store the same again.
var (
	stored      = map[[2]int]bool{} // site, value
	storedMap   = map[uint32]map[int]int{}
	storedSlice = map[uint32][]int{}
)

var idle bool

// Idle takes both copies of code in turn.
func Idle() bool {
	idle = !idle
	return idle
}

func Flush() {}

func Exit(code int) int { return code }

func R[T any](p *T, site uint32) *T {
	c := *p
	return &c
}

func W[T any](p *T, site uint32) *T {
	if p, ok := any(p).(*int); ok {
		old := *p
		pending = append(pending, store{site, func() bool {
			key := [2]int{int(site), *p}
			again := stored[key]
			stored[key] = true
			return *p == old && !again
		}})
	}
	return p
}

func MR[M ~map[K]V, K comparable, V any](m M, site uint32) M { return maps.Clone(m) }

func MW[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	if mi, ok := any(m).(map[int]int); ok && site > 1<<20 {
		old := maps.Clone(mi)
		pending = append(pending, store{site, func() bool {
			again := maps.Equal(storedMap[site], mi)
			storedMap[site] = maps.Clone(mi)
			return maps.Equal(mi, old) && !again
		}})
	}
	return m
}

// RS yields a copy, with the tail that the other may use.
func RS[S ~[]E, E any](s S, site uint32) S { return append(S(nil), s[:cap(s)]...)[:len(s)] }

func WS[S ~[]E, E any](s S, site uint32) S {
	if si, ok := any(s).([]int); ok && len(s) > 0 {
		old := slices.Clone(si)
		pending = append(pending, store{site, func() bool {
			again := slices.Equal(storedSlice[site], si)
			storedSlice[site] = slices.Clone(si)
			return slices.Equal(si, old) && !again
		}})
	}
	return s
}

func RN[S ~[]E, E any](s S, n int, site uint32) S { return RS(s, site) }

func WN[S ~[]E, E any](s S, n int, site uint32) S {
	WS(s[:min(n, len(s))], site)
	return s
}

func WA[S ~[]E, E any](s S, n int, site uint32) S {
	if n <= cap(s)-len(s) {
		WS(s[len(s):len(s)+n], site)
	}
	return s
}

func AR[T any](p *T, site uint32) *T { return R(p, site) }

func AW[T any](p *T, site uint32) *T { return W(p, site) }

func Sent[T any](v T) T { return v }

func CR[C any](c C, site uint32) C { return c }

func CW[C any](c C, site uint32) C { return c }

func Close[C ~chan E | ~chan<- E, E any](c C, site uint32) { close(c) }

func GR[T any](p *T, site uint32) *T { return p }

func GAW[T any](p *T, site uint32) *T { return p }

func Forked(statement uint64) {}

func Awaiting(statement uint64) {}

func Started(statement uint64) {}

func Check() {
	for _, s := range pending {
		if s.unchanged() {
			print("CALL BETWEEN HOOK AND STORE ", s.site)
		}
	}
	pending = nil
}
`

// markStores is everySite, with a bit for the stores to map elements.
func markStores(p *sites.Package) func(plan.Key) *plan.Site {
	every := everySite(p)
	return func(k plan.Key) *plan.Site {
		s := every(k)
		if s != nil && strings.HasSuffix(s.Expr, "]") {
			s.ID |= 1 << 20
		}
		return s
	}
}

// buildAndRun writes the files, among them the module's, to a new directory and runs the program there.
// It returns what the program writes to stderr.
func buildAndRun(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(dir, "prog")
	cmd := exec.Command("go", "build", "-o", bin, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s\n%s", err, out, firstError(string(out), files["main.go"]))
	}
	var stderr bytes.Buffer
	run := exec.Command(bin)
	run.Stderr = &stderr
	if err := run.Run(); err != nil {
		if _, ok := err.(*exec.ExitError); !ok {
			t.Fatal(err)
		}
		fmt.Fprintln(&stderr, err)
	}
	return stderr.String()
}

// firstError returns the line of src that the first message of out names.
func firstError(out, src string) string {
	_, out, _ = strings.Cut(out, "main.go:")
	num, _, _ := strings.Cut(out, ":")
	n, _ := strconv.Atoi(num)
	for _, line := range strings.Split(src, "\n") {
		if n--; n == 0 {
			return line
		}
	}
	return ""
}

// equivalent runs main.go (with the other files) plain and rewritten and
// compares what they print. It returns the result of the rewrite.
func equivalent(t *testing.T, goVersion, mainFile string, others map[string]string) *instrument.Result {
	t.Helper()
	files := map[string]string{
		"go.mod": "module m\n\ngo " + goVersion + "\n\nrequire interlock.invalid/rt v0.0.0\n\n" +
			"replace interlock.invalid/rt => ./rt\n",
		"rt/go.mod": "module interlock.invalid/rt\n\ngo 1.21\n",
		"rt/rt.go":  windowRT,
		"main.go":   mainFile,
	}
	srcs := map[string]string{"main.go": mainFile}
	for name, src := range others {
		files[name], srcs[name] = src, src
	}
	want := buildAndRun(t, files)
	p := typed(t, "go"+goVersion, srcs)
	p.Files = slices.DeleteFunc(p.Files, func(f *ast.File) bool {
		return filepath.Base(p.Fset.File(f.FileStart).Name()) != "main.go"
	})
	res, err := instrument.Rewrite(p, markStores(p), instrument.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Files {
		files[filepath.Base(f.Name)] = string(f.Content)
	}
	if strings.Contains(srcs["prelude.go"], "onCall") {
		files["glue.go"] = "package main\n\nimport \"interlock.invalid/rt\"\n\nfunc init() { onCall = rt.Check }\n"
	}
	got := buildAndRun(t, files)
	compare(t, got, want, files["main.go"], mainFile)
	return res
}

// compare reports the first lines that differ, with the generated functions
// that printed them.
func compare(t *testing.T, got, want, rewritten, original string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	bad := 0
	for i := range max(len(g), len(w)) {
		var gl, wl string
		if i < len(g) {
			gl = g[i]
		}
		if i < len(w) {
			wl = w[i]
		}
		if gl != wl && bad < 5 {
			bad++
			t.Errorf("output line %d:\n got %s\nwant %s\noriginal:\n%s\nrewritten:\n%s",
				i, gl, wl, function(original, i), function(rewritten, i))
		}
	}
}

// function returns the text of the generated function gen<i>.
func function(src string, i int) string {
	_, src, _ = strings.Cut(src, fmt.Sprintf("func gen%d()", i))
	src, _, _ = strings.Cut(src, "\nfunc gen")
	return src
}

// TestRandom runs random functions, in which every call changes all that the
// others read, plain and with a monitor that shows wrong windows.
func TestRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	seed, count := uint64(1), 150
	if s := os.Getenv("RANDOM_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	prelude, err := os.ReadFile("testdata/random_prelude.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	gen := &generator{rand: rand.New(rand.NewPCG(seed, 0))}
	res := equivalent(t, "1.26", gen.program(count), map[string]string{"prelude.go": string(prelude)})
	reasons := map[plan.Reason]int{}
	for _, l := range res.Left {
		reasons[l.Reason]++
	}
	t.Logf("seed %d: %d accesses rewritten, left alone: %v", seed, res.Rewritten, reasons)
	if res.Rewritten < 10*count {
		t.Errorf("%d accesses rewritten in %d functions: the generator makes too few", res.Rewritten, count)
	}
}

// TestFlow runs a program of statements in which order, control flow, panics
// and their lines matter, with both meanings of loop variables.
func TestFlow(t *testing.T) {
	src, err := os.ReadFile("testdata/flow.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"1.21", "1.26"} {
		t.Run(version, func(t *testing.T) {
			program := string(src)
			if version == "1.21" { // ranges over integers and functions came later
				program = regexp.MustCompile(`(?s)\tfor i := range func.*?\n\t}\n`).ReplaceAllString(program, "")
				program = strings.ReplaceAll(program, "for k := range 4 {", "for k := 0; k < 4; k++ {")
				program = strings.ReplaceAll(program, "for range say(", "for range make([]int, x.n+3)[say(")
				program = strings.ReplaceAll(program, "one()) + x.n {", "one()) - 2:] {")
			}
			res := equivalent(t, version, program, nil)
			for _, l := range res.Left {
				t.Logf("left alone: %d: %s: %s", l.Site.Line, l.Site.Expr, l.Reason)
			}
		})
	}
}

// generator makes random functions.
type generator struct {
	rand *rand.Rand
	n    int // for unique names and values
	b    strings.Builder
	trap bool // the statement already has an operand that panics
}

func (g *generator) program(count int) string {
	g.b.WriteString("package main\n\nimport \"sync/atomic\"\n\nvar _ atomic.Int64\n\n")
	for i := range count {
		fmt.Fprintf(&g.b, "func gen%d() {\n\tc, d := 1, 2\n\tp := &x.f\n\tmutate = func() { c += 7; d += c; *p++ }\n", i)
		for range 1 + g.rand.IntN(3) {
			g.stmt(1, 2)
		}
		g.b.WriteString("\tuse(c, d, *p)\n}\n\n")
	}
	g.b.WriteString("func main() {\n")
	for i := range count {
		fmt.Fprintf(&g.b, "\ttry(gen%d)\n", i)
	}
	g.b.WriteString("}\n")
	return g.b.String()
}

func (g *generator) pick(list ...string) string { return list[g.rand.IntN(len(list))] }

func (g *generator) unique() int {
	g.n++
	return g.n
}

// value is an int expression whose value the memory does not hold yet.
func (g *generator) value(d int) string {
	return fmt.Sprintf("%s + %d", g.expr(d), 1000003*g.unique())
}

// expr returns an int expression of depth d.
func (g *generator) expr(d int) string {
	if d <= 0 || g.rand.IntN(4) == 0 {
		return g.atom()
	}
	e := func() string { return g.expr(d - 1) }
	switch g.rand.IntN(26) {
	case 20:
		return "int(x.at.Load()) + " + e()
	case 21:
		return "int(atomic.AddInt64(&y.n64, int64(" + e() + ")))"
	case 22:
		return "x.ps.and(" + e() + ")"
	case 23:
		first := "len(append([]int{" + e() + "}, x.s...))"
		return first + " + append([]int(nil), x.s[" + g.pick("0", "1") + ":]...)[(" + e() + ")&1]"
	case 24:
		return "x.big[(" + e() + ")&1].a + x.q[(" + e() + ")&1].sum()"
	case 25:
		return "int(x.at.Swap(int64(" + e() + ")))"
	case 0, 1, 2:
		return "g(" + e() + ", " + e() + ")"
	case 3:
		return "<-recv(" + e() + ")"
	case 4, 5, 6:
		return e() + g.pick(" + ", " - ", " * ", " + 3*") + "(" + e() + ")"
	case 7:
		return "x.fn(" + e() + ", " + e() + ")"
	case 8:
		return "y.it.M(" + e() + ")"
	case 9:
		return "x.s[(" + e() + ")&1]"
	case 10:
		return "b2i(" + g.cond(d-1) + ")"
	case 11:
		return "conv(" + e() + ", " + g.pick("pair{"+e()+", "+e()+"}", g.cond(d-1), "x.in", e()) + ", " + e() + ")"
	case 12:
		return "min(" + e() + ", " + e() + ")"
	case 13:
		return "len(x.s[(" + e() + ")&1:])"
	case 14:
		return "x.m[" + e() + "]"
	case 15:
		return "(pair{" + e() + ", " + e() + "}).sum()"
	case 16:
		return "func() int { return " + e() + " }()"
	case 17:
		return "x.ptr().f"
	case 18:
		return "(map[int]int{" + e() + ": " + e() + "})[" + e() + "]"
	default:
		return "x.k[" + e() + "]"
	}
}

func (g *generator) atom() string {
	if !g.trap && g.rand.IntN(40) == 0 {
		g.trap = true
		return g.pick("z.f", "x.s[9]", "7/(x.i-x.i)", "z.next.f", "z.m[1]", "y.a.(iface).M()")
	}
	return g.pick("1", "c", "d", "*p", "G", "x.f", "y.f", "x.i", "x.next.f", "y.next.i", "x.in.v", "x.arr[1]", "len(y.s)",
		"y.m[0]", "x.a.(int)", "y.s[1]", "x.st.sum()", "x.k[0]", "len(x.next.s)",
		"x.s[x.s[0]&1]", "x.q[1].b", "y.ps.sum()", "int(y.at.Load())", "[2]int(x.s)[1]", "x.big[1].a", "x.e1", "y.e2",
		"x.v2", "y.get()")
}

func (g *generator) cond(d int) string {
	switch n := g.rand.IntN(8); {
	case d > 0 && n < 2:
		return "(" + g.cond(d-1) + " && " + g.cond(d-1) + ")"
	case d > 0 && n < 4:
		return "(" + g.cond(d-1) + " || " + g.cond(d-1) + ")"
	case n == 4:
		return g.pick("x.ok", "!y.ok", "x.next.ok")
	case n == 5 && d > 0:
		return "x.in == (inner{" + g.expr(d-1) + "})"
	}
	return "(" + g.expr(d) + ")%3 " + g.pick("<", "!=", ">=") + " " + g.expr(d-1)
}

func (g *generator) target() string {
	return g.pick("x.f", "y.i", "x.next.f", "c", "G", "*p", "x.in.v", "x.m[3]", "x.s[(c)&1]", "y.m["+g.expr(1)+"]",
		"x.arr[0]", "x.ptr().i", "x.s["+g.expr(1)+"&1]", "y.s[x.s[1]&1]", "x.q[c&1].b", "x.next.s[1]", "x.big[d&1].b",
		"x.ps.a", "x.e1", "y.e2", "x.v1")
}

// stmt writes a statement, indented and of the given depth.
func (g *generator) stmt(indent, depth int) {
	g.trap = false
	tab := strings.Repeat("\t", indent)
	put := func(format string, args ...any) { fmt.Fprintf(&g.b, tab+format+"\n", args...) }
	body := func() {
		g.stmt(indent+1, depth-1)
	}
	e := func() string { return g.expr(2) }
	n := g.rand.IntN(33)
	if depth <= 0 {
		n = g.rand.IntN(13)
	}
	switch n {
	case 0, 1, 2:
		put("%s = %s", g.target(), g.value(2))
	case 3:
		put("%s += %s", g.target(), g.value(2))
	case 4:
		put("%s++", g.target())
	case 5:
		put("use(%s, %s, %s)", e(), e(), e())
	case 6:
		put("%s, %s = two(%s)", g.pick("x.f", "c", "y.i", "*p"), g.pick("d", "G", "x.next.i"), e())
	case 7:
		put("x.f, y.i = y.i + %d, %s", 1000003*g.unique(), g.value(2))
	case 8:
		put("x.s = append(x.s[:2], %s)", g.value(2))
	case 9:
		put("%s.ok = %s", g.pick("x", "y", "x.next"), g.cond(2))
	case 10:
		put("x.a = %s", e())
	case 11:
		put("delete(x.m, %s)", e())
	case 12:
		put("use(func() (int, int) { return %s, %s }())", e(), e())
	case 13:
		v := fmt.Sprintf("v%d", g.unique())
		put("%s := %s", v, e())
		put("use(%s)", v)
	case 14:
		v := fmt.Sprintf("v%d", g.unique())
		put("%s, c := two(%s)", v, e())
		put("use(%s, c)", v)
	case 15, 16:
		put("if %s {", g.cond(2))
		body()
		put("} else if %s {", g.cond(2))
		body()
		put("}")
	case 17:
		put("if c := %s; %s {", e(), g.cond(2))
		body()
		put("} else { use(c) }")
	case 18:
		i := fmt.Sprintf("i%d", g.unique())
		put("for %s := 0; %s < 3 && %s; %s++ {", i, i, g.cond(2), i)
		body()
		put("\tdefer func() { use(%s) }()", i)
		put("}")
	case 19:
		put("for range (%s)&1 {", e())
		body()
		put("}")
	case 20:
		put("switch %s {", e())
		put("case %s, %s:", e(), e())
		body()
		put("default:")
		body()
		put("}")
	case 21:
		put("select {")
		put("case %s = <-recv(%s):", g.pick("x.f", "c", "y.i"), e())
		body()
		put("}")
	case 22:
		put("func() { defer g(%s, %s) }()", e(), e())
	case 23:
		put("recv() <- %s", e())
	case 24:
		l := fmt.Sprintf("l%d", g.unique())
		put("%s:", l)
		put("for range (%s)&1 + 1 {", e())
		put("\tif %s { continue %s }", g.cond(1), l)
		body()
		put("}")
	case 26:
		put("for _, v := range x.s[(%s)&1:] {", e())
		put("\tuse(v)")
		body()
		put("}")
	case 27:
		put("for i, v := range %s {", g.pick("x.q", "y.ptr().q", "&x.big"))
		body()
		put("\tuse(i, v.sum(), %s)", e())
		put("}")
	case 28:
		put("copy(x.s[(%s)&1:], []int{%s})", e(), g.value(1))
	case 29:
		put("x.at.Store(int64(%s))", g.value(1))
		put("atomic.StoreInt64(&x.n64, int64(%s))", e())
	case 30:
		put("x.s[0], x.s[1] = %s, %s", g.value(2), g.value(1))
	case 31:
		put("x.next.s[x.f&1], y.q[%s&1].a, x.f = %s, x.s[x.i&1] + %d, %s",
			g.pick("c", "y.i"), g.value(2), 1000003*g.unique(), g.value(0))
	case 32:
		put("x.next, x.next.f = y.next, %s", g.value(1))
	case 25:
		put("use(")
		put("\t%s,", e())
		put("\t%s,", e())
		put("\tx.f)")
	}
}

// TestLines checks that every call of the random program keeps its line.
func TestLines(t *testing.T) {
	prelude, err := os.ReadFile("testdata/random_prelude.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	gen := &generator{rand: rand.New(rand.NewPCG(7, 0))}
	src := gen.program(100)
	p := typed(t, "go1.26", map[string]string{"main.go": src, "prelude.go": string(prelude)})
	res, err := instrument.Rewrite(p, everySite(p), instrument.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Files {
		if filepath.Base(f.Name) != "main.go" {
			continue
		}
		want, got := callLines(t, string(p.Src[f.Name])), callLines(t, string(f.Content))
		if want != got {
			t.Errorf("%s: lines of calls differ:\n got %s\nwant %s", f.Name, got, want)
		}
	}
}

// callLines lists the calls in src by function and line.
func callLines(t *testing.T, src string) string {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if id, ok := c.Fun.(*ast.Ident); ok && id.Name != "len" { // the rewriter asks for lengths
				calls = append(calls, fmt.Sprintf("%06d %s", fset.Position(c.Pos()).Line, id.Name))
			}
		}
		return true
	})
	slices.Sort(calls)
	return strings.Join(calls, "\n")
}
