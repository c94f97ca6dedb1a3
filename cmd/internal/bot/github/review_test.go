package github_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// account is a module whose second version has a race: Peek reads without the lock.
const account = `package bank

import "sync"

type Account struct {
	mu      sync.Mutex
	balance int
}

func (a *Account) Add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance += n
}
`

const peek = `
// Peek returns the balance.
func (a *Account) Peek() int {
	return a.balance
}
`

// peekFix is the patch of Peek.
const peekFix = `--- a/bank.go
+++ b/bank.go
@@ -17,3 +17,5 @@
 func (a *Account) Peek() int {
+	a.mu.Lock()
+	defer a.mu.Unlock()
 	return a.balance
 }
`

var module = map[string]string{"go.mod": "module example.com/bank\n\ngo 1.21\n", "bank.go": account}

// race returns a confirmed race of a function at a line.
func race(file string, line int, function string) *finding.Finding {
	f := &finding.Finding{Version: finding.SchemaVersion, Code: "IL1001", Status: finding.Confirmed,
		Title:    "Data race on bank.Account.balance",
		Message:  "Account.balance is read without a.mu.",
		Variable: finding.Variable{Package: "example.com/bank", Type: "Account", Name: "balance", Kind: "field"},
		Accesses: []finding.Access{
			{Position: finding.Position{File: file, Line: line, Column: 9}, Package: "example.com/bank", Function: function,
				Expr: "a.balance", Mode: finding.Read, Step: 2},
			{Position: finding.Position{File: "bank.go", Line: 13, Column: 2}, Package: "example.com/bank",
				Function: "(*Account).Add", Expr: "a.balance += n", Mode: finding.Write, Locks: []string{"a.mu"}, Step: 1},
		},
		Evidence: &finding.Evidence{Engine: "watch", Run: 1, Runs: 10, Hits: 4,
			Replay: "interlock test -runs=1 -seed=7 ./... -- '-run=^TestPeek$'", ReplayHits: 5, ReplayRuns: 5}}
	f.ID = f.ComputeID()
	return f
}

// fixed returns f with a verified patch.
func fixed(f *finding.Finding, diff string) *finding.Finding {
	f.Fix = &finding.Fix{Strategy: "guard", Verdict: finding.Verified, Diff: diff,
		Checked: []string{"builds", "tests pass"}}
	return f
}

// fileOf returns the file of findings on the head of the request, as the second step reads it.
func (f *fake) fileOf(findings ...*finding.Finding) *bot.File {
	f.t.Helper()
	return f.fileAt(f.head(), findings...)
}

func (f *fake) fileAt(head string, findings ...*finding.Finding) *bot.File {
	f.t.Helper()
	data, err := json.Marshal(bot.File{Version: bot.FileVersion, Base: f.git("rev-parse", "main"), Head: head,
		Complete: true, Findings: findings})
	if err != nil {
		f.t.Fatal(err)
	}
	file, leftOut, err := bot.ReadFile(strings.NewReader(string(data)))
	if err != nil || leftOut > 0 {
		f.t.Fatal(leftOut, err)
	}
	return file
}

// review reviews the request, and fails unless it ends as wanted.
func (f *fake) reviewAs(want bot.Ending, file *bot.File) *bot.Result {
	f.t.Helper()
	r, err := bot.Review(f.t.Context(), f.forge(), file, func(time.Duration) {})
	if err != nil {
		f.t.Fatal(err)
	}
	if r.Ending != want {
		f.t.Fatalf("the review ended as %q, want %q", r.Ending, want)
	}
	return r
}

// counts fails unless the fake has so many reviews and threads.
func (f *fake) counts(reviews, threads int) {
	f.t.Helper()
	if len(f.reviews) != reviews || len(f.threads) != threads {
		f.t.Fatalf("%d reviews and %d threads, want %d and %d", len(f.reviews), len(f.threads), reviews, threads)
	}
}

// withPeek returns a fake whose request adds Peek.
func withPeek(t *testing.T) *fake {
	f := newFake(t, module)
	f.commit(map[string]string{"bank.go": account + peek})
	return f
}

