package patchgen

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestRandomPlaces patches random programs in which one place is wrong, as a finding names it: a return that leaves a
// lock held, a lock that is taken twice, a test that is not made again, a goroutine that does not sign off, a channel
// without room. The oracle is the same program with that place right: one goroutine computes the same in both, and
// four on one object end, with every entry made once and no goroutine left.
func TestRandomPlaces(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	root := t.TempDir()
	kinds := []string{"unlock", "relock", "recheck", "sign off", "buffer"}
	wrong := func(i int) string { return fmt.Sprintf("wrong%d", i) }
	for i := range programNumbers {
		program := newPlace(uint64(i)).program(kinds[i%len(kinds)])
		writeFile(t, filepath.Join(root, wrong(i), "a.go"), []byte(pick(program, "W:", wrong(i))))
		writeFile(t, filepath.Join(root, fmt.Sprintf("right%d", i), "a.go"),
			[]byte(pick(program, "R:", fmt.Sprintf("right%d", i))))
	}
	loaded := loadAll(t, root)
	built, variants, diffs := map[string]int{}, map[string][]string{}, map[string]string{}
	for i := range programNumbers {
		m := moduleOf(t, root, wrong(i), loaded)
		c := &fixCase{name: wrong(i), header: map[string][]string{"code": {placeCodes[kinds[i%len(kinds)]]}},
			archive: &txtar.Archive{Files: []txtar.File{{Name: "a.go", Data: m.Files[wrong(i)+"/a.go"].Source}}}}
		if kinds[i%len(kinds)] == "recheck" {
			c.header["type"] = []string{"T"}
		}
		fix, files, err := Fix(context.Background(), Input{Module: m, Group: c.findings(t, root), Drafts: true})
		if err != nil {
			t.Fatal(err)
		}
		if fix.Strategy == "" {
			t.Logf("%s %s: %s", wrong(i), kinds[i%len(kinds)], fix.Withheld)
			continue
		}
		built[kinds[i%len(kinds)]]++
		checkApplies(t, m, fix.Diff, files)
		checkAgain(t, m, files)
		dir := fmt.Sprintf("patched%d", i)
		writeFile(t, filepath.Join(root, dir, "a.go"), files[wrong(i)+"/a.go"])
		diffs[dir] = fix.Diff
		variants[fmt.Sprintf("right%d", i)] = []string{dir}
	}
	t.Log("patches built:", built)
	for _, kind := range kinds {
		if atLeast := *randomPrograms / len(kinds) / 2; built[kind] < atLeast {
			t.Errorf("only %d of %d places patched: %s", built[kind], *randomPrograms/len(kinds), kind)
		}
	}
	compareRuns(t, root, variants, diffs)
}

// placeCodes are the codes of the findings.
var placeCodes = map[string]string{"unlock": "IL3004", "relock": "IL3002", "recheck": "IL2002", "sign off": "IL4003",
	"buffer": "IL5001"}

// pick writes the program without the lines that another one has: those that begin with W: are of the wrong program,
// those with R: of the right one.
func pick(program, prefix, name string) string {
	var b strings.Builder
	for line := range strings.Lines(program) {
		text := strings.TrimLeft(line, "\t")
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			b.WriteString(line[:len(line)-len(text)] + rest)
		} else if !strings.HasPrefix(text, "W:") && !strings.HasPrefix(text, "R:") {
			b.WriteString(line)
		}
	}
	return "package " + name + "\n" + b.String()
}

// place writes programs with one place that is wrong.
type place struct {
	generator
	returns int // so far
	bad     int // the return that leaves the lock held
}

func newPlace(seed uint64) *place {
	return &place{generator: generator{Rand: rand.New(rand.NewPCG(seed, 2)), waits: true, locals: []string{"a"}}, bad: -1}
}

