package accept

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/directives"
)

// at returns a finding with accesses at the lines of x.go.
func at(status finding.Status, code finding.Code, lines ...int) *finding.Finding {
	f := &finding.Finding{Status: status, Code: code, Title: "t", Variable: finding.Variable{Package: "p", Name: "x"}}
	for _, line := range lines {
		f.Accesses = append(f.Accesses, finding.Access{Position: finding.Position{File: "x.go", Line: line}})
	}
	if status != finding.Suspected {
		f.Evidence = new(finding.Evidence)
	}
	finding.Seal([]*finding.Finding{f})
	return f
}

func TestIgnores(t *testing.T) {
	ignore := func(line int, codes ...finding.Code) directives.Ignore {
		return directives.Ignore{File: "x.go", Line: line, Codes: codes}
	}
	for _, tt := range []struct {
		name   string
		ignore directives.Ignore
		f      *finding.Finding
		want   bool
	}{
		{"the line above", ignore(9, finding.Unguarded), at(finding.Confirmed, finding.Unguarded, 10, 20), true},
		{"the other side", ignore(20, finding.Unguarded), at(finding.Confirmed, finding.Unguarded, 10, 20), true},
		{"another place", ignore(12, finding.Unguarded), at(finding.Confirmed, finding.Unguarded, 10, 20), false},
		{"another code", ignore(9, finding.LoadAndStore), at(finding.Confirmed, finding.Unguarded, 10, 20), false},
		{"all codes", ignore(9), at(finding.Predicted, finding.LoadAndStore, 10, 20), true},
		{"a race without a class", ignore(9, finding.Unguarded), at(finding.Confirmed, finding.CaughtInTheAct, 10), true},
		{"a race with a class", ignore(9, finding.CaughtInTheAct), at(finding.Confirmed, finding.Unguarded, 10), true},
		{"no race", ignore(9, finding.CaughtInTheAct), at(finding.Confirmed, finding.LoadAndStore, 10), false},
	} {
		f := Filter{Ignores: []directives.Ignore{tt.ignore}}
		if s := f.Sort([]*finding.Finding{tt.f}); (s.InSource == 1) != tt.want {
			t.Errorf("%s: %+v", tt.name, s)
		}
	}
}

// Two races of one variable that one comment accepts are one bug, as they are without the comment.
func TestIgnoresCountBugs(t *testing.T) {
	f := Filter{Ignores: []directives.Ignore{{File: "x.go", Line: 10}, {File: "x.go", Line: 30}}}
	one, again := at(finding.Confirmed, finding.Unguarded, 10, 20), at(finding.Confirmed, finding.CaughtInTheAct, 10, 10)
	other, elsewhere := at(finding.Confirmed, finding.Unguarded, 10, 20), at(finding.Confirmed, finding.Unguarded, 30, 40)
	other.Variable.Name = "another"
	s := f.Sort([]*finding.Finding{one, again})
	if s.InSource != 1 || len(s.Accepted) != 2 {
		t.Errorf("one variable: %+v", s)
	}
	if s := f.Sort([]*finding.Finding{one, other, elsewhere}); s.InSource != 3 {
		t.Errorf("two variables and two comments: %+v", s)
	}
}

// What was accepted as a suspicion is reported once it is proven.
func TestBaselineByStatus(t *testing.T) {
	suspected, confirmed := at(finding.Suspected, finding.Unguarded, 1), at(finding.Confirmed, finding.Unguarded, 1)
	for _, tt := range []struct {
		accepted, now *finding.Finding
		want          int
	}{{suspected, suspected, 1}, {suspected, confirmed, 0}, {confirmed, suspected, 1}, {confirmed, confirmed, 1}} {
		b, err := parseBaseline(baselineOf(tt.accepted).Format())
		if err != nil {
			t.Fatal(err)
		}
		if s := (&Filter{Baseline: b}).Sort([]*finding.Finding{tt.now}); s.InBaseline != tt.want {
			t.Errorf("accepted %s, now %s: %+v", tt.accepted.Status, tt.now.Status, s)
		}
	}
}

func TestBaselineFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "line 1, column 1",
		"{\n  \"version\": 1,\n  x":    "line 3, column 3",
		"{\n\"version\": \"1\"}":       "line 2, column",
		`{"version": 2}`:               "version 2",
		`{"version": 1, "finding": 1}`: "unknown field",
		`{"version":1,"findings":[{"id":"a","status":"proven"}]}`: `unknown status "proven"`,
		`{"version":1,"findings":[{"status":"suspected"}]}`:       "entry 1 has no id",
		`{"version":1,"findings":[{"id":"a","status":"suspected"},
			{"id":"a","status":"suspected"}]}`: "twice",
	} {
		if _, err := parseBaseline([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestChanges(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"},
			args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q")
	write("x.go", "1\n2\n3\n4\n5\n6\n")
	write("old.go", "a\nb\nc\nd\ne\nf\n")
	write("same.go", "A\nB\nC\nD\n")
	run("add", ".")
	run("commit", "-qm", "first")
	// A file that was moved has only changed where it differs from what it was.
	run("mv", "old.go", "moved ü.go")
	run("mv", "same.go", "alike.go")
	write("moved ü.go", "a\nb\nc\nnew\ne\nf\n")
	write("x.go", "1\n2\nnew\n3\n4\n6\n") // line 3 is new, and one behind line 5 is gone
	write("é <b>.go", "1\n")
	c, err := ChangesSince(t.Context(), dir, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[int]bool{2: false, 3: true, 4: false, 5: true, 6: true, 7: false} {
		if f := at(finding.Suspected, finding.Unguarded, line); c.touches(f) != want {
			t.Errorf("line %d: touched %v", line, !want)
		}
	}
	for _, p := range []struct {
		file string
		line int
		want bool
	}{{"moved ü.go", 3, false}, {"moved ü.go", 4, true}, {"alike.go", 1, false}} {
		f := at(finding.Suspected, finding.Unguarded, p.line)
		f.Accesses[0].File = p.file
		if c.touches(f) != p.want {
			t.Errorf("%s:%d: touched %v", p.file, p.line, !p.want)
		}
	}
	fresh := at(finding.Suspected, finding.Unguarded, 1)
	fresh.Accesses[0].File = "é <b>.go"
	if !c.touches(fresh) {
		t.Error("a file that git does not know is not new")
	}
	for _, rev := range []string{"nowhere", "--output=x"} {
		if _, err := ChangesSince(t.Context(), dir, rev); err == nil {
			t.Errorf("revision %s is there", rev)
		}
	}
}

// baselineOf returns a baseline that covers the findings.
func baselineOf(findings ...*finding.Finding) *Baseline {
	b := NewBaseline()
	b.Accept(findings, nil, func(Entry) bool { return false })
	return b
}

// What a command cannot judge stays in a baseline, and stays as proven as it was.
func TestAccept(t *testing.T) {
	named := func(name string, status finding.Status, functions ...string) *finding.Finding {
		f := at(status, finding.Unguarded, 1, 2, 3)
		for i, fn := range functions {
			f.Accesses[i].Function = fn
		}
		f.Variable.Name = name
		finding.Seal([]*finding.Finding{f})
		return f
	}
	suspected, mended := named("a", finding.Suspected, "F", "G", "H"), named("b", finding.Suspected)
	seen, elsewhere := named("c", finding.Confirmed), named("d", finding.Suspected)
	elsewhere.Accesses[0].File = "other/y.go"
	ofRuns := named("e", finding.Suspected)
	isGone := func(e Entry) bool { return e.ByReading() && e.File == "x.go" }

	b := NewBaseline()
	b.Accept([]*finding.Finding{suspected, mended, elsewhere}, []*finding.Finding{suspected, mended, elsewhere}, isGone)
	b.Accept([]*finding.Finding{seen, ofRuns}, []*finding.Finding{suspected}, func(Entry) bool { return false })
	if len(b.Entries) != 5 {
		t.Fatalf("after a report: %+v", b.Entries)
	}
	// Check finds one of them, and has not read the other folder.
	u := b.Accept([]*finding.Finding{suspected}, []*finding.Finding{suspected}, isGone)
	if len(u.Added) != 0 || len(u.Removed) != 1 || u.Removed[0].ID != mended.ID || len(u.Kept) != 3 ||
		len(b.Entries) != 4 {
		t.Errorf("after check: %+v, %+v", u, b.Entries)
	}
	// A run confirms what check suspects: both forms are covered then, also after one more check.
	proven := named("a", finding.Confirmed, "F", "G", "H")
	proven.ID = suspected.ID
	u = b.Accept([]*finding.Finding{proven}, []*finding.Finding{suspected}, isGone)
	if len(u.Added) != 0 || len(u.Raised) != 1 || u.Raised[0].ID != suspected.ID {
		t.Errorf("after the proof: %+v", u)
	}
	u = b.Accept([]*finding.Finding{suspected}, []*finding.Finding{suspected}, isGone)
	if len(u.Raised) != 0 {
		t.Errorf("after one more check: %+v", u)
	}
	if e := b.entry(suspected.ID); e.Status != finding.Confirmed || !b.covers(proven) || !b.covers(suspected) {
		t.Errorf("a suspicion that was proven: %+v", e)
	}
	if !slices.IsSortedFunc(b.Entries, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) }) {
		t.Errorf("out of order: %+v", b.Entries)
	}
}

// A fault of a baseline has its place, also where it is one of meaning.
func TestBaselinePlaces(t *testing.T) {
	const head = "{\"version\": 1,\n"
	for _, tt := range []struct{ text, want string }{
		{"{\n  \"version\": 2\n}", "line 2, column 3: it has version 2"},
		{head + `"findings": [{"id": "a", "status": "confirmed", "also": ["f"]},` + "\n  {}]}",
			"line 3, column 3: entry 2 has no id"},
		{head + `"findings": [{"id": "a", "status": "sure"}]}`, `line 2, column 14: entry 1: unknown status "sure"`},
		{head + "  x", "line 2, column 3: invalid character"},
		{head + `"findings": 3}`, "line 2, column 13: json: cannot unmarshal"},
		{head + `"findnigs": null}`, "line 2, column 17: json: unknown field"},
	} {
		if _, err := parseBaseline([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
		}
	}
}

func FuzzBaseline(f *testing.F) {
	f.Add(baselineOf(at(finding.Suspected, finding.Unguarded, 1)).Format())
	f.Add([]byte("{\"version\":1,\n\"findings\":[{}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := parseBaseline(data)
		if err != nil {
			if !regexp.MustCompile(`^line [1-9][0-9]*, column [1-9][0-9]*: `).MatchString(err.Error()) {
				t.Errorf("an error without a place: %v", err)
			}
			return
		}
		if _, err := parseBaseline(b.Format()); err != nil {
			t.Errorf("what was written cannot be read: %v", err)
		}
	})
}

func FuzzDiff(f *testing.F) {
	f.Add([]byte("--- x.go\n+++ x.go\n@@ -1,0 +2,3 @@\n+a\n+b\n+c\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := readDiff(data)
		if err == nil {
			c.touches(at(finding.Suspected, finding.Unguarded, 2))
		} else if !regexp.MustCompile(`line [1-9]\d*: `).MatchString(err.Error()) {
			t.Errorf("an error without a place: %v", err)
		}
	})
}

// A bug that has several names is accepted by each of them, and keeps one entry.
func TestAcceptedByEachName(t *testing.T) {
	named := func(name string, status finding.Status) *finding.Finding {
		f := at(status, finding.Unguarded, 1, 2)
		f.Variable.Name = name
		finding.Seal([]*finding.Finding{f})
		return f
	}
	first, second, other := named("a", finding.Confirmed), named("b", finding.Confirmed), named("c", finding.Confirmed)
	both := *first
	both.SameAs = []string{second.ID}
	b := baselineOf(&both)
	if !b.covers(first) || !b.covers(second) || b.covers(other) {
		t.Errorf("by the entry: %+v", b.Entries)
	}
	b = baselineOf(second)
	if !b.covers(&both) || b.covers(first) {
		t.Errorf("by the finding: %+v", b.Entries)
	}
	u := b.Accept([]*finding.Finding{&both}, nil, func(Entry) bool { return true })
	if len(b.Entries) != 1 || len(u.Added) != 0 || len(u.Removed) != 0 || !b.covers(first) || !b.covers(second) {
		t.Errorf("after both: %+v, %+v", u, b.Entries)
	}
}
