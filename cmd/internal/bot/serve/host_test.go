package serve

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/bot"
	"github.com/interlock-go/interlock/cmd/internal/bot/find"
)

// host is a forge over a real git repository, with request 7 of branch change.
type host struct {
	t        *testing.T
	dir      string // the repository, which is bare
	work     string // a clone of it
	queue    string
	writers  []string
	closed   bool
	threads  []bot.Thread
	bodies   []string
	answers  []string
	onSelf   func()             // runs once, before the commit is made
	onAnswer func(string) error // takes one answer in place of the host
	findings []*finding.Finding // that the first step finds on each head
	trial    string             // its result in place of a real one; "real" is that
}

// newHost returns a host whose branch main has a module, and branch change other texts of its files.
func newHost(t *testing.T, main, change map[string]string) *host {
	h := &host{t: t, dir: filepath.Join(t.TempDir(), "r.git"), work: t.TempDir(), writers: []string{"writer"},
		queue: filepath.Join(t.TempDir(), "queue.db")}
	h.git(h.work, "init", "-q", "-b", "main")
	h.git(h.work, "init", "-q", "--bare", "-b", "main", h.dir)
	h.git(h.dir, "symbolic-ref", "refs/pull/7/head", "refs/heads/change")
	h.push("main", main)
	h.push("change", change)
	return h
}

func (h *host) git(dir string, args ...string) string {
	h.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// push commits files on top of what was pushed last, and pushes that onto a branch. A text that begins with -> is a
// link.
func (h *host) push(branch string, files map[string]string) string {
	h.t.Helper()
	for name, text := range files {
		name = filepath.Join(h.work, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			h.t.Fatal(err)
		}
		err := os.WriteFile(name, []byte(text), 0o644)
		if target, ok := strings.CutPrefix(text, "->"); ok {
			os.Remove(name)
			err = os.Symlink(target, name)
		}
		if err != nil {
			h.t.Fatal(err)
		}
	}
	h.git(h.work, "add", "-A")
	h.git(h.work, "commit", "-q", "--allow-empty", "-m", "c")
	h.git(h.work, "push", "-q", "-f", h.dir, "HEAD:refs/heads/"+branch)
	return h.git(h.work, "rev-parse", "HEAD")
}

func (h *host) head() string { return h.git(h.dir, "rev-parse", "change") }

func (h *host) Request(context.Context) (*bot.Request, error) {
	return &bot.Request{Number: 7, Head: h.git(h.dir, "rev-parse", "refs/pull/7/head"), Open: !h.closed, Base: "main",
		Clone: h.dir, Source: bot.Branch{Clone: h.dir, Name: "change"}}, nil
}

func (h *host) Diff(context.Context) (bot.Diff, error) {
	return bot.ParseDiff(h.git(h.dir, "diff", "main...change"))
}

func (h *host) Text(_ context.Context, commit, path string) (string, error) {
	return h.git(h.dir, "cat-file", "blob", commit+":"+path) + "\n", nil
}

func (h *host) Posted(context.Context) (*bot.Posted, error) {
	return &bot.Posted{Threads: slices.Clone(h.threads), Bodies: slices.Clone(h.bodies)}, nil
}

func (h *host) Post(_ context.Context, _, body string, comments []bot.Comment) error {
	h.bodies = append(h.bodies, body)
	for _, c := range comments {
		h.threads = append(h.threads, bot.Thread{ID: fmt.Sprint(len(h.threads)), Path: c.Path, Body: c.Body})
	}
	return nil
}

func (h *host) Resolve(_ context.Context, t bot.Thread) error {
	for i := range h.threads {
		if h.threads[i].ID == t.ID {
			h.threads[i].Resolved, h.threads[i].ByBot = true, true
		}
	}
	return nil
}

func (h *host) Reply(context.Context, bot.Thread, string) error { return nil }
func (h *host) Abilities() bot.Abilities                        { return bot.Abilities{} }

func (h *host) Answers(context.Context) ([]string, error) { return slices.Clone(h.answers), nil }

func (h *host) Answer(_ context.Context, body string) error {
	if f := h.onAnswer; f != nil {
		h.onAnswer = nil
		return f(body)
	}
	h.answers = append(h.answers, body)
	return nil
}

func (h *host) MayWrite(_ context.Context, user string) (bool, error) {
	return slices.Contains(h.writers, user), nil
}

func (h *host) Self(context.Context) (bot.Author, error) {
	if f := h.onSelf; f != nil {
		h.onSelf = nil
		f()
	}
	return bot.Author{Name: "bot", Address: "bot@example.com"}, nil
}

// do does all jobs that are due, with a queue that is opened for them: a job that a server was working on when it was
// killed is one of them. It returns the notes and errors.
func (h *host) do(jobs ...Job) (ends []string) {
	h.t.Helper()
	q, err := Open(h.t.Context(), h.queue)
	if err != nil {
		h.t.Fatal(err)
	}
	defer q.Close()
	for _, j := range jobs {
		if _, err := q.Add(h.t.Context(), fmt.Sprint(time.Now().UnixNano()), j); err != nil {
			h.t.Fatal(err)
		}
	}
	r := &Reviewer{Queue: q, Find: h.commands(), Timeout: 5 * time.Minute,
		Forge: func(context.Context, string, int) (bot.Forge, error) { return h, nil }}
	for {
		j, ok, err := q.Take(h.t.Context())
		if err != nil {
			h.t.Fatal(err)
		}
		if !ok {
			return ends
		}
		note, err := r.Work(h.t.Context(), j)
		if err != nil { // as if the server was killed
			ends = append(ends, err.Error())
			continue
		}
		ends = append(ends, note)
		if err := q.Finish(h.t.Context(), j, note); err != nil {
			h.t.Fatal(err)
		}
	}
}

// review does the job of the head.
func (h *host) review() {
	h.t.Helper()
	if ends := h.do(Job{Repository: "o/r", Number: 7, Head: h.head()}); len(ends) != 1 {
		h.t.Fatalf("%q", ends)
	}
}

// ask does the job of a comment, and returns how it ended.
func (h *host) ask(comment int64, author string) string {
	h.t.Helper()
	ends := h.do(Job{Repository: "o/r", Number: 7, Comment: comment, Author: author})
	if len(ends) != 1 {
		h.t.Fatalf("%q", ends)
	}
	return ends[0]
}

// commands returns the command in place of interlock: find writes the findings, and try a result.
func (h *host) commands() []string {
	h.t.Helper()
	dir := h.t.TempDir()
	file := filepath.Join(dir, "findings.json")
	if err := (&bot.File{Version: bot.FileVersion, Base: h.git(h.dir, "rev-parse", "main"), Head: h.head(), Complete: true,
		Findings: h.findings}).Write(file); err != nil {
		h.t.Fatal(err)
	}
	script := filepath.Join(dir, "interlock")
	text := fmt.Sprintf(`set -eu
		case "$2" in
		find) exec cp %q "${4#-o=}" ;;
		try) export SERVE_TEST_TRY=%q; exec %q "$@" ;;
		esac`, file, cmp.Or(h.trial, "passed"), os.Args[0])
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		h.t.Fatal(err)
	}
	return []string{"sh", script}
}

