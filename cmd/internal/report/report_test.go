package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/schema"
)

var update = flag.Bool("update", false, "write the golden files anew")

const bankDiff = `--- a/bank.go
+++ b/bank.go
@@ -6,4 +6,6 @@
 
 func (a *Account) Add(n int) {
+	a.mu.Lock()
+	defer a.mu.Unlock()
-	a.balance += n
+	a.balance = a.balance + n
 }
`

// sample is a report with a confirmed finding that has all a run can give, a
// suspected one with locks, and a withheld patch.
func sample() *Report {
	confirmed := &finding.Finding{
		Code: finding.LoadAndStore, Status: finding.Confirmed, Title: "two goroutines lose an update of Account.balance",
		Message:  "Both read the old balance,\nand the second store overwrites the first.",
		Variable: finding.Variable{Package: "m/bank", Type: "Account", Name: "balance", Kind: "field"},
		Accesses: []finding.Access{
			{
				Position: finding.Position{File: "bank.go", Line: 8, Column: 2, EndLine: 8, EndColumn: 11}, Package: "m/bank",
				Function: "(*Account).Add",
				Expr:     "a.balance", Source: "a.balance += n", Mode: finding.Write,
				Goroutine: &finding.Goroutine{
					ID: 21,
					Stack: []finding.Frame{{Function: "bank.(*Account).Add", File: "bank.go", Line: 8},
						{Function: "bank.TestBank.func1", File: "bank_test.go", Line: 12},
						{Function: "testing.tRunner", File: "/go/src/testing/testing.go", Line: 1}},
					Created: []finding.Frame{{Function: "bank.TestBank", File: "bank_test.go", Line: 11}},
				},
			},
			{
				Position: finding.Position{File: "bank.go", Line: 8, Column: 2, EndLine: 8, EndColumn: 11}, Package: "m/bank",
				Function: "(*Account).Add",
				Expr:     "a.balance", Source: "a.balance += n", Mode: finding.Write,
				Goroutine: &finding.Goroutine{ID: 1, Stack: []finding.Frame{{Function: "bank.(*Account).Add", File: "bank.go",
					Line: 8}}},
			},
		},
		Evidence: &finding.Evidence{Engine: "watch", Run: 2, Runs: 20, Hits: 3, Count: 5, Seed: 42, Test: "m/bank",
			Replay: "interlock test -runs 1 -seed 42 ./bank", ReplayHits: 4, ReplayRuns: 5, Harmful: true},
		Fix: &finding.Fix{Strategy: "guard", Diff: bankDiff, Checked: []string{"compiles", "tests pass"}},
	}
	suspected := &finding.Finding{
		Code: finding.Unguarded, Status: finding.Suspected, Title: "Log.n is read without Log.mu",
		Variable: finding.Variable{Package: "m/bank", Type: "Log", Name: "n", Kind: "field"},
		Accesses: []finding.Access{
			{Position: finding.Position{File: "log.go", Line: 3, Column: 29, EndLine: 3, EndColumn: 32}, Package: "m/bank",
				Function: "(*Log).Len", Expr: "l.n", Source: "return l.n", Mode: finding.Read, Role: "any caller"},
			{Position: finding.Position{File: "log.go", Line: 5, Column: 5}, Package: "m/bank", Function: "(*Log).Put",
				Expr: "l.n", Source: "l.n++", Mode: finding.Write, Locks: []string{"l.mu"}},
		},
		Fix:   &finding.Fix{Strategy: "guard", Withheld: "it would add the lock cycle A.mu, l.mu"},
		Notes: []string{"3 of 4 accesses hold l.mu"},
	}
	alone := &finding.Finding{
		Code: finding.CaughtInTheAct, Status: finding.Confirmed, Title: "data race on hits",
		Variable: finding.Variable{Package: "m/bank", Name: "hits", Kind: "global"},
		Accesses: []finding.Access{{Position: finding.Position{File: "web/hits.go", Line: 4}, Package: "m/web",
			Function: "Hit", Expr: "hits", Mode: finding.Write}},
		Evidence: &finding.Evidence{Engine: "watch", Run: 1, Runs: 20, Hits: 20, Count: 1, Seed: 1},
	}
	list := []*finding.Finding{confirmed, suspected, alone}
	finding.Sort(list)
	finding.Seal(list)
	return &Report{
		Command: "test", Version: "v0.1.0", Findings: list,
		Coverage: Coverage{Sites: 12, Monitored: 9, Reached: 7, Watched: 5, Sections: 4, Ended: 3, Runs: 20, Asked: 20,
			Unobserved: 1, Windows: 40, OverBudget: 50, Lost: Lost{Windows: 1, Records: 1}},
	}
}

