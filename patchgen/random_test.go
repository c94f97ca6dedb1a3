package patchgen

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// randomPrograms is how many small packages TestRandom makes: enough to meet
// every kind of statement in every state of a region, few enough to compile
// in a few seconds.
var randomPrograms = flag.Int("programs", 60, "how many random programs TestRandom patches")

// firstProgram lets a long run be made in portions.
var firstProgram = flag.Int("first", 0, "the `number` of the first random program")

// programNumbers yields the numbers of the programs, of which each is made from its number alone.
func programNumbers(yield func(int) bool) {
	for i := *firstProgram; i < *firstProgram+*randomPrograms && yield(i); i++ {
	}
}

// TestRandom patches random programs and runs them before and after: whatever
// is built has to pass every check of patchgen's own, to come out of git apply
// the same, and to compute the same without hanging. Every fourth program
// starts goroutines, passes values through channels and waits; its methods also run
// in four goroutines at a time on one object, with yields, and are to end where those of the
// original end. The strategies of package syncfix are not tried: what they correct
// are places that a check has named, which one goroutine does not reach.
func TestRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	root := t.TempDir()
	for i := range programNumbers {
		g := &generator{Rand: rand.New(rand.NewPCG(uint64(i), 1)), locked: i%3 == 0, calm: i%6 == 0, short: i%3 == 1,
			waits: i%4 == 3}
		writeFile(t, filepath.Join(root, fmt.Sprintf("o%d", i), "a.go"), []byte(g.program(fmt.Sprintf("o%d", i))))
	}
	loaded := loadAll(t, root)
	built, variants, diffs := map[string]int{}, map[string][]string{}, map[string]string{}
	torn := 0
	for i := range programNumbers {
		name := fmt.Sprintf("o%d", i)
		m := moduleOf(t, root, name, loaded)
		for _, field := range []string{"n", "on", "s", "m"} {
			for _, s := range strategy.All {
				files, refused := tryRandom(t, m, name, field, s.Name)
				if refused {
					torn++
				}
				if files != nil {
					built[s.Name]++
					dir := fmt.Sprintf("%s_%s_%s", name, field, s.Name)
					writeFile(t, filepath.Join(root, dir, "a.go"), files[name+"/a.go"])
					diffs[dir], _ = Diff(m.Old(files), files)
					variants[name] = append(variants[name], dir)
				}
			}
		}
	}
	t.Log("patches built:", built)
	if torn > *randomPrograms/10 {
		t.Errorf("%d patches tear a test from its use: the strategies should see that", torn)
	}
	for s, atLeast := range map[string]int{"guard": *randomPrograms / 8, "atomic": *randomPrograms / 8,
		"mutex": *randomPrograms * 3 / 4} {
		if built[s] < atLeast {
			t.Errorf("only %d patches by %s: the programs no longer try it", built[s], s)
		}
	}
	t.Log("doubts about steps and orders that do not matter:", falseDoubts)
	for obligation, most := range map[string]int{"written first": *randomPrograms / 20, "beside step": *randomPrograms / 6,
		"alone": *randomPrograms / 10, "set apart": *randomPrograms / 6} {
		if falseDoubts[obligation] > most {
			t.Errorf("%d patches have a doubt of %q that does not matter, want %d at most", falseDoubts[obligation],
				obligation, most)
		}
	}
	compareRuns(t, root, variants, diffs)
}

// falseDoubts counts the patches of TestRandom that are drafts for steps which nobody takes for one there, or for an
// order that the program does not depend on, by obligation.
var falseDoubts = map[string]int{}