// Point 8: only findings that the request brings in are posted, and none twice.
func TestOnlyNewNothingTwice(t *testing.T) {
	t.Parallel()
	f := withPeek(t)
	old := race("bank.go", 13, "(*Account).Add") // no line of it has changed
	suspected := race("bank.go", 18, "(*Account).Guess")
	suspected.Status, suspected.Evidence = finding.Suspected, nil
	likely := race("bank.go", 18, "(*Account).Lost") // its check is seldom wrong, and nothing has changed there
	likely.Code, likely.Status, likely.Evidence, likely.Accesses[0].Line = "IL4001", finding.Suspected, nil, 12
	known := race("bank.go", 18, "(*Account).Known")
	file := f.fileOf(race("bank.go", 18, "(*Account).Peek"), old, suspected, likely, known)
	file.Known = []string{known.ID}
	r := f.reviewAs(bot.Reviewed, file)
	f.counts(1, 1)
	if len(r.Chosen) != 1 || f.threads[0].Line != 18 {
		t.Errorf("%d causes, at line %d", len(r.Chosen), f.threads[0].Line)
	}
	// In a changed line it is posted, unless its class is that of another check.
	for class, want := range map[string]bot.Ending{"": bot.Reviewed, "IL1004": bot.Quiet} {
		f := withPeek(t)
		likely.Accesses[0].Line, likely.Class = 18, class
		f.reviewAs(want, f.fileOf(likely))
	}
	// The same push once more, and then a push that changes something else.
	f.reviewAs(bot.Quiet, file)
	f.commit(map[string]string{"README": "bank\n"})
	f.reviewAs(bot.Quiet, f.fileOf(race("bank.go", 18, "(*Account).Peek")))
	f.counts(1, 1)
	// An answer that is lost: the review is there, though GitHub answered 502.
	g := withPeek(t)
	g.hooks = []hook{{status: http.StatusBadGateway, carry: true}}
	g.reviewAs(bot.Quiet, g.fileOf(race("bank.go", 18, "(*Account).Peek")))
	g.counts(1, 1)
}

// Point 9: one review a push, with ten comments at most; the others stand in its body.
func TestOneReviewAPushCapped(t *testing.T) {
	t.Parallel()
	f := newFake(t, module)
	var text strings.Builder
	text.WriteString(account)
	var all []*finding.Finding
	for i := range 14 {
		fmt.Fprintf(&text, "\nfunc (a *Account) P%d() int { return a.balance }\n", i)
		g := race("bank.go", 16+2*i, fmt.Sprintf("(*Account).P%d", i))
		g.Variable.Type = fmt.Sprintf("Account%d", i) // else all have one cause
		g.ID = g.ComputeID()
		all = append(all, g)
	}
	f.commit(map[string]string{"bank.go": text.String()})
	f.reviewAs(bot.Reviewed, f.fileOf(all...))
	f.counts(1, 10)
	body := f.reviews[0].Body
	if !strings.Contains(body, "14 concurrency bugs") || strings.Count(body, "<details><summary>") != 4 {
		t.Errorf("the body has not the other four:\n%s", body)
	}
	// The second push of the same state adds nothing, and the ids in the body count as posted.
	f.commit(map[string]string{"README": "bank\n"})
	f.reviewAs(bot.Quiet, f.fileOf(all...))
	f.counts(1, 10)
}

// suggestions are the lines of suggestion blocks.
var suggestions = regexp.MustCompile("(?ms)^(`{3,})suggestion\n(.*?)^`{3,}$")

// commitSuggestion commits the suggestion of a comment as a click does: it replaces the lines of the comment.
func (f *fake) commitSuggestion(d draft) string {
	f.t.Helper()
	m := suggestions.FindStringSubmatch(d.Body)
	if m == nil {
		f.t.Fatalf("the comment has no suggestion:\n%s", d.Body)
	}
	data, err := os.ReadFile(filepath.Join(f.dir, d.Path))
	if err != nil {
		f.t.Fatal(err)
	}
	start := d.Line
	if d.StartLine != nil {
		start = *d.StartLine
	}
	lines := strings.SplitAfter(string(data), "\n")
	text := strings.Join(lines[:start-1], "") + m[2] + strings.Join(lines[d.Line:], "")
	f.commit(map[string]string{d.Path: text})
	return text
}