func (g *place) program(kind string) string {
	g.b.WriteString(`
import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

type T struct {
	mu   sync.RWMutex
	n    int
	on   bool
	m    map[int]int
	made int
}

func (x *T) twice(v int) int { return v*3%17 + 1 }

func Run() string {
	x := &T{m: map[int]int{}}
	var log []int
	for i := range 12 {
		log = append(log, x.f(i))
	}
	return fmt.Sprint(x.n, x.on, x.m, x.made, log)
}

func Together() {
	before := runtime.NumGoroutine()
	x := &T{m: map[int]int{}}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 20 {
				x.f(i)
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
	if x.made != len(x.m) {
		panic("an entry was made twice")
	}
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			panic("goroutines are left")
		}
	}
}

`)
	switch kind {
	case "unlock":
		g.unlock()
	case "relock":
		g.relock()
	case "recheck":
		g.recheck()
	case "sign off":
		g.signOff()
	case "buffer":
		g.buffer()
	}
	return strings.ReplaceAll(g.b.String(), "x.hook(", "x.twice(")
}

// unlock writes a method of which one return leaves the lock held.
func (g *place) unlock() {
	side, unlock := "lock", "x.mu.Unlock()"
	g.line(0, "func (x *T) f(a int) int {\n\tx.mu.Lock() // race: %s mu", side)
	start := g.b.String()
	g.b.Reset()
	for g.returns == 0 {
		g.b.Reset()
		g.returns = 0
		g.lockedBlock(1, 3, true)
	}
	body := g.b.String()
	g.b.Reset()
	g.bad = g.IntN(g.returns)
	for i := range g.returns {
		mark := fmt.Sprintf("RETURN%d ", i)
		at := strings.Index(body, mark)
		end := at + strings.IndexByte(body[at:], '\n')
		value := body[at+len(mark) : end]
		text := fmt.Sprintf("r := %s\n%s\nreturn r", value, unlock)
		if i == g.bad {
			text = fmt.Sprintf("R:r := %s\nR:%s\nR:return r\nW:return %s // race: return mu first", value, unlock, value)
		}
		indent := body[strings.LastIndexByte(body[:at], '\n')+1 : at]
		body = body[:at] + strings.ReplaceAll(text, "\n", "\n"+indent) + body[end:]
	}
	g.b.WriteString(start + body)
	g.line(1, "%s\n\treturn a\n}", unlock)
}

// lockedBlock writes statements under the lock; early returns are RETURNn value.
func (g *place) lockedBlock(depth, n int, leaves bool) {
	for range n {
		kinds := 6
		if depth > 3 {
			kinds = 3
		}
		switch g.IntN(kinds) {
		case 0:
			g.line(depth, "x.n = %s", g.value(1))
		case 1:
			g.line(depth, "x.on = %s", g.cond(1))
		case 2:
			g.line(depth, "x.n++")
		case 3:
			g.line(depth, "if %s {", g.cond(1))
			g.lockedBlock(depth+1, 1, leaves)
			if leaves {
				g.line(depth+1, "RETURN%d %s", g.returns, g.value(0))
				g.returns++
			}
			g.line(depth, "}")
		case 4:
			g.next++
			g.line(depth, "for i%d := range 3 {\n%s_ = i%d", g.next, strings.Repeat("\t", depth+1), g.next)
			g.lockedBlock(depth+1, 1+g.IntN(2), leaves)
			g.line(depth, "}")
		case 5:
			g.line(depth, "switch {\n%scase %s:", strings.Repeat("\t", depth), g.cond(1))
			g.lockedBlock(depth+1, 1, leaves)
			g.line(depth, "default:")
			g.lockedBlock(depth+1, 1, leaves)
			g.line(depth, "}")
		}
	}
}

// relock writes a method that calls another one under the lock that both take.
func (g *place) relock() {
	start := g.b.String()
	g.b.Reset()
	g.lockedBlock(1, 2, false)
	g.line(1, "return %s\n}\n", g.value(1))
	body := g.b.String()
	g.b.Reset()
	g.b.WriteString(start + "func (x *T) get(a int) int {\n\tx.mu.Lock()\n\tdefer x.mu.Unlock()\n" + body)
	for line := range strings.Lines("func (x *T) right(a int) int {\n" + body) {
		if strings.TrimSpace(line) != "" {
			g.b.WriteString("R:" + line)
		}
	}
	g.line(0, "func (x *T) f(a int) int {\n\tx.mu.Lock() // race: lock mu\n\tdefer x.mu.Unlock()")
	g.lockedBlock(1, g.IntN(3), false)
	g.line(1, "W:v := x.get(a) // race: lock get first\n\tR:v := x.right(a)")
	g.locals = []string{"a", "v"}
	g.lockedBlock(1, g.IntN(3), false)
	g.line(1, "return v + x.n\n}")
}