// tryRandom builds and checks one patch by a strategy; nil if the strategy refuses. Torn
// reports that the check does, because a test and its use are two steps.
func tryRandom(t *testing.T, m *Module, name, field, by string) (files map[string][]byte, torn bool) {
	file := m.Files[name+"/a.go"]
	at := m.Fset.Position(file.Syntax.Pos())
	f := &finding.Finding{Code: finding.CaughtInTheAct, Variable: finding.Variable{Name: field}}
	for i, line := range strings.Split(string(file.Source), "\n") {
		if column := strings.Index(line, "x."+field+" "); column >= 0 && !strings.HasPrefix(line, "//") {
			f.Accesses = append(f.Accesses, finding.Access{Position: finding.Position{File: file.Path, Line: at.Line + i,
				Column: column + 1}, Mode: finding.Write})
			break
		}
	}
	if len(f.Accesses) == 0 {
		return nil, false
	}
	p, err := newProblem(Input{Module: m, Group: []*finding.Finding{f}}, shown)
	if err != nil {
		t.Fatalf("%s %s: %v", name, field, err)
	}
	for _, s := range strategy.For(p) {
		if s.Name != by {
			continue
		}
		if files, torn = tryVariant(t, m, p, name+"."+field, s); files != nil {
			return files, false
		}
	}
	return nil, torn
}

// tryVariant is tryRandom for one variant of a strategy.
func tryVariant(t *testing.T, m *Module, p *strategy.Problem, name string,
	s strategy.Strategy) (files map[string][]byte, torn bool) {
	out, err := strategy.Try(s, p)
	if err != nil {
		if strings.Contains(err.Error(), "internal error") || strings.Contains(err.Error(), "overlap") ||
			strings.Contains(err.Error(), "expected") {
			t.Errorf("%s of %s: %v", s.Name, name, err)
		}
		return nil, false
	}
	diff, err := Diff(m.Old(out.Files), out.Files)
	if err != nil {
		t.Fatal(err)
	}
	v := &verifier{module: m}
	err = v.judge(context.Background(), &attempt{name: s.Name, patch: out})
	why := (*validate.Refusal)(nil)
	if errors.As(err, &why) &&
		(why.Obligation == "one step" || why.Obligation == "read side") {
		// The check knows of tests, and of writes of other variables, that the strategy does not follow.
		t.Logf("%s of %s: %v", s.Name, name, err)
		return nil, true
	}
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "without a common lock"):
		// Another variable of the object races beside this one: a draft with that doubt, which has to hold as well.
		t.Logf("%s of %s: %v", s.Name, name, err)
	case why != nil && slices.Contains([]string{"beside step", "alone", "written first", "set apart"}, why.Obligation):
		// A draft that has to hold as well.
		t.Logf("%s of %s: %v", s.Name, name, err)
		falseDoubts[why.Obligation]++
	default:
		t.Errorf("%s of %s: %v\n%s", s.Name, name, err, diff)
		return nil, false
	}
	checkApplies(t, m, diff, out.Files)
	checkAgain(t, m, out.Files)
	return out.Files, false
}

// compareRuns runs originals and variants in one program.
func compareRuns(t *testing.T, root string, variants map[string][]string, diffs map[string]string) {
	var imports, calls strings.Builder
	alias := 0
	add := func(dir, of string) {
		alias++
		fmt.Fprintf(&imports, "\tp%d \"example.com/m/%s\"\n", alias, dir)
		fmt.Fprintf(&calls, "\tshow(%q, %q, p%d.Run, p%d.Together)\n", dir, of, alias, alias)
	}
	for name, dirs := range variants {
		add(name, name)
		for _, dir := range dirs {
			add(dir, name)
		}
	}
	writeFile(t, filepath.Join(root, "run", "main.go"), []byte(`package main

import (
	"fmt"
	"time"
`+imports.String()+`)

var want, hangs = map[string]string{}, map[string]bool{}

func show(dir, of string, run func() string, together func()) {
	fmt.Println("AT", dir)
	got := run()
	ended := make(chan bool)
	go func() { together(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		if hangs[dir] = true; !hangs[of] {
			fmt.Printf("DIFFERENT %s\nhangs where the original ends\n", dir)
		}
	}
	if dir == of {
		want[of] = got
	} else if got != want[of] {
		fmt.Printf("DIFFERENT %s\n%s\n%s\n", dir, want[of], got)
	}
}

func main() {
`+calls.String()+`}
`))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute+time.Duration(*randomPrograms)*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "run", "./run")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	at := ""
	for line := range strings.Lines(string(out)) {
		if dir, ok := strings.CutPrefix(line, "AT "); ok {
			at = strings.TrimSpace(dir)
		}
		if dir, ok := strings.CutPrefix(line, "DIFFERENT "); ok {
			t.Errorf("%s behaves differently\n%s", strings.TrimSpace(dir), diffs[strings.TrimSpace(dir)])
		}
	}
	if err != nil {
		t.Errorf("running the programs: %v, at %s\n%s\n%s", err, at, diffs[at], out)
	}
}

