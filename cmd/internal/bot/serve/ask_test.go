package serve

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

const bank = `package bank

import "sync"

type Account struct {
	mu      sync.Mutex
	balance int
	count   int
}

func (a *Account) Add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance += n
	a.count++
}
`

const getters = `
func (a *Account) Peek() int {
	return a.balance
}

func (a *Account) Count() int {
	return a.count
}
`

const bankTest = `package bank

import "testing"

func TestAccount(t *testing.T) {
	a := new(Account)
	a.Add(2)
	if a.Peek() != 2 || a.Count() != 1 {
		t.Error(a)
	}
}
`

// lock returns the patch of a getter at a line: it takes the lock.
func lock(function, field, line string) string {
	return "--- a/bank.go\n+++ b/bank.go\n@@ -" + line + ",3 +" + line + ",5 @@\n func (a *Account) " + function +
		"() int {\n+\ta.mu.Lock()\n+\tdefer a.mu.Unlock()\n \treturn a." + field + "\n }\n"
}

var (
	peekFix  = lock("Peek", "balance", "18")
	countFix = lock("Count", "count", "22")
)

// asks returns a host whose request adds getters with two races, each with a verified patch.
func asks(t *testing.T) *host {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	h := newHost(t, map[string]string{"go.mod": "module example.com/bank\n\ngo 1.21\n", "bank.go": bank},
		map[string]string{"bank.go": bank + getters, "bank_test.go": bankTest})
	h.findings = []*finding.Finding{shown("balance", 19, peekFix), shown("count", 23, countFix)}
	return h
}

// wants fails unless the job ended so, with so many answers in all, and the branch has so many commits more than main.
func (h *host) wants(end, prefix string, answers, commits int) {
	h.t.Helper()
	if !strings.HasPrefix(end, prefix) {
		h.t.Errorf("it ended as %q, want %q", end, prefix)
	}
	if len(h.answers) != answers {
		h.t.Errorf("%d answers, want %d: %q", len(h.answers), answers, h.answers)
	}
	if n := strings.Count(h.git(h.dir, "rev-list", "main..change")+"\n", "\n"); n != commits {
		h.t.Errorf("%d commits, want %d", n, commits)
	}
}

// patched reports which functions of the branch take the lock.
func (h *host) patched() string {
	h.t.Helper()
	text := h.git(h.dir, "show", "change:bank.go")
	var all []string
	for _, name := range []string{"Peek", "Count"} {
		if strings.Contains(text, name+"() int {\n\ta.mu.Lock()\n\tdefer a.mu.Unlock()\n") {
			all = append(all, name)
		}
	}
	return strings.Join(all, " ")
}

// A writer gets one commit with both patches, which names the findings; the same comment does nothing twice.
func TestApplied(t *testing.T) {
	t.Parallel()
	h := asks(t)
	h.trial = "real"
	h.review()
	head := h.head()
	h.wants(h.ask(1, "writer"), "Applied in ", 1, 2)
	if got := h.patched(); got != "Peek Count" {
		t.Errorf("patched: %s", got)
	}
	if parent := h.git(h.dir, "rev-parse", "change~1"); parent != head {
		t.Errorf("the commit is on %s, want %s", parent, head)
	}
	log := h.git(h.dir, "log", "-1", "--format=%an <%ae>%n%B", "change")
	for _, want := range []string{"bot <bot@example.com>", "Correct 2 concurrency bugs", "IL1001 at bank.go:19",
		"IL1001 at bank.go:23", "as writer has asked"} {
		if !strings.Contains(log, want) {
			t.Errorf("the message lacks %q:\n%s", want, log)
		}
	}
	if !strings.Contains(h.answers[0], h.head()) || strings.Contains(h.answers[0], "Not applied") {
		t.Errorf("the answer:\n%s", h.answers[0])
	}
	// A webhook of the same comment with another text finds the job done; a queue that was lost finds the answer.
	if ends := h.do(Job{Repository: "o/r", Number: 7, Comment: 1, Author: "writer"}); len(ends) != 0 {
		t.Errorf("it is done again: %q", ends)
	}
	h.queue = filepath.Join(t.TempDir(), "queue.db")
	h.wants(h.ask(1, "writer"), "answered before", 1, 2)
}

// A reader gets one answer in all, and nothing else happens.
func TestReaderRefused(t *testing.T) {
	t.Parallel()
	h := asks(t)
	h.review()
	h.wants(h.ask(1, "reader"), "Nothing was applied: only who may write", 1, 1)
	h.wants(h.ask(2, "reader"), "Nothing was applied: only who may write", 1, 1)
	h.wants(h.ask(3, "another"), "Nothing was applied: only who may write", 2, 1)
	h.wants(h.ask(4, "writer"), "Applied in ", 3, 2)
}

