package record

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
)

func opened(t *testing.T, name string) *Record {
	t.Helper()
	r, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func begun(t *testing.T, r *Record, d Description) (*Campaign, []*Campaign) {
	t.Helper()
	now, earlier, err := r.Begin(d)
	if err != nil {
		t.Fatal(err)
	}
	return now, earlier
}

var example = &Process{
	Name: "run-0002-001", Run: 2, Package: "example.com/m", Engine: "watch", Seed: 1<<64 - 1, Schedule: "strength=100",
	Outcome: "panicked", Exit: 2, State: "exit status 2", Killed: true, Elapsed: time.Second, CPU: time.Millisecond,
	Output: []byte("FAIL\xff\n"), Crash: []byte("panic: no\n"),
	Files: map[string][]byte{
		"evidence": []byte("{\"kind\":\"gaps\",\"gaps\":[{\"first\":1,\"then\":2,\"least_ns\":3,\"most_ns\":4}]}\n{cut\n"),
		"leaks":    {},
	},
}

func keep(t *testing.T, c *Campaign, p *Process) {
	t.Helper()
	if err := c.Keep(p); err != nil {
		t.Fatal(err)
	}
}

func TestProcessComesBack(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a strange?name#%41.db")
	r := opened(t, name)
	d := Description{Module: "example.com/m", Build: "b", Settings: "s", Seed: 1<<64 - 1, Runs: 4}
	c, _ := begun(t, r, d)
	keep(t, c, example)
	if err := c.Keep(example); err == nil {
		t.Error("a process was kept twice")
	}
	if err := c.Found(2, []*finding.Finding{{ID: "il-1", Status: finding.Confirmed, Title: "one"}}); err != nil {
		t.Fatal(err)
	}
	// Another process of the same machine finds all of it.
	r.Close()
	if _, err := os.Stat(name); err != nil {
		t.Fatal(err)
	}
	c, earlier := begun(t, opened(t, name), d)
	if len(earlier) != 0 {
		t.Errorf("%d earlier campaigns, want none: this one has runs left", len(earlier))
	}
	got, err := c.Process(example.Name)
	if err != nil || !reflect.DeepEqual(got, example) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, example)
	}
	if p, err := c.Process("run-0003-001"); p != nil || err != nil {
		t.Errorf("a process that was not kept: %v, %v", p, err)
	}
	var gaps int
	row := c.record.db.QueryRow("SELECT least_ns + most_ns FROM gaps WHERE run = 2")
	if err := row.Scan(&gaps); err != nil || gaps != 7 {
		t.Errorf("the view of gaps: %d, %v", gaps, err)
	}
	s, err := c.Summary()
	if err != nil || s.Processes != 1 || s.Runs != 1 || len(s.Findings) != 1 || s.Findings[0].Run != 2 {
		t.Errorf("summary %+v, %v", s, err)
	}
}

// A campaign of another build, of other settings or with another seed is not gone on with; those of the same build and
// settings are earlier ones.
func TestBegin(t *testing.T) {
	r := opened(t, filepath.Join(t.TempDir(), "r.db"))
	d := Description{Module: "m", Build: "b", Settings: "s", Seed: 1, Runs: 4}
	first, _ := begun(t, r, d)
	for _, other := range []Description{
		{Module: "m", Build: "c", Settings: "s", Seed: 1, Runs: 4},
		{Module: "m", Build: "b", Settings: "t", Seed: 1, Runs: 4},
	} {
		if c, earlier := begun(t, r, other); c.ID == first.ID || len(earlier) > 0 {
			t.Errorf("%+v goes on with another campaign, or knows %d", other, len(earlier))
		}
	}
	if c, _ := begun(t, r, d); c.ID != first.ID {
		t.Error("a campaign with runs left is not gone on with")
	}
	if err := first.Finish(4); err != nil {
		t.Fatal(err)
	}
	c, earlier := begun(t, r, d)
	if c.ID == first.ID || len(c.Earlier) != 1 || len(earlier) != 1 || earlier[0].ID != first.ID || !earlier[0].Past {
		t.Errorf("a finished campaign is no earlier one: %+v", earlier)
	}
}

