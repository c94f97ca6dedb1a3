package torture

import (
	"embed"
	"fmt"
	"go/format"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// program is a generated test function in a file of its own.
type program struct {
	seed   uint64
	racy   bool
	name   string   // of its file, without ".go", and of its declarations
	shapes []string // of its blocks
	broken string   // of a racy one: shape and weakened place
	source string
	// racing are the lines of the accesses that race, or of none.
	racing map[int]bool
	alone  bool // changes the state of the whole process
	cgo    bool
}

// testName is the name of the program's test function.
func (p *program) testName() string { return "Test" + strings.ToUpper(p.name[:1]) + p.name[1:] }

// entryName is the name of the function that runs the program: the test itself
// where the file is a test file, as a third of them are.
func (p *program) entryName() string {
	if strings.HasSuffix(p.fileName(), "_test.go") {
		return p.testName()
	}
	return p.name
}

// fileName is the name of the program's file.
func (p *program) fileName() string {
	if p.seed%3 == 0 {
		return p.name + "_test.go"
	}
	return p.name + ".go"
}

// shape is a template of a block.
type shape struct {
	name       string
	body, decl string
	alone, cgo bool // see program
}

//go:embed shapes/*.txtar
var shapeFiles embed.FS

// shapes are those that are written out, beside the guarded blocks.
var shapes = readShapes()

func readShapes() (all []shape) {
	entries, err := shapeFiles.ReadDir("shapes")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		data, err := shapeFiles.ReadFile("shapes/" + e.Name())
		if err != nil {
			panic(err)
		}
		for _, f := range txtar.Parse(data).Files {
			name, flags, _ := strings.Cut(f.Name, " (")
			body, decl, _ := strings.Cut(string(f.Data), "===\n")
			all = append(all, shape{
				name: name, body: body, decl: decl,
				alone: strings.Contains(flags, "solo"), cgo: strings.Contains(flags, "cgo"),
			})
		}
	}
	return all
}

// generate writes the program of a seed: correct, or the racy twin of the
// correct one, which is the same without one synchronisation. chosen are the
// shapes to choose from, where not all are wanted; it may be that no twin can
// be made of those: the program then has nothing broken.
func generate(seed uint64, racy bool, chosen func(name string) bool) *program {
	p := writeProgram(seed, racy, -1, chosen)
	if !racy || len(p.places) == 0 {
		return &p.program
	}
	weaken := rand.New(rand.NewPCG(seed, 2)).IntN(len(p.places))
	twin := writeProgram(seed, racy, weaken, chosen)
	twin.program.broken = twin.places[weaken]
	return &twin.program
}

// written is a program with the places where it can be weakened.
type written struct {
	program
	places []string
}

func writeProgram(seed uint64, racy bool, weaken int, chosen func(string) bool) written {
	kind := "correct"
	if racy {
		kind = "racy"
	}
	w := &writer{rng: rand.New(rand.NewPCG(seed, 1)), broken: broken{weaken: weaken}}
	p := program{seed: seed, racy: racy, name: fmt.Sprintf("%s%06d", kind, seed)}
	// Guarded blocks count as one more shape.
	from := slices.DeleteFunc(slices.Clone(shapes), func(s shape) bool { return chosen != nil && !chosen(s.name) })
	guarded := chosen == nil || chosen("guarded")
	var text strings.Builder
	var calls []string
	racing := ""
	for i := range 2 + w.rng.IntN(5) {
		w.block = fmt.Sprintf("%s%d%c", kind[:1], seed, 'a'+i)
		before := len(w.places)
		var body, decl string
		if guarded && (len(from) == 0 || w.rng.IntN(5) < 2) {
			body, decl = w.guarded()
		} else {
			s := pickOne(w, from)
			p.alone, p.cgo = p.alone || s.alone, p.cgo || s.cgo
			body, decl = w.written(s)
		}
		// The block with the weakened place holds the accesses that race.
		if before <= weaken && weaken < len(w.places) {
			racing = "//~" + w.block
		}
		p.shapes = append(p.shapes, w.shape)
		fmt.Fprintf(&text, "// %s\nfunc block%s(t *testing.T) {\n%s}\n\n%s\n", w.shape, w.block, body, decl)
		calls = append(calls, "block"+w.block)
	}
	p.source = finish(&p, text.String()+w.testFunction(&p, calls))
	p.racing = linesWith(p.source, racing)
	return written{p, w.places}
}

