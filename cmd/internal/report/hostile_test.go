package report

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// hostile is what a name, a string or a comment in foreign source can hold.
const hostile = "<script>alert(1)</script>\x1b[31m\x1b]0;title\x07%0A::error::x\r\n\u202e]](1)\xff\"'&{{.}}"

// hostileReport has it in every text and every name of a file.
func hostileReport(t *testing.T) *Report {
	t.Helper()
	r := sample()
	r.Root = t.TempDir()
	file := strings.ReplaceAll(hostile, "/", "_") + ".go"
	if err := os.WriteFile(filepath.Join(r.Root, file), []byte(strings.Repeat("x", 1<<20)+hostile), 0o644); err != nil {
		t.Fatal(err)
	}
	c := cycle().Findings[0]
	c.Cycle[0].From, c.Cycle[1].To = hostile, hostile
	r.Findings = append(r.Findings, c)
	for _, f := range r.Findings {
		f.Title, f.Message, f.Notes = hostile, hostile+"\n"+hostile, []string{"note " + hostile}
		f.Variable = finding.Variable{Package: hostile, Type: hostile, Name: hostile}
		for i := range f.Accesses {
			a := &f.Accesses[i]
			a.File, a.Expr, a.Function, a.Role, a.Locks = file, hostile, hostile, hostile, []string{hostile}
			a.Source = strings.Repeat("long ", 100_000) + hostile
			if a.Goroutine != nil {
				a.Goroutine.Stack[0].Function, a.Goroutine.Stack[0].File = hostile, file
			}
		}
		if f.Evidence != nil {
			f.Evidence.Replay, f.Evidence.Test = hostile, hostile
		}
		if f.Fix != nil && f.Fix.Withheld != "" {
			f.Fix.Withheld = hostile
		}
	}
	r.Problems, r.Unreached = []string{hostile}, []Unreached{{hostile, []string{hostile}}}
	r.Title, r.Skipped, r.TimeOuts = hostile, []string{hostile}, []string{hostile}
	r.Failures = []Failure{{Package: hostile, Tests: []string{hostile}, Text: hostile, Output: hostile, Fails: true}}
	r.GaveUp, r.Unused, r.LeftOut = []string{hostile}, []string{hostile}, []string{hostile}
	gone := *c
	r.Earlier = &Comparison{Since: hostile, New: map[string]bool{c.ID: true}, Fixed: []*finding.Finding{&gone},
		Unseen: []*finding.Finding{&gone}}
	r.Suppressed = []Suppressed{{Finding: &gone, Why: hostile}}
	return r
}

