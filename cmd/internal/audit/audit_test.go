package audit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/trial"
	"github.com/interlock-go/interlock/dynamic/campaign"
)

var when = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// find returns a finding on a line of a file; what is nobody else's.
func find(file, what string, status finding.Status) *finding.Finding {
	f := &finding.Finding{
		Code: finding.Unguarded, Status: status, Title: what, Variable: finding.Variable{Package: "m", Name: what},
		Accesses: []finding.Access{{Position: finding.Position{File: file, Line: 3, Column: 1}, Package: "m", Function: what,
			Expr: what, Mode: finding.Write}},
	}
	if status == finding.Confirmed {
		f.Evidence = &finding.Evidence{Engine: "watch", Run: 1, Runs: 1, Hits: 1, Count: 1, Seed: 1}
	}
	finding.Seal([]*finding.Finding{f})
	return f
}

func open(t *testing.T, dir string) *Audit {
	t.Helper()
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func begin(t *testing.T, a *Audit, key string, seed uint64) bool {
	t.Helper()
	resumed, err := a.Begin(Inputs{Key: key, Files: map[string]string{"a.go": key, "b.go": "same"}}, seed, when)
	if err != nil {
		t.Fatal(err)
	}
	return resumed
}

// An audit that was ended in whatever way goes on as long as its inputs are the same.
func TestBegin(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	a := open(t, dir)
	if a.Seed() != 0 || begin(t, a, "k", 7) {
		t.Error("an empty folder is gone on with")
	}
	p := &part{Package: "m", name: a.nextPart(), Result: &campaign.Result{Made: campaign.Made{Runs: 3, Interrupted: true}}}
	if err := a.write(p.name, p); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "another audit writes there") {
		t.Errorf("a second one at the same time: %v", err)
	}
	a.Close()

	b := open(t, dir)
	if b.Seed() != 7 || !begin(t, b, "k", 7) || b.runsOf("m") != 4 || b.nextPart() == p.name {
		t.Errorf("resumed with seed %d, %d runs, next %s", b.Seed(), b.runsOf("m"), b.nextPart())
	}
	b.Close()

	c := open(t, dir) // the source has changed
	if begin(t, c, "other", 8) || c.runsOf("m") != 0 {
		t.Error("gone on with, on another source")
	}
	if err := c.Finish(); err != nil {
		t.Fatal(err)
	}
	c.Close()
	d := open(t, dir)
	if d.Seed() != 0 || begin(t, d, "other", 9) {
		t.Error("a finished audit is gone on with")
	}
	d.Close()

	// A part that is not whole is named, and its runs are made again.
	cut := filepath.Join(dir, stateFolder, "part-000001.json")
	if err := os.WriteFile(cut, []byte(`{"package":"m","res`), 0o666); err != nil {
		t.Fatal(err)
	}
	e := open(t, dir)
	if !begin(t, e, "other", 9) || e.runsOf("m") != 0 || len(e.Damaged) != 1 {
		t.Errorf("%d runs of a part that is not whole; %q", e.runsOf("m"), e.Damaged)
	}
}