// cycle is a report with a lock-order cycle.
func cycle() *Report {
	f := &finding.Finding{
		Code: finding.LockCycle, Status: finding.Suspected, Title: "Store.mu and Index.mu are locked in both orders",
		Message: "At the same moment, (*Store).Put holds Store.mu and waits for Index.mu, while (*Index).Rebuild holds " +
			"Index.mu and waits for Store.mu: all of them wait forever.",
		Cycle: []finding.Edge{
			{From: "m/bank.Store.mu", To: "m/bank.Index.mu", Position: finding.Position{File: "store.go", Line: 9, Column: 13},
				Function: "(*Store).Put", Via: "(*Index).add at index.go:6", Since: &finding.Position{File: "store.go", Line: 7,
					Column: 11}},
			{From: "m/bank.Index.mu", To: "m/bank.Store.mu", Position: finding.Position{File: "index.go", Line: 14,
				Column: 17}, Function: "(*Index).Rebuild", Since: &finding.Position{File: "index.go", Line: 12, Column: 11}},
		},
	}
	finding.Seal([]*finding.Finding{f})
	return &Report{Command: "check", Version: "v0.1.0", Findings: []*finding.Finding{f}}
}

// split is a report with an atomic section that another goroutine came into.
func split() *Report {
	access := func(step, line int, goroutine int64, mode finding.Mode) finding.Access {
		return finding.Access{
			Position: finding.Position{File: "pool.go", Line: line, Column: 2}, Package: "m/bank", Function: "(*Pool).Take",
			Expr: "p.idle", Mode: mode, Step: step,
			Goroutine: &finding.Goroutine{ID: goroutine, Stack: []finding.Frame{
				{Function: "bank.(*Pool).Take", File: "pool.go", Line: line}, {Function: "bank.TestPool.func1",
					File: "pool_test.go", Line: 12},
			}},
		}
	}
	f := &finding.Finding{
		Code: finding.TestAndUse, Status: finding.Confirmed,
		Title:    "test and use of Pool.idle split by a remote write (R-w-W)",
		Message:  "The outcome was changed: the condition tested at the entry no longer held at the end.",
		Variable: finding.Variable{Package: "m/bank", Type: "Pool", Name: "idle", Kind: "field"},
		Accesses: []finding.Access{access(3, 16, 7, finding.Write), access(1, 9, 7, finding.Read),
			access(2, 16, 8, finding.Write)},
		Evidence: &finding.Evidence{Engine: "watch", Run: 1, Runs: 20, Hits: 4, Count: 6, Seed: 1, Pattern: "R-w-W",
			Changed: true, Harmful: true},
	}
	finding.Seal([]*finding.Finding{f})
	return &Report{Command: "test", Version: "v0.1.0", Findings: []*finding.Finding{f}}
}

func render(t *testing.T, h Handler, r *Report) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := h.Write(&buf, r); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is stale (%v): if the change is meant, write it anew with: go test ./cmd/internal/report -update\n%s",
			file, err, firstDifference(got, want))
	}
}

// firstDifference returns the first line in which got is not want: a report has hundreds.
func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	i := 0
	for i < min(len(g), len(w))-1 && g[i] == w[i] {
		i++
	}
	return fmt.Sprintf("line %d: got  %s\nline %d: want %s", i+1, g[i], i+1, w[i])
}