// generator writes random methods of one type.
type generator struct {
	*rand.Rand
	b      strings.Builder
	locals []string
	next   int
	loops  int
	locked bool // half of the methods hold x.mu
	short  bool // methods of one statement
	calm   bool // nothing that may block: what belongs together fits into one region
	// waits: methods start goroutines and wait for them, by channels and WaitGroups.
	waits bool
}

func (g *generator) program(name string) string {
	fmt.Fprintf(&g.b, "package %s\n\n"+
		"import (\n\t\"fmt\"\n\t\"runtime\"\n\t\"sync\"\n)\n\nvar _ = runtime.Gosched\n\n", name)
	g.b.WriteString(`type T struct {
	mu   sync.RWMutex
	n    int
	on   bool
	s    []int
	m    map[int]int
	hook func(int) int
	logMu sync.Mutex
	log  []int
	in   chan int
}

func (x *T) note(v int) {
	x.logMu.Lock()
	defer x.logMu.Unlock()
	x.log = append(x.log, v)
}

// pass has another goroutine compute, and waits for it.
func (x *T) pass(v int) int {
	out := make(chan int)
	go func() { out <- x.twice(v) }()
	return <-out
}

func (x *T) twice(v int) int { return v*3%17 + 1 }

// shared is where other goroutines find the object.
var shared *T

func newT() *T {
	return &T{m: map[int]int{}, in: make(chan int, 1), hook: func(v int) int { return v*3%17 + 1 }}
}

func Run() string {
	x := newT()
	shared = x
	for i := range 4 {
`)
	methods := 2 + g.IntN(2)
	if g.short {
		methods = 4
	}
	for i := range methods {
		fmt.Fprintf(&g.b, "\t\tx.log = append(x.log, x.f%d(i))\n", i)
	}
	if g.locked {
		g.b.WriteString("\t\tx.set(i)\n\t\tx.flip()\n\t\tx.look()\n")
	}
	g.b.WriteString("\t}\n\tvar keys []int\n\tfor k := range 20 {\n\t\tkeys = append(keys, x.m[k])\n\t}\n" +
		"\treturn fmt.Sprint(x.n, x.on, x.s, keys, x.log)\n}\n")
	if g.locked {
		g.b.WriteString(`
func (x *T) set(v int) {
	x.mu.Lock()
	x.n = v
	x.n++
	x.n += 2
	x.on = v > 1
	x.on = x.on || v == 0
	x.s = append(x.s, v)
	x.s = append(x.s, v)
	x.m[v] = 1
	x.m[v] += 2
	x.mu.Unlock()
}

func (x *T) flip() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.n, x.on = -x.n, !x.on
	x.n--
	x.on = !x.on
	x.s = append(x.s, len(x.s))
	x.m[len(x.m)]++
	x.n -= len(x.m)
}

func (x *T) look() {
	x.mu.Lock()
	x.log = append(x.log, x.n, x.n, x.n, len(x.s), len(x.s), len(x.m), len(x.m), x.m[1])
	if x.on && !x.on || x.on {
		x.log = nil
	}
	x.mu.Unlock()
}
`)
	}
	g.together(methods)
	for i := range methods {
		g.locals = []string{"a"}
		fmt.Fprintf(&g.b, "\nfunc (x *T) f%d(a int) int {\n", i)
		if g.short {
			g.stmt(4)
		} else {
			g.block(1, 2+g.IntN(3))
		}
		fmt.Fprintf(&g.b, "\treturn %s\n}\n", g.value(1))
	}
	if g.calm {
		return strings.ReplaceAll(g.b.String(), "x.hook(", "x.twice(")
	}
	return g.b.String()
}