// An audit that was ended before its time takes the place of no other: the next one is compared with the last that was
// finished, and knows the files of that one.
func TestBeginComparesWithFinished(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	write := func(a *Audit, f ...*finding.Finding) {
		t.Helper()
		if err := a.Write(&report.Report{Title: "m", Findings: f}); err != nil {
			t.Fatal(err)
		}
	}
	race := find("a.go", "race", finding.Confirmed)
	for _, writes := range []bool{false, true} {
		a := open(t, dir)
		begin(t, a, "first", 1)
		write(a, race)
		if err := a.Finish(); err != nil {
			t.Fatal(err)
		}
		a.Close()
		b := open(t, dir)
		begin(t, b, "second", 2)
		if writes { // what an interrupt leaves
			write(b)
		}
		b.Close()
		c := open(t, dir)
		if begin(t, c, "third", 3) {
			t.Fatal("gone on with, on another source")
		}
		now, err := c.Compare(nil, nil)
		if err != nil || now == nil || now.Unfinished || len(now.Fixed) != 1 || c.head.Before.Files["a.go"] != "first" {
			t.Errorf("the second one has written: %v; compared with it: %v, %v, %v", writes, now, c.head.Before, err)
		}
		if err := c.Finish(); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}

// Killed at any moment of its writing, an audit leaves whole files, and the next one removes what was half written.
func TestKilledWhileWriting(t *testing.T) {
	one, two := find("x.go", "one", finding.Confirmed), find("x.go", "two", finding.Confirmed)
	one.Fix = &finding.Fix{Strategy: "guard", Verdict: finding.Verified, Diff: top}
	two.Fix = &finding.Fix{Strategy: "lock", Verdict: finding.Manual, Diff: middle}
	if dir := os.Getenv("AUDIT_TO_WRITE"); dir != "" {
		a := open(t, dir)
		begin(t, a, "k", 1)
		for i := 0; ; i++ {
			if err := a.Write(&report.Report{Title: "m", Findings: []*finding.Finding{one, two}[i%2 : i%2+1]}); err != nil {
				t.Fatal(err)
			}
			fmt.Println("written")
		}
	}
	dir := t.TempDir()
	for kill := range 8 {
		// The child writes until it is killed, one time later than the other.
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileWriting$")
		cmd.Env = append(os.Environ(), "AUDIT_TO_WRITE="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for written := 0; written <= kill && lines.Scan(); written++ {
		}
		cmd.Process.Kill()
		cmd.Wait()
		// Each file is of one of the two reports.
		all, _, err := report.ReadFindings(filepath.Join(dir, Findings))
		if err != nil || len(all) != 1 {
			t.Errorf("%d findings: %v", len(all), err)
		}
		if data, err := os.ReadFile(filepath.Join(dir, SARIF)); err != nil || !json.Valid(data) {
			t.Errorf("%s: %v, %q", SARIF, err, data)
		}
		for name, end := range map[string]string{Index: "</html>\n", Summary: "\n"} {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.HasSuffix(string(data), end) {
				t.Errorf("%s: %v, %q", name, err, data)
			}
		}
		patches, err := filepath.Glob(filepath.Join(dir, Patches, "*.diff"))
		if err != nil || len(patches) == 0 {
			t.Errorf("no patches: %v", err)
		}
		for _, name := range patches {
			if data, err := os.ReadFile(name); err != nil || string(data) != top && string(data) != middle {
				t.Errorf("%s: %v, %q", name, err, data)
			}
		}
	}
	torn := filepath.Join(dir, Patches, ".interlock-1-0.tmp")
	if err := os.WriteFile(torn, []byte("ha"), 0o666); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("left: %s", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Findings that cannot be compared with end an audit before its work, and stay.
func TestBeginRefusesCutFindings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	a := open(t, dir)
	begin(t, a, "k", 7)
	cut := filepath.Join(dir, Findings)
	if err := os.WriteFile(cut, []byte(`{"id":"IL1001-`), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Begin(Inputs{Key: "other"}, 8, when); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a cut file: %v", err)
	}
	if data, err := os.ReadFile(cut); err != nil || len(data) == 0 || a.Seed() != 7 {
		t.Errorf("lost: %q, %v, seed %d", data, err, a.Seed())
	}
}

// A folder that is something else is not written to.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "name a folder of its own") {
		t.Errorf("a folder with sources: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "main.go")); err == nil {
		t.Error("a file")
	}
}

func TestCompare(t *testing.T) {
	dir := t.TempDir()
	suspicion, proven := find("b.go", "suspicion", finding.Suspected), find("b.go", "suspicion", finding.Confirmed)
	stays, gone := find("b.go", "stays", finding.Confirmed), find("b.go", "gone", finding.Suspected)
	unseen, mended := find("b.go", "unseen", finding.Confirmed), find("a.go", "mended", finding.Confirmed)
	accepted, fresh := find("b.go", "accepted", finding.Confirmed), find("b.go", "fresh", finding.Suspected)

	a := open(t, dir)
	begin(t, a, "k", 1)
	if c, err := a.Compare([]*finding.Finding{stays}, nil); c != nil || err != nil {
		t.Errorf("%v, %v where there is nothing to compare with", c, err)
	}
	r := &report.Report{Findings: []*finding.Finding{suspicion, stays, gone, unseen, mended, accepted}}
	if err := a.Write(r); err != nil {
		t.Fatal(err)
	}
	if err := a.Finish(); err != nil {
		t.Fatal(err)
	}
	a.Close()

	b := open(t, dir)
	begin(t, b, "l", 2) // a.go is another one now
	c, err := b.Compare([]*finding.Finding{proven, stays, fresh}, []*finding.Finding{accepted})
	if err != nil {
		t.Fatal(err)
	}
	ids := func(all []*finding.Finding) (ids []string) {
		for _, f := range all {
			ids = append(ids, f.ID)
		}
		return ids
	}
	if len(c.New) != 2 || !c.New[proven.ID] || !c.New[fresh.ID] || c.Persisting != 1 || c.Unfinished ||
		!slices.Equal(ids(c.Fixed), ids([]*finding.Finding{gone, mended})) ||
		!slices.Equal(ids(c.Unseen), ids([]*finding.Finding{unseen})) || c.Since != "2026-03-04 05:06 UTC" {
		t.Errorf("%+v", c)
	}
}

const (
	top    = "--- a/x.go\n+++ b/x.go\n@@ -1,4 +1,5 @@\n 1\n+new\n 2\n 3\n 4\n"
	middle = "--- a/x.go\n+++ b/x.go\n@@ -4,4 +4,4 @@\n 4\n 5\n-6\n+six\n 7\n"
	bottom = "--- a/x.go\n+++ b/x.go\n@@ -8,3 +8,3 @@\n 8\n-9\n+nine\n 10\n"
	other  = "--- a/y.go\n+++ b/y.go\n@@ -1,4 +1,5 @@\n 1\n+new\n 2\n 3\n 4\n"
)

// Of two patches without a conflict, git applies each behind the other.
func TestConflict(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		want       bool
	}{
		{"common context", top, middle, true},
		{"apart", top, bottom, false},
		{"side by side", middle, bottom, false},
		{"other files", top, other, false},
		{"the same", middle, middle, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := conflict(tt.a, tt.b)
			if err != nil || got != tt.want {
				t.Fatalf("%v, %v", got, err)
			}
			if _, err := exec.LookPath("git"); err != nil || got {
				return
			}
			for _, order := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
				dir := t.TempDir()
				for _, name := range []string{"x.go", "y.go"} {
					if err := os.WriteFile(filepath.Join(dir, name), []byte("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				for _, text := range order {
					cmd := exec.Command("git", "apply", "-")
					cmd.Dir, cmd.Stdin = dir, strings.NewReader(text)
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Errorf("git apply: %v\n%s", err, out)
					}
				}
			}
		})
	}
}

