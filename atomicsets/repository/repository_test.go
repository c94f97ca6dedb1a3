package repository

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

const sample = `# The sections of m.

# A pool hands out each connection once.
section invariant example.com/m (*Pool).Take
	entry read: p.idle
	end write #2 allows read: p.idle
	end read map in (*Pool).grow allows read unobserved: p.byName[name]
	end read dropped: p.idle
		why: violated in run 7, which the oracle calls correct
	pinned: taken and counted: as one

section user example.com/m/bank Move[...]
	entry read: from.balance
	end atomic-write allows none: to.balance
	why: the sum stays
# the end
`

func TestRoundTrip(t *testing.T) {
	f, err := Parse(Name, []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(f.Format()); got != sample {
		t.Errorf("formatted:\n%s\nwant\n%s", got, sample)
	}
	key := Key{plan.Invariant, "example.com/m", "(*Pool).Take", Access{Mode: plan.Read, Expr: "p.idle", Nth: 1}}
	s := f.Find(key)
	if s == nil || s.Pinned == "" || len(s.Ends) != 3 || s.Line != 4 {
		t.Fatalf("section %+v", s)
	}
	active := 0
	for _, e := range s.Ends {
		if e.Active() {
			active++
		}
	}
	if active != 1 {
		t.Errorf("%d active ends, want 1", active)
	}
	grown := Access{Mode: plan.Read, Of: OfMap, In: "(*Pool).grow", Expr: "p.byName[name]", Nth: 1}
	if e := s.End(grown); e == nil || !e.Unobserved {
		t.Errorf("end in a callee: %+v", e)
	}
}

func TestBadLines(t *testing.T) {
	const head = "section invariant m F\n\tentry read: x\n\tend read allows read: y\n"
	for _, c := range []struct{ text, want string }{
		{"\tentry read: x\n", ":1:2: \"entry read: x\" belongs to no section"},
		{"sections invariant m F\n", `:1:1: unknown word "sections"`},
		{"section guess m F\n", `:1:9: unknown kind "guess"`},
		{"section invariant m\n", ":1:1: want `section kind package function`"},
		{"section invariant m F\n", ":1:1: the section has no entry"},
		{"section invariant m F\n\tentry read: x\n", ":1:1: the section has no end"},
		{head + "\tentry read: z\n", ":4:2: a second entry"},
		{head + "\tend read allows write: y\n", ":4:2: the same end as at line 3"},
		{head + "\tend read: z\n", ":4:2: an end says what may come between"},
		{head + "\tend read allows: z\n", ":4:2: allows : want none"},
		{head + "\tend read allows write read: z\n", ":4:2: allows write read: want"},
		{head + "\tend read allows read write: z\n", ":4:2: an end that allows everything is dropped"},
		{head + "\tend read dropped: z\n", ":4:2: dropped without a reason"},
		{head + "\tend read dropped unobserved: z\n\t\twhy: x\n", ":4:2: an end is dropped or unobserved"},
		{head + "\tend rd allows read: z\n", `:4:6: unknown mode "rd"`},
		{head + "\tend read #0 allows read: z\n", ":4:11: #0: want a number from 1"},
		{head + "\tend read by F allows read: z\n", `:4:11: unknown words "by F"`},
		{head + "\tend read allows read soon: z\n", `:4:23: unknown word "soon"`},
		{head + "\tpinned\n", ":4:2: want `word …: text`"},
		{head + "\tpinned: a\n\tpinned: b\n", ":5:2: a second pinned"},
		{head + head, ":4:1: the same section as at line 1"},
		{"section user m F\n\tentry read: x\n\tend read allows read: y\n", ":1:1: a user section says why"},
		{"# \xff\n", ":1:1: not UTF-8"},
	} {
		_, err := Parse("f", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), "f"+c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := Parse("f", []byte(strings.Repeat("x\n", 50))); err == nil ||
		!strings.Contains(err.Error(), "f: 40 more bad lines") {
		t.Errorf("fifty bad lines: %v", err)
	}
}

func TestLoadAndSave(t *testing.T) {
	dir := t.TempDir()
	f, err := Load(dir)
	if err != nil || len(f.Sections) != 0 {
		t.Fatalf("without a file: %+v, %v", f, err)
	}
	f, err = Parse(Name, []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Save(dir); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, Name))
	if err != nil || string(data) != sample {
		t.Errorf("saved %q, %v", data, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, Name+".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind %v, %v", left, err)
	}
	if _, err := Load(filepath.Join(dir, Name)); err == nil {
		t.Error("a file taken for a folder: no error")
	}
}

// placed matches an error with its place.
var placed = regexp.MustCompile(`^` + regexp.QuoteMeta(Name) + `:[1-9][0-9]*:[1-9][0-9]*: `)

// What can be parsed is written as text that means the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("section user m F\n\tentry read: x\n# inside\n\tend write allows write: y\n\twhy: z\n"))
	f.Add([]byte("#\n\nsection invariant m F\n\n\tentry read #3 in G: x\n\tend read unobserved allows none: y\n\n#\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := Parse(Name, data)
		if err != nil {
			if !placed.MatchString(err.Error()) {
				t.Errorf("an error without line and column: %v", err)
			}
			return
		}
		text := first.Format()
		second, err := Parse(Name, text)
		if err != nil {
			t.Fatalf("%q, formatted %q: %v", data, text, err)
		}
		if again := second.Format(); !bytes.Equal(again, text) {
			t.Fatalf("%q formatted twice: %q, then %q", data, text, again)
		}
		if len(second.Sections) != len(first.Sections) {
			t.Fatalf("%q: %d sections, then %d", data, len(first.Sections), len(second.Sections))
		}
		for _, s := range first.Sections {
			if got := second.Find(s.Key); got == nil || len(got.Ends) != len(s.Ends) || got.Why != s.Why ||
				got.Pinned != s.Pinned {
				t.Fatalf("%q: %+v became %+v", data, s, got)
			}
		}
	})
}