// written writes a block of a shape that is written out.
func (w *writer) written(s shape) (body, decl string) {
	w.shape, w.parts, w.fixed = s.name, map[string]string{}, false
	all := s.body + s.decl
	if strings.Contains(all, "«cell") || strings.Contains(all, "«add»") {
		c := pickOne(w, cells)
		for c.fields["typ"] == "" && strings.Contains(all, "«type»") || c.hasFlag("deaf") && strings.Contains(all, "«!") {
			c = pickOne(w, cells)
		}
		w.parts = map[string]string{
			"type": w.expand(c.fields["typ"]), "cell": w.expand(c.codeLines("local")), "celldecl": w.expand(c.codeLines("decl")),
			"add": w.expand(c.codeLines("add")), "read": w.expand(c.fields["read"]),
		}
		w.shape += ": " + c.name
	}
	return w.expand(s.body), w.expand(s.decl)
}

// sideBySide calls two blocks.
const sideBySide = `t.Run("both", func(t *testing.T) {
	for _, f := range []func(*testing.T){%s, %s} {
		t.Run("one", func(t *testing.T) {
			t.Parallel()
			f(t)
		})
	}
})
`

// testFunction writes the test that calls the blocks: one after the other, or
// the first two side by side.
func (w *writer) testFunction(p *program, calls []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "func %s(t *testing.T) {\n", p.entryName())
	if !p.alone && w.rng.IntN(3) > 0 {
		b.WriteString("t.Parallel()\n")
	}
	if !p.alone && w.rng.IntN(4) == 0 {
		fmt.Fprintf(&b, sideBySide, calls[0], calls[1])
		calls = calls[2:]
	}
	for _, c := range calls {
		fmt.Fprintf(&b, "%s(t)\n", c)
	}
	return b.String() + "}\n"
}

// qualified finds identifiers that may name an imported package.
var qualified = regexp.MustCompile(`\b([a-z]+)\.[A-Z]`)

// packages are those that programs import.
var packages = map[string]string{}

func init() {
	for _, path := range []string{
		"bytes", "container/list", "context", "encoding/json", "errors", "fmt", "io", "iter", "log", "maps", "reflect",
		"runtime", "runtime/debug", "slices", "sort", "strconv", "strings", "sync", "sync/atomic", "testing",
		"testing/synctest",
		"time", "unique", "unsafe", "weak",
	} {
		packages[path[strings.LastIndexByte(path, '/')+1:]] = path
	}
}

// finish puts the header before the text, and formats it.
func finish(p *program, text string) string {
	imports := map[string]bool{}
	for _, m := range qualified.FindAllStringSubmatch(text, -1) {
		if path := packages[m[1]]; path != "" {
			imports[path] = true
		}
	}
	header := fmt.Sprintf("// Seed %d: %s.\n\npackage torture\n\nimport (\n", p.seed, strings.Join(p.shapes, ", "))
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		header += fmt.Sprintf("%q\n", path)
	}
	source, err := format.Source([]byte(header + ")\n\n" + text))
	if err != nil {
		panic(fmt.Sprintf("seed %d: %v\n%s", p.seed, err, text))
	}
	return string(source)
}

// linesWith numbers the lines that end in a mark.
func linesWith(source, mark string) map[int]bool {
	lines := map[int]bool{}
	n := 0
	for line := range strings.Lines(source) {
		n++
		if mark != "" && strings.HasSuffix(strings.TrimRight(line, "\n"), mark) {
			lines[n] = true
		}
	}
	return lines
}