// In no format does foreign text act: on a terminal, as a tag, as a command.
func TestHostileInput(t *testing.T) {
	r := hostileReport(t)
	for _, format := range Formats() {
		h, err := For(format)
		if err != nil {
			t.Fatal(err)
		}
		text := string(render(t, h, r))
		if !utf8.ValidString(text) {
			t.Errorf("%s: no UTF-8", format)
		}
		i := strings.IndexFunc(text, func(r rune) bool { return acts(r) && r != '\n' && r != '\t' })
		if isJSON := json.Unmarshal([]byte(text), new(any)) == nil || format == "jsonl"; i >= 0 && !isJSON {
			t.Errorf("%s: %q acts on a terminal", format, text[i:min(len(text), i+20)])
		}
		if len(text) > 40<<20 {
			t.Errorf("%s: %d bytes", format, len(text))
		}
		if err := wellFormed(format, text); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// wellFormed reads a report as its readers do.
func wellFormed(format, text string) error {
	switch format {
	case "json", "sarif", "rdjson", "gitlab":
		return json.Unmarshal([]byte(text), new(any))
	case "checkstyle", "junit":
		for dec := xml.NewDecoder(strings.NewReader(text)); ; {
			if _, err := dec.Token(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	case "html":
		if strings.Count(text, "<script") != 1 {
			return fmt.Errorf("a script of others")
		}
	case "dot", "mermaid": // each line is one of ours: no name ends its string, or begins a line of its own
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			quotes := strings.Count(strings.ReplaceAll(strings.ReplaceAll(line, `\\`, ""), `\"`, ""), `"`)
			if quotes%2 != 0 || quotes > 6 {
				return fmt.Errorf("a name that is not quoted: %s", line)
			}
		}
	case "github":
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "::error file=") && !strings.HasPrefix(line, "::warning file=") {
				return fmt.Errorf("a line that is no command: %.80s", line)
			}
			if strings.Contains(line, "%0A::") { // which is decoded into a command on a line of its own
				return fmt.Errorf("a name that begins a command: %.80s", line)
			}
		}
	case "text":
		for line := range strings.Lines(text) {
			if len(line) > 5000 {
				return fmt.Errorf("a line of %d bytes", len(line))
			}
		}
	}
	return nil
}

// On a terminal only the report's own escapes act.
func TestColors(t *testing.T) {
	text := string(render(t, Text{Color: true, Links: true}, hostileReport(t)))
	for _, own := range []string{"\x1b[1m", "\x1b[0m", "\x1b[31m", "\x1b[33m", "\x1b]8;;\x1b\\", "\x1b\\"} {
		text = strings.ReplaceAll(text, own, "")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		for {
			before, link, found := strings.Cut(line, "\x1b]8;;file:")
			if !found {
				break
			}
			line = before + link
		}
		if strings.ContainsFunc(line, acts) {
			t.Errorf("%q acts on a terminal", line)
		}
	}
	if plain := string(render(t, Text{}, sample())); strings.Contains(plain, "\x1b") {
		t.Error("escapes without a terminal")
	}
}

// Sentences are folded to the width of the terminal; code, patches and commands are not.
func TestWidth(t *testing.T) {
	r := sample()
	r.Findings[0].Evidence.Replay = "interlock test " + strings.Repeat("-flag ", 20)
	r.Findings[0].Message = strings.Repeat("世界 word ", 30)
	for line := range strings.Lines(string(render(t, Text{Width: 60}, r))) {
		line = strings.TrimSuffix(line, "\n")
		folded := !strings.Contains(line, ": IL") && !strings.Contains(line, "replay:") && !strings.Contains(line, "  | ")
		if n := columns(line); folded && n > 60 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if got, want := fold("a bc\nd xxxxxxxxx e", 4), "a bc\nd\nxxxxxxxxx\ne"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	narrow, wide := render(t, Text{}, sample()), render(t, Text{Width: 10_000}, sample())
	if string(narrow) != string(wide) {
		t.Error("a wide terminal changes the report")
	}
}

func TestCarets(t *testing.T) {
	r := &Report{Root: t.TempDir()}
	src := "\tif 世界, ok := s.m[\"k\"]; ok {\n"
	if err := os.WriteFile(filepath.Join(r.Root, "x.go"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	column := strings.Index(src, "s.m") + 1
	a := finding.Access{Position: finding.Position{File: "x.go", Line: 1, Column: column}, Expr: "s.m",
		Source: strings.TrimSpace(src)}
	text := &text{r: r, files: map[string][]string{}}
	text.snippet(&a)
	want := "        | if 世界, ok := s.m[\"k\"]; ok {\n        |                ^^^\n"
	if got := text.b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestGroups(t *testing.T) {
	find := func(name, function string, line int, status finding.Status) *finding.Finding {
		return &finding.Finding{Code: finding.Unguarded, Status: status,
			Variable: finding.Variable{Package: "p", Type: "T", Name: name},
			Accesses: []finding.Access{{Position: finding.Position{File: "x.go", Line: line}, Package: "p", Function: function}}}
	}
	a, b := find("a", "F", 1, finding.Suspected), find("b", "F", 2, finding.Confirmed)
	c := find("a", "G", 3, finding.Confirmed)
	got := (&Report{Findings: []*finding.Finding{a, b, c}}).Causes()
	if len(got) != 2 || len(got[0]) != 2 || got[0][0] != b || got[0][1] != a || got[1][0] != c {
		t.Errorf("groups %v", got)
	}

	// A load and a store, and a test and a use, of one variable in one function.
	a.Code, b.Code, b.Variable = finding.LoadAndStore, finding.TestAndUse, a.Variable
	got = (&Report{Findings: []*finding.Finding{a, b, c}}).Causes()
	if len(got) != 2 || len(got[0]) != 2 || got[1][0] != c {
		t.Errorf("groups of sections: %v", got)
	}

	// Goroutines of two starters wait at one place, a third at another for something else.
	c.Variable.Name = "c"
	for _, f := range []*finding.Finding{a, b, c} {
		f.Code = finding.BlockedForEver
	}
	b.Accesses[0].Line = a.Accesses[0].Line
	got = (&Report{Findings: []*finding.Finding{a, b, c}}).Causes()
	if len(got) != 2 || len(got[0]) != 2 || got[1][0] != c {
		t.Errorf("groups of goroutines that wait: %v", got)
	}
}

// The headline of findings with one cause names what they share, not the first of them.
func TestHeadline(t *testing.T) {
	find := func(function, variable string, other ...string) *finding.Finding {
		return &finding.Finding{Code: finding.Unguarded, Title: variable + " is read", Variable: finding.Variable{Type: "T",
			Name: variable}, Accesses: []finding.Access{{Function: function}, {Function: "(*T).Put", Locks: other}}}
	}
	for _, tt := range []struct {
		group []*finding.Finding
		want  string
	}{
		{[]*finding.Finding{find("F", "a", "t.mu")}, "a is read"},
		{[]*finding.Finding{find("F", "a", "t.mu"), find("F", "b", "t.mu"), find("F", "a")},
			"F accesses T.a and T.b without t.mu"},
		{[]*finding.Finding{find("F", "a", "t.mu", "x"), find("F", "b", "t.mu (read)", "x")},
			"F accesses T.a and T.b without x"},
		{[]*finding.Finding{find("F", "a"), find("G", "a", "t.mu")}, "F and G access T.a without t.mu"},
		{[]*finding.Finding{find("F", "a", "x"), find("F", "b", "y")},
			"F accesses T.a and T.b: access without the lock that guards it"},
		{[]*finding.Finding{find("F", "a"), find("F", "b"), find("F", "c"), find("F", "d")},
			"F accesses T.a, T.b and 2 more: access without the lock that guards it"},
		{[]*finding.Finding{find("F", "a"), find("G", "b")}, "a is read"},
	} {
		if got := Headline(tt.group); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// The page shows an access with the lock around it, up to the unlock, however far that is.
func TestLockRegions(t *testing.T) {
	r := sample()
	r.Root = t.TempDir()
	src := "package bank\n\nfunc (a *Account) Add(n int) {\n\ta.mu.Lock()\n\n\n\n\ta.balance += n\n" +
		strings.Repeat("\n", 20) + "\ta.mu.Unlock()\n}\n"
	if err := os.WriteFile(filepath.Join(r.Root, "bank.go"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	page := string(render(t, HTML{}, r))
	for _, want := range []string{"a.mu is locked at line 4 and unlocked at line 29",
		`<div class=" held"><i>4</i>	a.mu.Lock()`,
		`<div class="here held"><i>8</i>	<mark>a.balance</mark>`, `<div class=" held"><i></i>…</div>`,
		`<div class=" held"><i>29</i>	a.mu.Unlock()`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
}