// tryChild is the process that tries patches together: bot try. Only a real trial runs the code.
func tryChild(args []string, result string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
	}
	fs := flag.NewFlagSet("try", flag.ExitOnError)
	only, findings, out := fs.String("only", "", ""), fs.String("findings", "", ""), fs.String("o", "", "")
	fail(fs.Parse(args[2:]))
	data, err := os.ReadFile(*findings)
	fail(err)
	file, _, err := bot.ReadFile(bytes.NewReader(data))
	fail(err)
	ids := strings.Split(*only, ",")
	if result == "real" {
		fail(find.Try(context.Background(), ".", file, find.TryOptions{Only: ids, Note: func(string) {}}))
	} else {
		joint := new(bot.Joint)
		for _, f := range file.Findings {
			if slices.Contains(ids, f.ID) {
				joint.Patched = append(joint.Patched, f)
			}
		}
		file.Tried = &bot.Tried{Patches: joint.Patches(), Failed: strings.TrimPrefix(result, "passed")}
	}
	fail(bot.WriteTrial(*out, data, file.Tried))
}

// shown returns a confirmed finding with a verified patch.
func shown(variable string, line int, diff string) *finding.Finding {
	f := &finding.Finding{Version: finding.SchemaVersion, Code: "IL1001", Status: finding.Confirmed,
		Title:    "Data race on " + variable,
		Variable: finding.Variable{Package: "example.com/bank", Type: "Account" + variable, Name: variable, Kind: "field"},
		Accesses: []finding.Access{{Position: finding.Position{File: "bank.go", Line: line, Column: 2},
			Package: "example.com/bank", Function: "f", Expr: variable, Mode: finding.Write}},
		Evidence: &finding.Evidence{Engine: "watch", Run: 1, Runs: 2, Hits: 1},
		Fix:      &finding.Fix{Strategy: "guard", Verdict: finding.Verified, Diff: diff}}
	f.ID = f.ComputeID()
	return f
}

// count returns how often texts have a part.
func count(texts []string, part string) (n int) {
	for _, text := range texts {
		n += strings.Count(text, part)
	}
	return n
}