// What an earlier audit left goes away, a patch for two findings is written once, and foreign text is no Markdown.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	a := open(t, dir)
	begin(t, a, "k", 1)
	stale := filepath.Join(dir, Patches, "il-old.diff")
	if err := os.MkdirAll(filepath.Dir(stale), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stale, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	hostile := "<b>|`x`\n# [a](b)\x1b[31m\xff*_"
	one, two := find("x.go", hostile, finding.Confirmed), find("x.go", "two", finding.Confirmed)
	three, four := find("x.go", "three", finding.Confirmed), find("x.go", "four", finding.Suspected)
	fix := &finding.Fix{Strategy: "guard", Verdict: finding.Verified, Diff: top}
	one.Fix, two.Fix = fix, fix
	three.Fix = &finding.Fix{Strategy: "lock", Verdict: finding.Manual, Diff: middle}
	four.Fix = &finding.Fix{Strategy: "", Verdict: finding.Withheld, Withheld: "why"}
	r := &report.Report{
		Title: "m", Findings: []*finding.Finding{one, two, three, four}, Problems: []string{hostile},
		Skipped: []string{"m: TestX: too long"}, TimeOuts: []string{"the tests of m: the budget ended"},
		Unreached: []report.Unreached{{Package: "m", Places: []string{"x.go:9: read of n"}}},
		Earlier: &report.Comparison{
			New: map[string]bool{one.ID: true}, Persisting: 3,
			Fixed: []*finding.Finding{find("x.go", hostile, finding.Suspected)},
		},
	}
	if err := a.Write(r); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, Patches, "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("patches %q, %v", left, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, Summary))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, want := range []string{
		"**3 findings: 2 confirmed, 1 suspected**", "1 new, 3 persisting, 1 fixed.",
		"- Fixed: IL1001 &lt;b>\\|\\`x\\`", "| new | confirmed | IL1001 | x.go:3 | &lt;b>\\|\\`x\\`",
		"[verified](patches/" + one.ID + ".diff)", "| withheld |", "conflicts with " + three.ID + ".diff",
		"Tests that were skipped:\n\n- m: TestX: too long", "- m: 1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "<b>") || strings.Contains(text, "\x1b") || strings.Contains(text, "\n# [a]") {
		t.Errorf("foreign text acts in\n%s", text)
	}
	for _, name := range []string{Index, Findings, SARIF} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Proven findings come first; a suspicion gets a patch only if its fault stands in the source.
func TestPatchable(t *testing.T) {
	guess, proven := find("x.go", "guess", finding.Suspected), find("x.go", "proven", finding.Confirmed)
	lost := find("x.go", "lost", finding.Suspected)
	lost.Code = finding.LostUnlock
	got := patchable([]*finding.Finding{lost, guess, proven})
	if len(got) != 2 || got[0] != proven || got[1] != lost {
		t.Errorf("%v", got)
	}
	group, turned := []*finding.Finding{lost, proven}, []*finding.Finding{proven, lost}
	key := groupKey(group, trial.Full)
	if key != groupKey(turned, trial.Full) || key == groupKey(group, trial.Quick) {
		t.Error("the key of a group depends on its order, or not on the checks")
	}
}
