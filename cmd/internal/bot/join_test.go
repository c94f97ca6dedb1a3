package bot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// patchOn returns a confirmed finding with a verified patch, whose hunks are those of a.go.
func patchOn(name, hunks string) *finding.Finding {
	f := loaded("text")
	f.Variable = finding.Variable{Package: "p", Type: name, Name: name}
	f.Fix = &finding.Fix{Verdict: finding.Verified, Diff: "--- a/a.go\n+++ b/a.go\n" + hunks}
	f.ID = f.ComputeID()
	return f
}

// TestJoin joins patches of one file: each whole, or nothing of it.
func TestJoin(t *testing.T) {
	const old = "1\n2\n3\n4\n5\n6\n"
	first := patchOn("first", "@@ -2,1 +2,2 @@\n 2\n+a\n")
	last := patchOn("last", "@@ -5,2 +5,1 @@\n 5\n-6\n")
	for _, c := range []struct {
		name   string
		others []*finding.Finding
		want   string
		left   string // reason
	}{
		{"apart", []*finding.Finding{last}, "1\n2\na\n3\n4\n5\n", ""},
		{"alike", []*finding.Finding{patchOn("alike", "@@ -2,2 +2,3 @@\n 2\n+a\n 3\n")}, "1\n2\na\n3\n4\n5\n6\n", ""},
		{"same place", []*finding.Finding{patchOn("x", "@@ -2,1 +2,2 @@\n 2\n+b\n")}, "1\n2\na\n3\n4\n5\n6\n",
			"lines that another patch changes"},
		{"beside", []*finding.Finding{patchOn("x", "@@ -3,1 +3,1 @@\n-3\n+b\n")}, "1\n2\na\n3\n4\n5\n6\n",
			"lines that another patch changes"},
		{"half overlaps", []*finding.Finding{patchOn("x", "@@ -2,1 +2,0 @@\n-2\n@@ -6,1 +5,1 @@\n-6\n+b\n")},
			"1\n2\na\n3\n4\n5\n6\n", "lines that another patch changes"},
		{"half does not apply", []*finding.Finding{patchOn("x", "@@ -6,1 +6,1 @@\n-6\n+b\n@@ -4,1 +4,0 @@\n-4\n")},
			"1\n2\na\n3\n4\n5\n6\n", "does not apply"},
		{"behind the end", []*finding.Finding{patchOn("x", "@@ -9,0 +9,1 @@\n+b\n")}, "1\n2\na\n3\n4\n5\n6\n",
			"does not apply"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, err := Join(new(File), append([]*finding.Finding{first}, c.others...),
				func(string) (string, error) { return old, nil })
			if err != nil || j.Texts["a.go"] != c.want {
				t.Errorf("%q, %v, want %q", j.Texts, err, c.want)
			}
			var reasons []string
			for _, l := range j.Left {
				reasons = append(reasons, l.Reason)
			}
			if (c.left == "") != (len(reasons) == 0) || !strings.Contains(strings.Join(reasons, " "), c.left) {
				t.Errorf("left for %q, want %q", reasons, c.left)
			}
		})
	}
	// One that includes another comes first, and stands for both.
	both := patchOn("both", "@@ -2,1 +2,2 @@\n 2\n+a, b\n")
	both.Fix.Includes = []string{first.ID}
	j, err := Join(new(File), []*finding.Finding{first, both}, func(string) (string, error) { return old, nil })
	if err != nil || len(j.Patched) != 2 || len(j.Left) > 0 || j.Texts["a.go"] != "1\n2\na, b\n3\n4\n5\n6\n" {
		t.Errorf("%+v, %v", j, err)
	}
	if _, err := Join(new(File), []*finding.Finding{first}, func(string) (string, error) {
		return "", ErrTransient
	}); err == nil {
		t.Error("no error, though the text is not known")
	}
}

// FuzzEdits compares a patch that is applied by its edits with the replacement of a suggestion.
func FuzzEdits(f *testing.F) {
	f.Add("a\nb\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+x\n")
	f.Add("a\nb\nc\n", "@@ -3,0 +4,1 @@\n+x\n@@ -1,1 +1,0 @@\n-a\n")
	f.Fuzz(func(t *testing.T, text, hunks string) {
		g := patchOn("x", hunks)
		j, err := Join(new(File), []*finding.Finding{g}, func(string) (string, error) { return text, nil })
		if err != nil {
			t.Fatal(err)
		}
		files := patchOf(new(File), g)
		if len(j.Patched) == 0 || len(files) != 1 {
			return
		}
		lines := splitLines(text)
		s, ok := replacement(files[0], lines)
		if !ok {
			return
		}
		want := strings.Join(lines[:s.start-1], "") + s.text + strings.Join(lines[s.end:], "")
		if got, changed := j.Texts["a.go"]; got != want && (changed || want != text) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

func TestAsks(t *testing.T) {
	for text, want := range map[string]bool{"/interlock apply": true, "/interlock apply\nplease": true,
		"/interlock apply\r\n": true, "": false, "/interlock": false, " /interlock apply": false,
		"/interlock apply ": false, "/interlock  apply": false, "> /interlock apply": false, "x\n/interlock apply": false,
		"/Interlock apply": false, "/interlock apply; rm -rf /": false} {
		if Asks(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// Nothing of a stranger's text acts in an answer or in the message of a commit, and neither is endless.
func TestHostileAnswer(t *testing.T) {
	for _, s := range hostile {
		f := loaded(s)
		f.Accesses[0].File = strings.NewReplacer("\x00", "", "\n", "", "\r", "").Replace(s) + ".go"
		o := &Outcome{Joint: Joint{Patched: []*finding.Finding{f}, Left: []Left{{f, s}}}, Problem: Said(s),
			Diff: "+" + strings.ReplaceAll(s, "\n", "\n+")}
		for _, word := range acting(t, o.Text()) {
			t.Errorf("%q acts in the answer to %q", word, s)
		}
		m := Message([]*finding.Finding{f}, "")
		for _, word := range []string{"@e", "@o", "#1", "GH-1", "[skip", "http://", "\x1b", "::"} {
			if strings.Contains(m, word) {
				t.Errorf("%q is in the message %q", word, m)
			}
		}
		if strings.Count(m, "\n") > 3 {
			t.Errorf("lines of the stranger in %q", m)
		}
	}
	var many []*finding.Finding
	for i := range 400 {
		many = append(many, patchOn(fmt.Sprint(i), "@@ -1 +1,2 @@\n a\n+b\n"))
	}
	o := &Outcome{Joint: Joint{Patched: many, Left: slices.Repeat([]Left{{many[0], "why"}}, 400)}, Problem: "x",
		Diff: strings.Repeat("+x\n", maxBody)}
	if n := len(o.Text()); n > maxBody {
		t.Errorf("an answer of %d bytes", n)
	}
	if n := len(Message(many, "")); n > maxBody {
		t.Errorf("a message of %d bytes", n)
	}
}