// Patches are taken of a review of the head alone: one that is not reviewed is reviewed first.
func TestHeadMoved(t *testing.T) {
	t.Parallel()
	h := asks(t)
	h.review()
	h.push("change", map[string]string{"README": "bank\n"})
	// Killed while it answers, it does not take the review for one that could be read before.
	h.onAnswer = func(string) error { return errors.New("killed") }
	h.wants(h.ask(1, "writer"), "killed", 0, 2)
	ends := h.do()
	if len(ends) != 1 {
		t.Fatalf("%q", ends)
	}
	h.wants(ends[0], "Nothing was applied: "+h.head()+" had not been reviewed", 1, 2)
	h.wants(h.ask(2, "writer"), "Applied in ", 2, 3)
	// It moves while the patches are tried.
	h = asks(t)
	h.review()
	var other string
	h.onSelf = func() { other = h.push("change", map[string]string{"README": "bank\n"}) }
	h.wants(h.ask(1, "writer"), "Nothing was applied: the branch has moved", 1, 2)
	if h.head() != other || count(h.answers, "```diff") > 0 {
		t.Errorf("%s, %q", h.head(), h.answers)
	}
	// It goes back to the commit before: the head that was reviewed does not come back.
	h = asks(t)
	h.push("change", map[string]string{"README": "bank\n"})
	h.review()
	h.onSelf = func() { h.git(h.dir, "update-ref", "refs/heads/change", "change~1") }
	h.wants(h.ask(1, "writer"), "Nothing was applied: the branch has moved", 1, 1)
}

// What is a draft, overlaps with another patch, or is not for Go source stays as it is, each with its reason.
func TestNotApplied(t *testing.T) {
	t.Parallel()
	const workflow = "--- a/.github/workflows/ci.yml\n+++ b/.github/workflows/ci.yml\n@@ -1,1 +1,2 @@\n on: push\n+# x\n"
	h := asks(t)
	h.push("change", map[string]string{".github/workflows/ci.yml": "on: push\n", "link.go": "->bank.go"})
	draft := shown("draft", 19, strings.Replace(peekFix, "defer", "// A draft.\n+\tdefer", 1))
	draft.Fix.Verdict, draft.Fix.Doubts = finding.Draft, []finding.Doubt{{Obligation: "waits", Text: "it may wait"}}
	h.findings = append(h.findings, draft, shown("workflow", 23, workflow), shown("both", 22, countFix+workflow),
		shown("link", 19, strings.ReplaceAll(peekFix, "bank.go", "link.go")),
		shown("overlap", 23, strings.Replace(countFix, "defer a.mu.Unlock()", "n := 0", 1)))
	h.review()
	head := h.head()
	h.wants(h.ask(1, "writer"), "Applied in ", 1, 3)
	for _, want := range []string{"on draft (IL1001, confirmed): its patch is a draft",
		"on workflow (IL1001, confirmed): its patch changes other files than Go source",
		"on both (IL1001, confirmed): its patch changes other files than Go source",
		"on link (IL1001, confirmed): its patch changes a file that is not there",
		"on overlap (IL1001, confirmed): its patch changes lines that another patch changes too"} {
		if !strings.Contains(h.answers[0], want) {
			t.Errorf("the answer lacks %q:\n%s", want, h.answers[0])
		}
	}
	if got := h.git(h.dir, "diff", "--name-only", head, "change"); got != "bank.go" || h.patched() != "Peek Count" {
		t.Errorf("changed: %q, patched: %q", got, h.patched())
	}
}

// Nothing is applied of patches that do not build or pass the tests together, nor to a request that is closed.
func TestNothingApplied(t *testing.T) {
	t.Parallel()
	h := asks(t)
	h.trial = "go test fails in example.com/bank"
	h.review()
	h.wants(h.ask(1, "writer"), "Nothing was applied: with all patches together, `go test fails in ex", 1, 1)
	h.closed = true
	h.wants(h.ask(2, "writer"), "Nothing was applied: the request is closed", 2, 1)
	h = asks(t)
	h.trial, h.findings[1].Fix.Diff = "real", strings.Replace(countFix, "a.mu.Lock()", "a.mu.Lok()", 1)
	h.review()
	h.wants(h.ask(1, "writer"), "Nothing was applied: with all patches together, `go build fails in ex", 1, 1)
}

// A patch that includes another one stands for both.
func TestIncluded(t *testing.T) {
	t.Parallel()
	h := asks(t)
	h.findings[1].Fix.Diff = peekFix + strings.TrimPrefix(strings.Replace(countFix, "+22", "+24", 1),
		"--- a/bank.go\n+++ b/bank.go\n")
	h.findings[1].Fix.Includes = []string{h.findings[0].ID}
	h.review()
	h.wants(h.ask(1, "writer"), "Applied in ", 1, 2)
	if got := h.patched(); got != "Peek Count" || strings.Contains(h.answers[0], "Not applied") {
		t.Errorf("patched: %q\n%s", got, h.answers)
	}
}

// A host that refuses the push gets the diff in the answer, once.
func TestPushRefused(t *testing.T) {
	t.Parallel()
	h := asks(t)
	h.review()
	hook := filepath.Join(h.dir, "hooks", "pre-receive")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.wants(h.ask(1, "writer"), "Nothing was applied: the branch cannot be pushed to: `pre-receive hook declined`", 1, 1)
	for _, want := range []string{"```diff\n", "+\tdefer a.mu.Unlock()\n \treturn a.balance\n"} {
		if !strings.Contains(h.answers[0], want) {
			t.Errorf("the answer lacks %q:\n%s", want, h.answers[0])
		}
	}
}