// together writes the function that runs all methods in four goroutines, of programs that wait. Their methods leave the
// slice and the map alone, which would crash the original.
func (g *generator) together(methods int) {
	g.b.WriteString("\nfunc Together() {\n")
	if g.waits {
		g.b.WriteString("\tx := newT()\n\tvar wg sync.WaitGroup\n\tfor range 4 {\n" +
			"\t\twg.Go(func() {\n\t\t\tfor i := range 20 {\n")
		for i := range methods {
			fmt.Fprintf(&g.b, "\t\t\t\tx.f%d(i)\n\t\t\t\truntime.Gosched()\n", i)
		}
		g.b.WriteString("\t\t\t}\n\t\t})\n\t}\n\twg.Wait()\n")
	}
	g.b.WriteString("}\n")
}

// waitStmt writes a statement that hands work to another goroutine and waits for it.
func (g *generator) waitStmt(depth int) {
	switch g.IntN(3) {
	case 0:
		g.line(depth, "x.note(x.pass(%s))", g.value(0))
	case 1: // room for one: the next sender waits until this value was received
		g.line(depth, "x.in <- %s\nx.note(<-x.in)", g.value(0))
	case 2:
		g.next++
		g.line(depth, "var w%d sync.WaitGroup\nw%d.Go(func() {\nx.n = %s\n})\nw%d.Wait()", g.next, g.next, g.value(0), g.next)
	}
}

func (g *generator) line(depth int, format string, args ...any) {
	g.b.WriteString(strings.Repeat("\t", depth))
	fmt.Fprintf(&g.b, format+"\n", args...)
}

func (g *generator) block(depth, n int) {
	locals := g.locals
	for range n {
		g.stmt(depth)
	}
	g.locals = locals
}

func (g *generator) stmt(depth int) {
	kinds := 19
	if depth > 3 {
		kinds = 10
	}
	kind := g.IntN(kinds)
	if g.waits && (kind == 6 || kind == 7 || kind == 8 || kind == 17) {
		g.waitStmt(depth)
		return
	}
	switch kind {
	case 0:
		g.line(depth, "x.n = %s", g.value(1))
	case 1:
		g.line(depth, "x.n += %s", g.value(0))
	case 2:
		g.line(depth, "x.n++ // counted")
	case 3:
		g.line(depth, "x.on = %s", g.cond(1))
	case 4:
		g.next++
		name := fmt.Sprintf("v%d", g.next)
		g.line(depth, "%s := %s", name, g.value(1))
		g.line(depth, "_ = %s", name)
		g.locals = append(g.locals[:len(g.locals):len(g.locals)], name)
	case 5:
		g.line(depth, "x.note(%s)", g.value(0))
	case 6:
		g.line(depth, "x.s = append(x.s, %s)", g.value(1))
	case 7:
		g.line(depth, "x.m[%s%%20] = %s", g.local(), g.value(0))
	case 8:
		g.line(depth, "x.log = append(x.log, x.hook(%s))", g.value(0))
	case 9:
		if g.loops > 0 && g.IntN(2) == 0 {
			g.line(depth, "if %s {\n%s}", g.cond(1), []string{"break\n", "continue\n"}[g.IntN(2)])
			return
		}
		g.line(depth, "if %s {\nreturn %s\n}", g.cond(1), g.value(1))
	case 10, 11, 12:
		g.ifStmt(depth)
	case 13, 14:
		g.loop(depth)
	case 15:
		g.switchStmt(depth)
	case 16:
		g.line(depth, "func() {")
		loops := g.loops
		g.loops = 0
		g.line(depth+1, "x.n = %s", g.value(0))
		g.loops = loops
		g.line(depth, "}()")
	case 17:
		g.next++ // a sum, since a map's order is random
		g.line(depth, "t%d := 0\nfor k, v := range x.m {\nif k == v {\nt%d += x.hook(k)\n}\n}\nx.note(t%d)", g.next, g.next,
			g.next)
	case 18:
		g.line(depth, "defer x.note(%s)", g.value(0))
	}
}

