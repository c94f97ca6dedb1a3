package detect

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/testbin"
)

// class is one racy program with its clean twin, and the hits of the runs.
type class struct {
	name        string // of TestRaceName and TestNoRaceName
	title       string // as its comment has it
	about       string
	watch, race int // runs with a hit
	alarms      int // races confirmed in the clean twin
}

// findClasses finds the functions of the module in dir that have match in their
// names. The comment of a racy one reads "Title: description."
func findClasses(dir, match string) (classes []class, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	clean := map[string]bool{}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if rest, ok := strings.CutPrefix(fn.Name.Name, "TestNoRace"); ok {
				clean[rest] = true
			} else if rest, ok := strings.CutPrefix(fn.Name.Name, "TestRace"); ok && strings.Contains(rest, match) {
				title, about, _ := strings.Cut(strings.TrimSpace(fn.Doc.Text()), ": ")
				classes = append(classes, class{name: rest, title: title, about: about})
			}
		}
	}
	// A racy program without a clean twin shows no false alarms.
	for _, c := range classes {
		if !clean[c.name] || c.about == "" {
			return nil, fmt.Errorf(
				"TestRace%s in %s needs a clean twin, TestNoRace%s, and a comment of the form \"Title: what happens.\"", c.name,
				dir, c.name)
		}
	}
	if len(classes) == 0 {
		return nil, fmt.Errorf("no function TestRace…%s… in %s", match, dir)
	}
	return classes, nil
}

// classTable returns the document.
func classTable(classes []class, race *testbin.Race, o options) string {
	var b strings.Builder
	b.WriteString(
		page.Head(
			"What is caught",
			"detect",
			". The programs are those of `testdata/detect`: a data race of each class, and a\n"+
				"clean twin. A hit is a run that reports a race. The runs under the watch engine are those that `interlock "+
				"test` makes by default, most of\n"+
				"them with gentle noise, but with every site monitored and no static finding to help.",
		),
	)
	fmt.Fprintf(&b,
		"- **watch**: hits of %d runs under the watch engine; 0 where the rewriter does not announce the accesses yet\n",
		o.runs)
	fmt.Fprintf(&b, "- **-race**: hits of %d runs under the race detector of the Go distribution", o.runs)
	if race.Missing != "" {
		fmt.Fprintf(&b, "; not measured: %s", race.Missing)
	}
	fmt.Fprintf(&b, "\n- **false**: races confirmed in %d runs of the clean twin under the watch engine\n\n", o.clean)
	b.WriteString("| class | | watch | -race | false |\n|---|---|---|---|---|\n")
	for _, c := range classes {
		hits := fmt.Sprint(c.race)
		if race.Missing != "" {
			hits = "-"
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %d |\n", c.title, c.about, c.watch, hits, c.alarms)
	}
	return b.String()
}