// Point 10: a suggestion that is committed by a click yields the text of the patch, which builds and passes the tests.
func TestSuggestionsBuildAndPass(t *testing.T) {
	t.Parallel()
	const test = `package bank

import "testing"

func TestPeek(t *testing.T) {
	var a Account
	a.Add(2)
	if a.Peek() != 2 {
		t.Error("not 2")
	}
}
`
	for name, c := range map[string]struct{ peek, diff string }{
		"insertion": {peek, peekFix},
		"replacement": {"\nfunc (a *Account) Peek() int {\n\treturn a.balance\n}\n", `--- a/bank.go
+++ b/bank.go
@@ -16,3 +16,7 @@
 func (a *Account) Peek() int {
-	return a.balance
+	a.mu.Lock()
+	n := a.balance
+	a.mu.Unlock()
+
+	return n
 }
`},
		"two changes": {"\nfunc (a *Account) Peek() int {\n\tn := a.balance\n\n\treturn n\n}\n", `--- a/bank.go
+++ b/bank.go
@@ -16,2 +16,3 @@
 func (a *Account) Peek() int {
+	a.mu.Lock()
 	n := a.balance
@@ -19,2 +20,3 @@
+	a.mu.Unlock()
 	return n
 }
`},
		"backquotes": {"\nfunc (a *Account) Peek() int {\n\t_ = \"```\"\n\treturn a.balance\n}\n", `--- a/bank.go
+++ b/bank.go
@@ -16,4 +16,6 @@
 func (a *Account) Peek() int {
-	_ = "` + "```" + `"
+	_ = "` + "````" + `"
+	a.mu.Lock()
+	defer a.mu.Unlock()
 	return a.balance
 }
`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, module)
			f.commit(map[string]string{"bank.go": account + c.peek, "bank_test.go": test})
			f.reviewAs(bot.Reviewed, f.fileOf(fixed(race("bank.go", 17, "(*Account).Peek"), c.diff)))
			f.counts(1, 1)
			got := f.commitSuggestion(f.threads[0].draft)
			// git applies the same patch to the state before.
			f.git("checkout", "-q", "HEAD~1")
			patch := filepath.Join(t.TempDir(), "p.diff")
			if err := os.WriteFile(patch, []byte(c.diff), 0o644); err != nil {
				t.Fatal(err)
			}
			f.git("apply", patch)
			want, err := os.ReadFile(filepath.Join(f.dir, "bank.go"))
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the click yields\n%s\nwant\n%s", got, want)
			}
			if name != "two changes" { // the others differ in their text alone
				return
			}
			cmd := exec.Command("go", "test", "./...")
			cmd.Dir, cmd.Env = f.dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// workflowDiff is a patch of a workflow.
const workflowDiff = `--- a/.github/workflows/ci.yml
+++ b/.github/workflows/ci.yml
@@ -1,1 +1,2 @@
 on: push
+# x
`

// Point 11: a patch of several files, of several hunks of the request, or of no Go source is never a suggestion, and
// neither is one that does not apply, or that nobody has verified.
func TestNeverHalfAFix(t *testing.T) {
	t.Parallel()
	far := strings.Repeat("\n// a line\n", 20)
	second := "--- a/other.go\n+++ b/other.go\n@@ -1,1 +1,2 @@\n package bank\n+// more\n"
	for name, c := range map[string]struct {
		diff string
		edit func(*finding.Finding)
	}{
		"two files": {peekFix + second, nil},
		"two hunks": {"--- a/bank.go\n+++ b/bank.go\n@@ -7,2 +7,3 @@\n \tbalance int\n+\tn       int\n }\n" +
			"@@ -57,2 +58,3 @@\n // Peek returns the balance.\n+// It locks.\n func (a *Account) Peek() int {\n", nil},
		"workflow":       {workflowDiff, nil},
		"hidden Go file": {"--- a/.github/x.go\n+++ b/.github/x.go\n@@ -1,1 +1,2 @@\n package x\n+// x\n", nil},
		"outside":        {"--- a/../x.go\n+++ b/../x.go\n@@ -1,1 +1,2 @@\n package x\n+// x\n", nil},
		"does not apply": {strings.Replace(peekFix, "return a.balance", "return a.amount", 1), nil},
		"draft": {peekFix, func(f *finding.Finding) {
			f.Fix.Verdict, f.Fix.Doubts = finding.Draft, []finding.Doubt{{Obligation: "waits", Text: "it may wait"}}
		}},
		"manual": {peekFix, func(f *finding.Finding) { f.Fix.Verdict = finding.Manual }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, map[string]string{"go.mod": module["go.mod"], "bank.go": account + far, "other.go": "package bank\n",
				".github/workflows/ci.yml": "on: push\n", ".github/x.go": "package x\n"})
			text := account + far + peek
			if name != "two hunks" {
				text = account + peek
			}
			f.commit(map[string]string{"bank.go": text, ".github/workflows/ci.yml": "on: push\n# y\n"})
			line := 1 + strings.Count(text[:strings.Index(text, "return a.balance")], "\n")
			g := fixed(race("bank.go", line, "(*Account).Peek"), c.diff)
			if c.edit != nil {
				c.edit(g)
			}
			f.reviewAs(bot.Reviewed, f.fileOf(g))
			f.counts(1, 1)
			body := f.threads[0].Body
			if strings.Contains(body, "```suggestion") {
				t.Errorf("half a fix:\n%s", body)
			}
			if !strings.Contains(body, "```diff\n"+c.diff) {
				t.Errorf("the comment has not the whole diff:\n%s", body)
			}
		})
	}
}

