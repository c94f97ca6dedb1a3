package serve

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// local is a request in a repository on disk.
type local struct {
	paper
	clone, head string
}

func (l *local) Request(context.Context) (*bot.Request, error) {
	return &bot.Request{Number: l.number, Head: l.head, Open: true, Base: "main", Clone: l.clone}, nil
}

// TestReviewer does jobs with commands in place of the first step: one that works, and some of strangers.
func TestReviewer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	t.Setenv("INTERLOCK_TOKEN", "token-of-the-bot")
	t.Setenv("INTERLOCK_WEBHOOK_SECRET", "secret-of-the-hook")
	output := "50000000"
	if isLong {
		output = "1000000000"
	}
	dir := t.TempDir()
	sh := func(script string) string {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	head := sh("git init -q -b main; git commit -q --allow-empty -m a; git checkout -q -b change; " +
		"echo 'package a' >a.go; " +
		"git add .; git commit -q -m b; git update-ref refs/pull/7/head HEAD; git rev-parse HEAD")
	base := sh("git rev-parse main")
	// The command gets: bot find -base=REF -o=FILE.
	good := `[ "$1 $2 $(git rev-parse "${3#-base=}")" = "bot find ` + base + `" ]; [ -f a.go ];
		printf '{"version":1,"base":"` + base + `","head":"` + head + `","complete":true}' >"${4#-o=}"`
	for _, c := range []struct {
		name, script, want, fails string
	}{
		{"good", good, "nothing to post", ""},
		{"no secrets", good + `; ! env | grep -e token-of -e secret-of; ! grep -r token-of .git`, "nothing to post", ""},
		{"fails", "echo no such thing >&2; exit 3", "", "no such thing"},
		{"hangs", "sleep 60 & sleep 60", "", "took longer than"},
		{"much output", "head -c " + output + " /dev/zero; exit 1", "", "exit status 1"},
		{"commands", `printf '\n::error::x\n\033[31mred'; exit 1`, "", `\x1b[31mred`},
		{"no file", "true", "", "findings.json"},
		{"no JSON", `echo x >"${4#-o=}"`, "", "not one of"},
		{"another head", strings.ReplaceAll(good, head, base), "", "another commit"},
		{"a link", `ln -s /etc/passwd "${4#-o=}"`, "", "no file"},
		{"a pipe", `mkfifo "${4#-o=}"`, "", "no file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := filepath.Join(t.TempDir(), "find")
			if err := os.WriteFile(script, []byte("set -eu\n"+c.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			queue, err := Open(t.Context(), filepath.Join(t.TempDir(), "queue.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer queue.Close()
			r := &Reviewer{Queue: queue, Find: []string{"sh", script}, Token: "token-of-the-bot", Timeout: 20 * time.Second,
				Forge: func(context.Context, string, int) (bot.Forge, error) {
					return &local{paper{t.TempDir(), 7}, dir, head}, nil
				}}
			if c.name == "hangs" {
				r.Timeout = time.Second
			}
			begin := time.Now()
			note, err := r.Work(t.Context(), Job{Repository: "o/r", Number: 7, Head: head})
			switch {
			case c.fails == "" && err != nil:
				t.Error(err)
			case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
				t.Errorf("error %v, want %q", err, c.fails)
			case !strings.HasPrefix(note, c.want):
				t.Errorf("%q, want %q", note, c.want)
			case err != nil && (len(err.Error()) > 2*maxTail || strings.Contains(err.Error(), "\n")):
				t.Errorf("a long error: %q", err)
			}
			if d := time.Since(begin); d > 30*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
	r := &Reviewer{Forge: func(context.Context, string, int) (bot.Forge, error) { return &local{head: head}, nil }}
	note, err := r.Work(t.Context(), Job{Repository: "o/r", Number: 7, Head: base})
	if note != "superseded" || err != nil {
		t.Errorf("%q, %v", note, err)
	}
}