func TestSampleIsValid(t *testing.T) {
	for _, f := range slices.Concat(sample().Findings, cycle().Findings, split().Findings) {
		if err := f.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestGolden(t *testing.T) {
	interrupted := sample()
	interrupted.Findings, interrupted.Interrupted = interrupted.Findings[:1], true
	interrupted.Coverage.Runs = 7
	interrupted.Problems = []string{"m/broken does not compile"}
	for name, r := range map[string]*Report{
		"full":        sample(),
		"empty":       {Command: "check", Version: "v0.1.0"},
		"interrupted": interrupted,
		"cycle":       cycle(),
		"split":       split(),
	} {
		for _, format := range Formats() {
			h, err := For(format)
			if err != nil {
				t.Fatal(err)
			}
			got := render(t, h, r)
			golden(t, name+"."+format, got)
			if again := render(t, h, r); !bytes.Equal(got, again) {
				t.Errorf("%s.%s: the same report gives other bytes", name, format)
			}
		}
	}
}

// What programs read follows the published schemas, and has no null, however little a finding has.
func TestPublishedSchemas(t *testing.T) {
	bare := finding.Access{Position: finding.Position{File: "x.go", Line: 1}, Mode: finding.Read,
		Goroutine: &finding.Goroutine{ID: 1}}
	least := &finding.Finding{Accesses: []finding.Access{bare}, Section: &finding.Section{
		More: []finding.SectionEnd{{}}, Also: []finding.Section{{}}}}
	least.Code, least.Status = finding.LoadAndStore, finding.Confirmed
	all := sample()
	all.Findings = append(all.Findings, least, cycle().Findings[0], split().Findings[0])
	end, err := os.ReadFile("../../../analyzers/finding/end.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Report{all, {}} {
		for at, h := range map[string]Handler{"schema.json": JSON{}, "../../../analyzers/finding/schema.json": JSONLines{}} {
			published, err := os.ReadFile(at)
			if err != nil {
				t.Fatal(err)
			}
			documents := [][]byte{render(t, h, r)}
			if h == (JSONLines{}) {
				documents = bytes.Split(bytes.TrimSpace(documents[0]), []byte("\n"))
				last := len(documents) - 1
				if err := schema.Validate(end, documents[last]); err != nil {
					t.Errorf("the end: %v\n%s", err, documents[last])
				}
				documents = documents[:last]
			}
			for _, d := range documents {
				if err := schema.Validate(published, d); err != nil || bytes.Contains(d, []byte("null")) {
					t.Errorf("%T: %v\n%s", h, err, d)
				}
			}
		}
	}
	if least.Section.Allows != nil || least.Accesses[0].Goroutine.Stack != nil {
		t.Error("a handler has changed a finding")
	}
}

// Tests that failed fail in JUnit too, each by its name; those that do not fail the build are skipped there.
func TestJUnitOfFailedTests(t *testing.T) {
	r := &Report{Command: "test", Failures: []Failure{
		{Package: "m", Tests: []string{"TestA", "TestB"}, Text: "the tests of m failed", Output: "a_test.go:1: no\x1b\n",
			Fails: true},
		{Package: "m", Tests: []string{"TestNoise"}, Text: "TestNoise of m failed only under noise"},
		{Package: "m/p", Text: "the tests of m/p crashed", Output: strings.Repeat("line\n", mostOutput+3), Fails: true},
		{Package: "m/q", Text: "go test would not run the tests of m/q", Unbuilt: true, Fails: true},
	}}
	got := string(render(t, JUnit{}, r))
	for _, want := range []string{
		`tests="5" failures="3" errors="1"`,
		`<testcase classname="m" name="TestA">`, `<testcase classname="m" name="TestB">`,
		`<failure message="the tests of m failed" type="test">a_test.go:1: no\x1b</failure>`,
		`<skipped message="TestNoise of m failed only under noise"`,
		`<testcase classname="m/p" name="the tests as a whole">`, "… 3 lines before",
		`<error message="go test would not run the tests of m/q"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "no findings") {
		t.Errorf("there are failed tests, but:\n%s", got)
	}
	if got := string(render(t, JUnit{}, &Report{Command: "test"})); !strings.Contains(got, `failures="0"`) {
		t.Errorf("nothing failed, but:\n%s", got)
	}
}

// Possible findings are marked as such, and not counted.
func TestPossible(t *testing.T) {
	r := &Report{Findings: sample().Findings[:1]}
	possible := *r.Findings[0]
	possible.Level, possible.Status, possible.Evidence = finding.Possible, finding.Suspected, nil
	r.Findings[0] = &possible
	var text, sarif bytes.Buffer
	if err := (Text{}).Write(&text, r); err != nil {
		t.Fatal(err)
	}
	if err := (SARIF{}).Write(&sarif, r); err != nil {
		t.Fatal(err)
	}
	if r.Left() != 0 || r.Count(finding.Suspected) != 0 {
		t.Errorf("%d left, %d suspected, want none", r.Left(), r.Count(finding.Suspected))
	}
	for want, in := range map[string]string{" possible: ": text.String(), "no findings and 1 possible\n": text.String(),
		`"level": "note"`: sarif.String()} {
		if !strings.Contains(in, want) {
			t.Errorf("no %q in:\n%s", want, in)
		}
	}
}

func TestFor(t *testing.T) {
	if _, err := For("xml"); err == nil || !strings.Contains(err.Error(), "use one of text, jsonl, json, sarif") {
		t.Errorf("got %v", err)
	}
}

func TestTextShowsFilesFromWhereTheUserStands(t *testing.T) {
	r := sample()
	r.Root = t.TempDir()
	r.Dir = filepath.Join(r.Root, "web")
	got := string(render(t, Text{}, r))
	for _, want := range []string{"\nhits.go:4: IL1000", filepath.Join("..", "bank.go") + ":8:2: IL2001"} {
		if !strings.Contains("\n"+got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestJSONLinesHoldsWholeFindings(t *testing.T) {
	r := sample()
	lines := strings.Split(strings.TrimSpace(string(render(t, JSONLines{}, r))), "\n")
	if len(lines) != len(r.Findings)+1 {
		t.Fatalf("%d lines for %d findings and an end", len(lines), len(r.Findings))
	}
	for i, line := range lines[:len(r.Findings)] {
		var f finding.Finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		if err := f.Validate(); err != nil {
			t.Error(err)
		}
		if f.ID != r.Findings[i].ID {
			t.Errorf("line %d is %s, want %s", i, f.ID, r.Findings[i].ID)
		}
	}
}

// A report is read as a whole one only where it was written to its end: cut at any byte, it is refused.
func TestReadFindingsRefusesWhatWasCut(t *testing.T) {
	one, none := render(t, JSONLines{}, &Report{Findings: cycle().Findings[:1]}), render(t, JSONLines{}, &Report{})
	halted := render(t, JSONLines{}, &Report{Interrupted: true})
	for n := range len(one) - 1 { // the last byte is a newline
		if _, _, err := readFindings(bytes.NewReader(one[:n])); !errors.Is(err, errCut) {
			t.Fatalf("%d of %d bytes: %v", n, len(one), err)
		}
	}
	_, end, _ := bytes.Cut(one, []byte("\n"))
	for _, tt := range []struct {
		name  string
		parts [][]byte
		want  int
		// Whether one was written by a command that was interrupted.
		interrupted bool
		err         error
	}{
		{"whole", [][]byte{one}, 1, false, nil},
		{"without findings", [][]byte{none}, 0, false, nil},
		{"two of them", [][]byte{one, none, one}, 2, false, nil},
		{"interrupted", [][]byte{halted}, 0, true, nil},
		{"the first of two was interrupted", [][]byte{halted, one}, 1, true, nil},
		{"a line is missing in the first of two", [][]byte{end, one}, 0, false, errCut},
		{"the first of two has no end", [][]byte{one[:len(one)-len(end)], one}, 0, false, errCut},
	} {
		all, interrupted, err := readFindings(bytes.NewReader(bytes.Join(tt.parts, nil)))
		if len(all) != tt.want || interrupted != tt.interrupted || !errors.Is(err, tt.err) {
			t.Errorf("%s: %d findings, interrupted %v, %v", tt.name, len(all), interrupted, err)
		}
	}
	// Another file is no report that was cut.
	if _, _, err := readFindings(strings.NewReader("package p\n")); err == nil || errors.Is(err, errCut) {
		t.Errorf("Go source: %v", err)
	}
}

func FuzzReadFindings(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"version":1,"id":"il-0","code":"IL1001","status":"suspected","accesses":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, _, err := readFindings(bytes.NewReader(data))
		if err != nil && !regexp.MustCompile(`^[1-9][0-9]*:[1-9][0-9]*: `).MatchString(err.Error()) {
			t.Errorf("an error without line and column: %v", err)
		}
		for _, f := range all {
			if err := f.Validate(); err != nil {
				t.Errorf("%s is not sound: %v", f.ID, err)
			}
		}
	})
}

// An interruption is not said to come before anything was found where a line says that findings are suspected.
func TestInterrupted(t *testing.T) {
	for c, want := range map[Coverage]string{
		{}:              "interrupted before anything was found\n",
		{Unobserved: 2}: "interrupted before a run had confirmed anything\n",
	} {
		var b strings.Builder
		if err := (Text{}).Write(&b, &Report{Coverage: c, Interrupted: true}); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// What a goroutine waits for in a library has no expression, but the state of the goroutine.
func TestDeedState(t *testing.T) {
	for a, want := range map[[2]string]string{
		{string(finding.Receive), "chan receive"}:        "chan receive",
		{string(finding.Wait), "select"}:                 "select",
		{string(finding.Wait), "select in io.(*p).f"}:    "select in io.(*p).f",
		{string(finding.Lock), "sync.Mutex.Lock in x.F"}: "sync.Mutex.Lock in x.F",
		{string(finding.Lock), "sync.Mutex.Lock"}:        "sync.Mutex.Lock",
		{string(finding.Lock), "t.mu"}:                   "lock of t.mu",
		{string(finding.Receive), "done"}:                "receive of done",
		{string(finding.Wait), "sync.WaitGroup.Wait"}:    "sync.WaitGroup.Wait",
	} {
		if got := deed(&finding.Access{Mode: finding.Mode(a[0]), Expr: a[1]}); got != want {
			t.Errorf("%v: %s, want %s", a, got, want)
		}
	}
}

// The engine is said to see each race only where it could keep all accesses.
func TestExact(t *testing.T) {
	const sees, missed = "which sees each race", "may have missed races"
	for c, want := range map[Coverage][2]string{
		{Exact: 2}:            {sees, missed},
		{Exact: 1, Forgot: 1}: {missed, sees},
		{Exact: 3, Partly: 2}: {
			"(in 2 of them some tests failed or did not end); it sees each race of the code that ran", sees,
		},
		{Exact: 3, Forgot: 1}: {"all accesses of 1 of them: it " + missed, sees},
	} {
		var b strings.Builder
		if err := (Text{}).Write(&b, &Report{Coverage: c}); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); !strings.Contains(text, want[0]) || strings.Contains(text, want[1]) {
			t.Errorf("%d of %d: %s", c.Forgot, c.Exact, text)
		}
	}
}

// What was not covered is listed, by kind and by package.
func TestGaps(t *testing.T) {
	r := &Report{
		Problems: []string{"p"}, Failures: []Failure{{Text: "f"}}, TimeOuts: []string{"o"}, Skipped: []string{"s"},
		GaveUp:    []string{"g"},
		Unreached: []Unreached{{"m/a", []string{"a.go:1", "a.go:2"}}, {"m/b", []string{"b.go:1"}}},
	}
	page := string(render(t, HTML{}, r))
	for _, want := range []string{
		"Not analysed, or not run to the end (1)", "Tests that failed (1)", "Ended, or not made, for want of time (1)",
		"Tests that were skipped (1)", "for their size (1)", "no test reached: m/a (2)", "no test reached: m/b (1)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if n := len((&Report{}).Gaps()); n != 0 {
		t.Errorf("%d gaps of nothing", n)
	}
}

// An access whose expression is the whole operation is not one "of" itself.
func TestDeed(t *testing.T) {
	for _, tt := range []struct {
		mode       finding.Mode
		expr, want string
	}{
		{finding.CloseChan, "close(w.quit)", "close(w.quit)"},
		{finding.CloseChan, "w.quit", "close of w.quit"},
		{finding.Lock, "s.mu.Lock()", "s.mu.Lock()"},
		{finding.ReadLock, "s.mu.RLock()", "s.mu.RLock()"},
		{finding.Lock, "s.next()", "lock by s.next()"}, // a call that locks
		{finding.Receive, "ctx.Done()", "receive of ctx.Done()"},
		{finding.Read, "a.Balance()", "read by a.Balance()"},
		{finding.Write, "b.set(b.get() + 1)", "write by b.set(b.get() + 1)"},
		{finding.Read, "p().x", "read of p().x"},
		{finding.AtomicWrite, "m.Store", "atomic-write by m.Store"},
		{finding.AtomicWrite, "store.n", "atomic-write of store.n"},
		{finding.Leave, "}", "return at the end of the function"},
	} {
		if got := deed(&finding.Access{Mode: tt.mode, Expr: tt.expr}); got != tt.want {
			t.Errorf("%s of %s: got %q, want %q", tt.mode, tt.expr, got, tt.want)
		}
	}
}

// That something was seen in run 7 of 6 needs a word.
func TestSeenIn(t *testing.T) {
	for _, tt := range []struct {
		run  int
		want string
	}{{7, "1 of 6 runs that tried it"}, {6, "1 of 6 runs"}} {
		if got := seenIn(&finding.Evidence{Run: tt.run, Runs: 6, Hits: 1}); got != tt.want {
			t.Errorf("first in run %d: %q, want %q", tt.run, got, tt.want)
		}
	}
}