func (g *generator) ifStmt(depth int) {
	switch g.IntN(3) {
	case 0:
		g.next++
		g.line(depth, "if w%d := %s; w%d > %d || %s {", g.next, g.value(1), g.next, g.IntN(9), g.cond(0))
	default:
		g.line(depth, "if %s {", g.cond(2))
	}
	g.block(depth+1, 1+g.IntN(2))
	for g.IntN(3) == 0 {
		g.line(depth, "} else if %s {", g.cond(1))
		g.block(depth+1, 1+g.IntN(2))
	}
	if g.IntN(2) == 0 {
		g.line(depth, "} else {")
		g.block(depth+1, 1+g.IntN(2))
	}
	g.line(depth, "}")
}

func (g *generator) loop(depth int) {
	g.loops++
	g.next++
	i := fmt.Sprintf("i%d", g.next)
	kinds := 3
	if g.waits {
		kinds = 2
	}
	switch g.IntN(kinds) {
	case 0:
		g.line(depth, "for %s := 0; %s < 3 && %s; %s++ {", i, i, g.cond(0), i)
	case 1:
		g.line(depth, "for %s := range 3 {\n_ = %s", i, i)
	case 2:
		g.line(depth, "for %s, e := range x.s {\nif %s > 4 {\nbreak\n}\n_ = e", i, i)
	}
	g.block(depth+1, 1+g.IntN(2))
	g.line(depth, "}")
	g.loops--
}

func (g *generator) switchStmt(depth int) {
	loops := g.loops
	g.loops = 0 // a break would be the switch's
	if g.IntN(2) == 0 {
		g.line(depth, "switch %s %% 3 {", g.value(1))
		for i := range 2 {
			g.line(depth, "case %d:", i)
			g.block(depth+1, 1+g.IntN(2))
		}
	} else {
		g.line(depth, "switch {")
		for range 2 {
			g.line(depth, "case %s:", g.cond(1))
			g.block(depth+1, 1)
		}
		g.line(depth, "default:")
		g.block(depth+1, 1)
	}
	g.line(depth, "}")
	g.loops = loops
}

func (g *generator) local() string { return g.locals[g.IntN(len(g.locals))] }

// value writes an int expression. What it calls changes nothing, since Go
// leaves the order of reads and calls open.
func (g *generator) value(depth int) string {
	if depth > 0 && g.IntN(2) == 0 {
		return fmt.Sprintf("(%s %s %s) %% 1000", g.value(depth-1), []string{"+", "-", "*"}[g.IntN(3)], g.value(depth-1))
	}
	kind := g.IntN(7)
	if g.waits && (kind == 3 || kind == 4) {
		kind = 0
	}
	switch kind {
	case 0:
		return fmt.Sprint(g.IntN(10))
	case 1, 2:
		return "x.n"
	case 3:
		return "len(x.s)"
	case 4:
		return fmt.Sprintf("x.m[%s%%20]", g.local())
	case 5:
		return fmt.Sprintf("x.hook(%s)", g.local())
	}
	return g.local()
}

func (g *generator) cond(depth int) string {
	if depth > 0 && g.IntN(3) == 0 {
		return fmt.Sprintf("(%s %s %s)", g.cond(depth-1), []string{"&&", "||"}[g.IntN(2)], g.cond(depth-1))
	}
	switch g.IntN(4) {
	case 0:
		return "x.on"
	case 1:
		return "!x.on"
	}
	return fmt.Sprintf("%s %s %s", g.value(0), []string{"<", ">", "=="}[g.IntN(3)], g.value(0))
}