// Point 12: a finding outside of the diff stands in the body of the review, whole.
func TestOutOfDiffWithoutLoss(t *testing.T) {
	t.Parallel()
	f := withPeek(t)
	g := fixed(race("other.go", 3, "(*Account).Peek"), peekFix)
	g.Accesses[1].File = "other.go"
	// The go statement has changed, in a file whose hunk is gone from the text of the comment.
	g.Accesses[0].Goroutine = &finding.Goroutine{ID: 1, Stack: []finding.Frame{},
		Created: []finding.Frame{{Function: "f", File: "bank.go", Line: 18}}}
	r := f.reviewAs(bot.Reviewed, f.fileOf(g))
	if len(r.Comments) != 1 || f.threads[0].Line != 18 { // the go statement is a place for the comment
		t.Errorf("%+v", r.Comments)
	}
	// A file so large that GitHub lists no hunks: the comments are refused as a whole.
	f = withPeek(t)
	g = fixed(race("bank.go", 18, "(*Account).Peek"), peekFix)
	f.hooks = []hook{{status: http.StatusUnprocessableEntity}}
	r = f.reviewAs(bot.Reviewed, f.fileOf(g))
	f.counts(1, 0)
	body := f.reviews[0].Body
	for _, want := range []string{"Data race on bank.Account.balance", "interlock test -runs=1 -seed=7", "a.mu.Lock()"} {
		if !r.InBody || !strings.Contains(body, want) {
			t.Errorf("the body lacks %q:\n%s", want, body)
		}
	}
	// It counts as posted.
	f.commit(map[string]string{"README": "bank\n"})
	f.reviewAs(bot.Quiet, f.fileOf(g))
	f.counts(1, 0)
}

// Point 13: refusals lose nothing: read-only tokens, limits, errors of the server, moved and closed requests.
func TestRefusalsDegrade(t *testing.T) {
	t.Parallel()
	g := func() *finding.Finding { return race("bank.go", 18, "(*Account).Peek") }
	t.Run("fork", func(t *testing.T) {
		f := withPeek(t)
		f.readOnly = true
		r := f.reviewAs(bot.ReadOnly, f.fileOf(g()))
		f.counts(0, 0)
		if !strings.Contains(r.Summary(), "Data race on bank.Account.balance") {
			t.Errorf("the summary lacks the finding:\n%s", r.Summary())
		}
	})
	t.Run("limits", func(t *testing.T) {
		f := withPeek(t)
		wait := http.Header{"Retry-After": {"1"}}
		f.hooks = []hook{{status: http.StatusForbidden, header: wait}, {status: http.StatusTooManyRequests, header: wait}}
		start := time.Now()
		f.reviewAs(bot.Reviewed, f.fileOf(g()))
		f.counts(1, 1)
		if d := time.Since(start); d < 2*time.Second {
			t.Errorf("it waited %v, though it was asked for 2 s", d)
		}
	})
	t.Run("server", func(t *testing.T) {
		f := withPeek(t)
		f.hooks = []hook{{status: 500}, {status: 502}, {status: 503}}
		f.reviewAs(bot.Reviewed, f.fileOf(g()))
		f.counts(1, 1)
	})
	t.Run("server down", func(t *testing.T) {
		f := withPeek(t)
		f.hooks = slices.Repeat([]hook{{status: 500}}, 10)
		if _, err := bot.Review(t.Context(), f.forge(), f.fileOf(g()), func(time.Duration) {}); err == nil {
			t.Error("no error, though nothing was posted")
		}
	})
	t.Run("force-push", func(t *testing.T) {
		f := withPeek(t)
		file := f.fileOf(g())
		f.hooks = []hook{{before: func() { f.git("commit", "-q", "--amend", "-m", "again") }}}
		f.reviewAs(bot.Superseded, file)
		f.counts(0, 0)
		f.reviewAs(bot.Superseded, file) // and from the beginning
	})
	t.Run("branch gone", func(t *testing.T) {
		f := withPeek(t)
		file := f.fileOf(g())
		f.git("checkout", "-q", "main")
		f.git("branch", "-q", "-D", "change")
		f.reviewAs(bot.Superseded, file)
	})
	t.Run("closed", func(t *testing.T) {
		f := withPeek(t)
		f.closed = true
		f.reviewAs(bot.Closed, f.fileOf(g()))
	})
	t.Run("many files", func(t *testing.T) {
		f := newFake(t, module)
		files := map[string]string{"z.go": "package bank\n\nfunc (a *Account) Peek() int { return a.balance }\n"}
		for i := range 7 {
			files[fmt.Sprintf("f%d.go", i)] = "package bank\n"
		}
		f.commit(files)
		f.reviewAs(bot.Reviewed, f.fileOf(race("z.go", 3, "(*Account).Peek"))) // on the fourth page
		f.counts(1, 1)
	})
	t.Run("request of a run", func(t *testing.T) {
		f := withPeek(t)
		for owner, want := range map[string]int{"stranger": 7, "nobody": 0} {
			if n, err := f.forge().Find(t.Context(), owner, "change", f.head()); n != want || err != nil {
				t.Errorf("%s: request %d, %v, want %d", owner, n, err, want)
			}
		}
	})
}