// Of lines that nobody could read again nothing is taken up, nor of the record itself.
func TestMergeRefused(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "r.db")
	r := opened(t, name)
	c, _ := begun(t, r, Description{Module: "m", Build: "b", Settings: "s", Seed: 7, Runs: 4})
	keep(t, c, example)
	var out bytes.Buffer
	if err := r.Export(&out); err != nil {
		t.Fatal(err)
	}
	lines := out.String()
	_, evidence, _ := strings.Cut(lines, `"table":"processes"}`+"\n")
	into := opened(t, filepath.Join(dir, "into.db"))
	for text, want := range map[string]string{
		strings.ReplaceAll(lines, `"seed":"7"`, `"seed":"seven"`): "no line of a record",
		strings.ReplaceAll(lines, `"runs":4`, `"runs":"four"`):    "no line of a record",
		strings.ReplaceAll(lines, `"files":"[`, `"files":"{`):     "no line of a record",
		lines[:len(lines)-20]:       "no line of a record",
		evidence:                    "rows refer to what is not there",
		lines + `{"table":"views"}`: "no line of a record",
	} {
		from := filepath.Join(dir, "lines.jsonl")
		if err := os.WriteFile(from, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if n, err := into.Merge(from); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nwas taken up: %+v, %v, want %q", text, n, err, want)
		}
		if all, err := into.Campaigns(); err != nil || len(all) > 0 {
			t.Errorf("%d campaigns are there, %v", len(all), err)
		}
	}
	link := filepath.Join(dir, "link.db")
	if err := os.Link(name, link); err != nil {
		t.Skip(err)
	}
	if _, err := r.Merge(link); err == nil || !strings.Contains(err.Error(), "itself") {
		t.Errorf("the record was merged with itself: %v", err)
	}
}

// A record without one of its tables, and a folder, are refused, and stay as they are.
func TestNoWholeRecord(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	r := opened(t, at("good.db"))
	c, _ := begun(t, r, Description{Module: "m", Build: "b", Settings: "s", Seed: 1, Runs: 4})
	keep(t, c, example)
	if _, err := r.db.Exec("DROP VIEW gaps; DROP VIEW relations; DROP TABLE evidence"); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if err := os.Mkdir(at("folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"good.db": "the file is damaged", "folder": "name another file"} {
		before, _ := os.ReadFile(at(name))
		r, err := OpenExisting(at(name))
		if err == nil {
			r.Close()
			t.Errorf("%s was opened", name)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if after, _ := os.ReadFile(at(name)); !bytes.Equal(before, after) {
			t.Errorf("%s has changed", name)
		}
	}
}

func TestMerge(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	a, b := opened(t, at("a.db")), opened(t, at("b.db"))
	d := Description{Module: "m", Build: "b", Settings: "s", Seed: 1, Runs: 4}
	c, _ := begun(t, a, d)
	keep(t, c, example)
	text := func(r *Record) string {
		var out bytes.Buffer
		if err := r.Export(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if err := os.WriteFile(at("a.jsonl"), []byte(text(a)), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if n, err := b.Merge(at("a.jsonl")); err != nil || n.Processes != 1-i {
			t.Errorf("merge %d: %+v, %v", i+1, n, err)
		}
	}
	if text(a) != text(b) {
		t.Errorf("what was merged differs:\n%s\n%s", text(a), text(b))
	}
	// What cannot be taken up leaves nothing behind.
	before := text(b)
	second := *example
	second.Name = "run-0003-001"
	keep(t, c, &second)
	for name, content := range map[string]string{
		"cut.jsonl":      text(a)[:len(text(a))-20],
		"foreign.jsonl":  text(a) + "{\"table\":\"users\"}\n",
		"diverged.jsonl": strings.ReplaceAll(text(a), "\"ended\":1", "\"ended\":2"),
	} {
		if err := os.WriteFile(at(name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Merge(at(name)); err == nil || !strings.Contains(err.Error(), "nothing was taken up") {
			t.Errorf("%s: %v", name, err)
		}
		if text(b) != before {
			t.Errorf("%s has left something", name)
		}
	}
}

func TestRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.db")
	r := opened(t, name)
	if _, err := Open(name); err == nil || !strings.Contains(err.Error(), "another campaign is writing to it") {
		t.Errorf("opened twice: %v", err)
	}
	c, _ := begun(t, r, Description{Module: "m", Build: "b", Settings: "s", Seed: 1, Runs: 4})
	big := *example
	big.Output = bytes.Repeat([]byte("interlock "), 10_000)
	keep(t, c, &big)
	r.Close()
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Clone(whole)
	newer[63] = version + 1
	other := bytes.Clone(whole)
	other[68] = 0
	torn := bytes.Clone(whole)
	copy(torn[len(torn)/2:], make([]byte, 4096))
	clear(torn[4096:8192])
	for _, tt := range []struct {
		what, want string
		content    []byte
	}{
		{"text", "this is no record of campaigns", []byte("package main\n")},
		{"newer", "this is a record of version 2", newer},
		{"other", "this is a database of something else", other},
		{"torn", "the file is damaged", torn},
		{"cut", "the file is damaged", whole[:8192]},
	} {
		if err := os.WriteFile(name, tt.content, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Open(name)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v, want %q", tt.what, err, tt.want)
		}
		if r != nil {
			r.Close()
		}
		if after, _ := os.ReadFile(name); !bytes.Equal(after, tt.content) {
			t.Errorf("%s: the file was changed", tt.what)
		}
	}
}
