package github_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/bot"
	"github.com/interlock-go/interlock/cmd/internal/bot/branch"
)

// apply applies the patches of the file to the branch of the request, as if they had been tried together.
func (f *fake) apply(file *bot.File) *bot.Outcome {
	f.t.Helper()
	req, err := f.forge().Request(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	clone, err := branch.Fetch(f.t.Context(), f.t.TempDir(), "secret", req)
	if err != nil {
		f.t.Fatal(err)
	}
	posted, err := f.forge().Posted(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	outcome, err := branch.Apply(f.t.Context(), branch.Options{Forge: f.forge(), Clone: clone, File: file, Posted: posted,
		Time: time.Now(), Try: func(context.Context, *bot.Joint) (string, error) { return "", nil },
		Before: func(*bot.Outcome) error { return nil }})
	if err != nil {
		f.t.Fatal(err)
	}
	return outcome
}

// The patch that a review shows, as a suggestion or in its text, becomes a commit of the bot.
func TestApply(t *testing.T) {
	t.Parallel()
	for _, inBody := range []bool{false, true} {
		f := withPeek(t)
		f.git("update-ref", "refs/pull/7/head", "change")
		if inBody {
			f.hooks = []hook{{status: http.StatusUnprocessableEntity}}
		}
		file := f.fileOf(fixed(race("bank.go", 18, "(*Account).Peek"), peekFix))
		if o := f.apply(file); o.Commit != "" || len(o.Patched)+len(o.Left) > 0 { // nothing is posted yet
			t.Fatalf("%+v", o)
		}
		f.reviewAs(bot.Reviewed, file)
		// The branch is checked out in the fake, so that git refuses the push, as for a branch that is protected.
		o := f.apply(file)
		if o.Commit != "" || !strings.Contains(o.Text(), "cannot be pushed to") ||
			!strings.Contains(o.Text(), "```diff\n") {
			t.Errorf("the answer: %s", o.Text())
		}
		f.git("config", "receive.denyCurrentBranch", "ignore")
		o = f.apply(file)
		if o.Commit == "" || o.Commit != f.head() || len(o.Patched) != 1 {
			t.Fatalf("the answer: %s", o.Text())
		}
		if got := f.git("log", "-1", "--format=%an <%ae>"); got != "bot <41+bot@users.noreply.127.0.0.1>" {
			t.Errorf("the author is %s", got)
		}
		if text := f.git("show", "change:bank.go"); !strings.Contains(text, "Peek() int {\n\ta.mu.Lock()\n") {
			t.Errorf("the branch has\n%s", text)
		}
	}
}

// Only writers may ask; a host that does not say who they are is an error.
func TestMayWrite(t *testing.T) {
	t.Parallel()
	f := withPeek(t)
	f.roles = map[string]string{"a": "admin", "w": "write", "r": "read", "n": "none"}
	for _, user := range strings.Fields("a w r n nobody") {
		may, err := f.forge().MayWrite(t.Context(), user)
		if want := user == "a" || user == "w"; may != want || err != nil {
			t.Errorf("%s: %v, %v", user, may, err)
		}
	}
	f.readOnly = true
	if may, err := f.forge().MayWrite(t.Context(), "a"); may || err == nil {
		t.Errorf("%v, %v", may, err)
	}
}

// A comment is answered once: where the answer of the host is lost, and where a stranger has copied the marker.
func TestAnswerOnce(t *testing.T) {
	t.Parallel()
	f := withPeek(t)
	f.hooks = []hook{{status: http.StatusBadGateway, carry: true}, {status: http.StatusBadGateway}}
	post := func(r bot.Reply) {
		t.Helper()
		if err := r.Post(t.Context(), f.forge(), "text of the answer\n", func(time.Duration) {}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		for id := range int64(4) {
			post(bot.Reply{Comment: id + 1})
		}
		post(bot.Reply{Comment: 5, Refused: "reader"})
		post(bot.Reply{Comment: 6, Refused: "reader"})
	}
	isOther := func(c string) bool { return !strings.HasPrefix(c, "text of the answer") }
	if len(f.comments) != 5 || slices.ContainsFunc(f.comments, isOther) {
		t.Errorf("comments: %q", f.comments)
	}
}

// The whole is never more than what the review shows: a patch that was exchanged, or whose comment somebody has
// resolved, is left.
func TestShownAlone(t *testing.T) {
	t.Parallel()
	f := withPeek(t)
	f.git("update-ref", "refs/pull/7/head", "change")
	g := func() *finding.Finding { return fixed(race("bank.go", 18, "(*Account).Peek"), peekFix) }
	f.reviewAs(bot.Reviewed, f.fileOf(g()))
	other := g()
	other.Fix.Diff = strings.Replace(peekFix, "defer a.mu.Unlock()", "defer a.Add(1)", 1)
	if o := f.apply(f.fileOf(other)); o.Commit != "" || !strings.Contains(o.Text(), "not the one that the review shows") {
		t.Errorf("the answer: %s", o.Text())
	}
	f.threads[0].resolved = true
	if o := f.apply(f.fileOf(g())); o.Commit != "" || len(o.Patched)+len(o.Left) > 0 {
		t.Errorf("the answer: %s", o.Text())
	}
}