// Point 14: a comment whose finding is gone is resolved; one with a human reply is answered once, and left.
func TestStaleResolved(t *testing.T) {
	t.Parallel()
	mended := strings.Replace(account+peek, "\treturn", "\ta.mu.Lock()\n\tdefer a.mu.Unlock()\n\treturn", 1)
	t.Run("resolved", func(t *testing.T) {
		f := withPeek(t)
		f.reviewAs(bot.Reviewed, f.fileOf(race("bank.go", 18, "(*Account).Peek")))
		// A run that does not show the race again, in the same text, shows nothing.
		f.commit(map[string]string{"README": "bank\n"})
		f.reviewAs(bot.Quiet, f.fileOf())
		if f.threads[0].resolved {
			t.Error("resolved, though the file has not changed")
		}
		f.commit(map[string]string{"bank.go": mended})
		// Nor does a run that was cut off.
		part := f.fileOf()
		part.Complete = false
		f.reviewAs(bot.Quiet, part)
		if f.threads[0].resolved {
			t.Error("resolved by a run that was cut off")
		}
		if r := f.reviewAs(bot.Quiet, f.fileOf()); r.Resolved != 1 || !f.threads[0].resolved {
			t.Errorf("%d resolved", r.Resolved)
		}
		f.reviewAs(bot.Quiet, f.fileOf())
		if n := strings.Count(strings.Join(f.requests, "\n"), "resolve"); n != 1 || len(f.threads[0].replies) > 0 {
			t.Errorf("resolved %d times, with replies %v", n, f.threads[0].replies)
		}
		// The race comes back, and so does the comment.
		f.commit(map[string]string{"bank.go": account + peek})
		f.reviewAs(bot.Reviewed, f.fileOf(race("bank.go", 18, "(*Account).Peek")))
		f.counts(2, 2)
	})
	t.Run("still suspected", func(t *testing.T) {
		f := withPeek(t)
		f.reviewAs(bot.Reviewed, f.fileOf(race("bank.go", 18, "(*Account).Peek")))
		f.commit(map[string]string{"bank.go": strings.Replace(account+peek, "// Peek", "// It", 1)})
		g := race("bank.go", 18, "(*Account).Peek")
		g.Status, g.Evidence = finding.Lead, nil
		if r := f.reviewAs(bot.Quiet, f.fileOf(g)); r.Resolved != 0 {
			t.Error("resolved, though it is still a lead")
		}
	})
	for name, prepare := range map[string]func(f *fake){
		"human reply":   func(f *fake) { f.threads[0].replies = []reply{{"why?", false}} },
		"may not solve": func(f *fake) { f.noSolve = true },
	} {
		t.Run(name, func(t *testing.T) {
			f := withPeek(t)
			f.reviewAs(bot.Reviewed, f.fileOf(race("bank.go", 18, "(*Account).Peek")))
			prepare(f)
			f.commit(map[string]string{"bank.go": mended})
			for range 3 {
				f.reviewAs(bot.Quiet, f.fileOf())
			}
			mine := slices.DeleteFunc(slices.Clone(f.threads[0].replies), func(r reply) bool { return !r.mine })
			if len(mine) != 1 || f.threads[0].resolved {
				t.Errorf("answers %v, resolved %t", mine, f.threads[0].resolved)
			}
		})
	}
}

// Point 15: nothing is written where nothing is new.
func TestSilentWhenClean(t *testing.T) {
	t.Parallel()
	f := withPeek(t)
	f.reviewAs(bot.Quiet, f.fileOf())
	suspected := race("bank.go", 18, "(*Account).Peek")
	suspected.Status, suspected.Evidence = finding.Suspected, nil
	f.reviewAs(bot.Quiet, f.fileOf(suspected))
	if len(f.requests) > 0 {
		t.Errorf("written: %v", f.requests)
	}
}
