package serve

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// A server that is killed at any moment makes one commit, and answers once.
func TestKilledWhileApplying(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")
	for name, prepare := range map[string]func(h *host){
		"before the push": func(h *host) {
			h.onSelf = func() {
				if err := os.Rename(h.dir, h.dir+"x"); err != nil {
					h.t.Fatal(err)
				}
			}
		},
		"behind the push": func(h *host) { h.onAnswer = func(string) error { return killed } },
		"behind the answer": func(h *host) {
			h.onAnswer = func(body string) error {
				h.answers = append(h.answers, body)
				return killed
			}
		},
		"behind the push, and the branch goes on": func(h *host) {
			h.onAnswer = func(string) error {
				h.git(h.work, "fetch", "-q", h.dir, "change")
				h.git(h.work, "reset", "-q", "--hard", "FETCH_HEAD")
				h.push("change", nil)
				return killed
			}
		},
		"behind the push, and the host is slow": func(h *host) {
			h.onAnswer = func(string) error {
				h.git(h.dir, "update-ref", "--no-deref", "refs/pull/7/head", "change~1")
				return killed
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if !isLong && name != "before the push" && name != "behind the push" {
				t.Skip("only in make long")
			}
			t.Parallel()
			h := asks(t)
			h.review()
			prepare(h)
			first := h.ask(1, "writer")
			if _, err := os.Stat(h.dir + "x"); err == nil {
				if err := os.Rename(h.dir+"x", h.dir); err != nil {
					t.Fatal(err)
				}
			}
			if strings.HasPrefix(first, "Applied") {
				t.Fatalf("it was not killed: %s", first)
			}
			for range 3 {
				h.do()
			}
			commits := h.git(h.dir, "log", "--format=%ae", "main..change")
			if strings.Count(commits, "bot@example.com") != 1 {
				t.Errorf("commits:\n%s", commits)
			}
			if len(h.answers) != 1 || !strings.HasPrefix(h.answers[0], "Applied in ") || h.patched() != "Peek Count" {
				t.Errorf("answers: %q", h.answers)
			}
		})
	}
}

// Without the findings of a review that another process has posted, the first step is done again.
func TestReviewedElsewhere(t *testing.T) {
	t.Parallel()
	h := asks(t)
	h.review()
	h.queue = filepath.Join(t.TempDir(), "queue.db")
	h.wants(h.ask(1, "writer"), "Applied in ", 1, 2)
}

// A comment is answered once, however often a webhook delivers it.
func TestRepeatedWebhook(t *testing.T) {
	t.Parallel()
	h := asks(t)
	h.review()
	works := make(chan string, 10)
	r := &Reviewer{Find: h.commands(), Timeout: time.Minute,
		Forge: func(context.Context, string, int) (bot.Forge, error) { return h, nil }}
	url, q := start(t, func(ctx context.Context, j Job) (string, error) {
		note, err := r.Work(ctx, j)
		works <- fmt.Sprint(note, err)
		return note, err
	})
	r.Queue = q
	text := asked("created", 7, 1, "writer", "/interlock apply\nplease")
	for i, want := range []int{http.StatusAccepted, http.StatusConflict, http.StatusConflict} {
		if got := deliver(t, url, "issue_comment", text, secret); got != want {
			t.Errorf("delivery %d: %d, want %d", i, got, want)
		}
	}
	await(t, q, done, 1)
	// Another text about the same comment, as of a second hook.
	if got := deliver(t, url, "issue_comment", text+" ", secret); got != http.StatusAccepted {
		t.Errorf("%d", got)
	}
	await(t, q, done, 1)
	if len(works) != 1 {
		t.Errorf("%d jobs", len(works))
	}
	h.wants(<-works, "Applied in ", 1, 2)
}

// A queue of an earlier version keeps its jobs.
func TestOldQueue(t *testing.T) {
	name := filepath.Join(t.TempDir(), "queue.db")
	db, err := sql.Open("sqlite", name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`CREATE TABLE deliveries (digest TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT;
		CREATE TABLE jobs (
			id INTEGER PRIMARY KEY, repository TEXT NOT NULL, number INTEGER NOT NULL, head TEXT NOT NULL,
			state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL, note TEXT NOT NULL DEFAULT '',
			UNIQUE (repository, number, head)) STRICT;
		CREATE INDEX jobs_due ON jobs (state, due);
		INSERT INTO jobs (repository, number, head, state, due) VALUES ('o/r', 7, 'abc', 'running', 1)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		q, err := Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if j, ok, err := q.Take(t.Context()); !ok || err != nil || j.Head != "abc" || j.Comment != 0 {
			t.Errorf("%+v, %v, %v", j, ok, err)
		}
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