// recheck writes a method that makes an entry which another goroutine may have made since it looked.
func (g *place) recheck() {
	lock, unlock := "x.mu.RLock()", "x.mu.RUnlock()"
	if g.IntN(3) == 0 {
		lock, unlock = "x.mu.Lock()", "x.mu.Unlock()"
	}
	g.line(0, "func (x *T) f(a int) int {\n\tkey := a %% 5\n\t%s", lock)
	g.line(1, "v, ok := x.m[key] // section entry: x.m[key] // race: read m\n\t%s", unlock)
	made := []string{"key*3 + 1", "x.twice(key)", "len(x.m) - len(x.m) + key"}[g.IntN(3)]
	if g.IntN(2) == 0 {
		g.line(1, "if ok {\n\t\treturn v\n\t}")
		if g.IntN(2) == 0 {
			g.line(1, "w := a * 2 %% 7\n\t_ = w")
		}
		g.line(1, "x.mu.Lock()\n\tR:if v, ok := x.m[key]; ok {\n\t\tR:x.mu.Unlock()\n\t\tR:return v\n\tR:}")
		g.line(1, "x.m[key] = %s // section end: x.m // race: write m first", made)
		g.line(1, "x.made++\n\tv = x.m[key]\n\tx.mu.Unlock()\n\treturn v\n}")
		return
	}
	g.line(1, "if !ok {")
	if g.IntN(2) == 0 {
		g.line(2, "w := a * 2 %% 7\n\t\t_ = w")
	}
	g.line(2, "x.mu.Lock()\n\t\tR:if v, ok = x.m[key]; !ok {\n\t\tv = %s", made)
	g.line(2, "x.m[key] = v // section end: x.m // race: write m first")
	g.line(2, "x.made++\n\t\tR:}\n\t\tx.mu.Unlock()\n\t}\n\treturn v\n}")
}

// signOff writes goroutines that may leave before their Done.
func (g *place) signOff() {
	g.line(0, "func (x *T) f(a int) int {\n\tvar wg sync.WaitGroup")
	g.line(1, "for i := range %d {\n\t\twg.Add(1)\n\t\tgo func() {\n\t\t\tR:defer wg.Done()", 1+g.IntN(4))
	for range 1 + g.IntN(2) {
		g.line(3, "if (a+i)%%%d == %d {\n\t\t\t\treturn\n\t\t\t}", 2+g.IntN(3), g.IntN(2))
	}
	g.line(3, "x.mu.Lock()\n\t\t\tx.n += i\n\t\t\tx.mu.Unlock()\n\t\t\tW:wg.Done()")
	g.line(2, "}()\n\t}\n\twg.Wait() // race: wait wg")
	g.line(1, "x.mu.Lock()\n\tdefer x.mu.Unlock()\n\treturn x.n\n}")
}

// buffer writes goroutines of which all but one send what nobody receives.
func (g *place) buffer() {
	k := 2 + g.IntN(3)
	g.line(0, "func (x *T) f(a int) int {\n\tW:out := make(chan int)\n\tR:out := make(chan int, %d)", k)
	if g.IntN(2) == 0 {
		g.line(1, "for range %d {\n\t\tgo func() {\n\t\t\tout <- x.twice(a) // race: send out\n\t\t}()\n\t}", k)
	} else {
		g.line(1, "for i := 0; i < %d; i++ {\n\t\tgo func() { out <- x.twice(a) }() // race: send out\n\t}", k)
	}
	if g.IntN(2) == 0 {
		g.line(1, "v := <-out\n\treturn v + %d\n}", g.IntN(9))
		return
	}
	g.line(1, "select {\n\tcase v := <-out:\n\t\treturn v\n\tcase <-time.After(time.Minute):\n\t\treturn -1\n\t}\n}")
}
