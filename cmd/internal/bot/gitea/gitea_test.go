package gitea_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/bot"
	"github.com/interlock-go/interlock/cmd/internal/bot/gitea"
)

// account is a module to which a request adds peek, which reads without the lock.
const (
	account = `package bank

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
	peek = `
// Peek returns the balance.
func (a *Account) Peek() int {
	return a.balance
}
`
	mended = `
// Peek returns the balance.
func (a *Account) Peek() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.balance
}
`
)

// race returns the confirmed race of Peek.
func race() *finding.Finding {
	access := func(line int, function, expr string, mode finding.Mode) finding.Access {
		return finding.Access{Position: finding.Position{File: "bank.go", Line: line, Column: 2}, Package: "example.com/bank",
			Function: function, Expr: expr, Mode: mode}
	}
	f := &finding.Finding{Version: finding.SchemaVersion, Code: "IL1001", Status: finding.Confirmed,
		Title:    "Data race on bank.Account.balance",
		Variable: finding.Variable{Package: "example.com/bank", Type: "Account", Name: "balance", Kind: "field"},
		Accesses: []finding.Access{access(18, "(*Account).Peek", "a.balance", finding.Read),
			access(13, "(*Account).Add", "a.balance += n", finding.Write)},
		Evidence: &finding.Evidence{Engine: "watch", Run: 1, Runs: 10, Hits: 4},
		Fix: &finding.Fix{Strategy: "guard", Verdict: finding.Verified, Diff: "--- a/bank.go\n+++ b/bank.go\n" +
			"@@ -17,3 +17,5 @@\n func (a *Account) Peek() int {\n+\ta.mu.Lock()\n+\tdefer a.mu.Unlock()\n" +
			" \treturn a.balance\n }\n"}}
	f.ID = f.ComputeID()
	return f
}

// fileOf returns the file of findings on a head, as the second step reads it.
func fileOf(t *testing.T, head string, findings ...*finding.Finding) *bot.File {
	t.Helper()
	data, err := json.Marshal(bot.File{Version: bot.FileVersion, Base: head, Head: head, Complete: true,
		Findings: findings})
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := bot.ReadFile(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestServer reviews a request on a real Gitea: the finding is posted once, with the diff of its patch; a push that
// mends it resolves the comment, or answers a person once; a push without a change posts nothing.
func TestServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := startServer(t)
	s.push("main", map[string]string{"go.mod": "module example.com/bank\n\ngo 1.21\n", "bank.go": account})
	head := s.push("change", map[string]string{"bank.go": account + peek})
	n := s.open()
	review := func(want bot.Ending, file *bot.File) *bot.Result {
		t.Helper()
		forge, err := gitea.New(t.Context(), s.url, s.token, "owner/bank", n)
		if err != nil {
			t.Fatal(err)
		}
		r, err := bot.Review(t.Context(), forge, file, time.Sleep)
		if err != nil || r.Ending != want {
			t.Fatalf("%+v, %v; want %q", r, err, want)
		}
		return r
	}
	review(bot.Quiet, fileOf(t, head))
	review(bot.Superseded, fileOf(t, strings.Repeat("0", 40), race()))
	review(bot.Reviewed, fileOf(t, head, race()))
	review(bot.Quiet, fileOf(t, head, race()))
	comments := s.comments(n)
	if len(comments) != 1 || comments[0].Path != "bank.go" || comments[0].LineNum != 18 ||
		!strings.Contains(comments[0].Body, "```diff\n") || strings.Contains(comments[0].Body, "```suggestion") {
		t.Fatalf("comments: %+v", comments)
	}
	// Without a change of the file, a race that is not shown again is not gone.
	head = s.push("change", nil)
	if r := review(bot.Quiet, fileOf(t, head)); r.Resolved+r.Answered > 0 {
		t.Errorf("resolved, though nothing has changed")
	}
	head = s.push("change", map[string]string{"bank.go": account + mended})
	if r := review(bot.Quiet, fileOf(t, head)); r.Resolved != 1 {
		t.Errorf("%d resolved, %d answered", r.Resolved, r.Answered)
	}
	if c := s.comments(n); len(c) != 1 || c[0].Resolver == nil || c[0].Resolver.UserName != "bot" {
		t.Errorf("comments: %+v", c)
	}
	// It comes back, a person asks, and it goes.
	head = s.push("change", map[string]string{"bank.go": account + peek})
	review(bot.Reviewed, fileOf(t, head, race()))
	if _, _, err := s.other.CreatePullReview("owner", "bank", int64(n), sdk.CreatePullReviewOptions{
		State:    sdk.ReviewStateComment,
		Comments: []sdk.CreatePullReviewComment{{Path: "bank.go", Body: "why?", NewLineNum: 18}},
	}); err != nil {
		t.Fatal(err)
	}
	head = s.push("change", map[string]string{"bank.go": account + mended})
	for i := range 3 {
		r := review(bot.Quiet, fileOf(t, head))
		if want := max(0, 1-i); r.Answered != want || r.Resolved != 0 {
			t.Errorf("review %d: %d answered, %d resolved", i, r.Answered, r.Resolved)
		}
	}
	if err := s.close(n); err != nil {
		t.Fatal(err)
	}
	review(bot.Closed, fileOf(t, head, race()))
}

// comments returns the comments on lines of a request that the bot has begun.
func (s *server) comments(n int) (all []*sdk.PullReviewComment) {
	s.t.Helper()
	reviews, _, err := s.owner.ListPullReviews("owner", "bank", int64(n), sdk.ListPullReviewsOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range reviews {
		comments, _, err := s.owner.ListPullReviewComments("owner", "bank", int64(n), r.ID)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, c := range comments {
			if c.Reviewer.UserName == "bot" && !bot.IsAnswer(c.Body) {
				all = append(all, c)
			}
		}
	}
	return all
}

func (s *server) close(n int) error {
	closed := sdk.StateClosed
	_, _, err := s.owner.EditPullRequest("owner", "bank", int64(n), sdk.EditPullRequestOption{State: &closed})
	return err
}
