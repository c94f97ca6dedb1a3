package serve

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/bot"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// Reviewer does jobs: it fetches the request, has another process find bugs, and posts the review. Its method Work is a
// [Worker].
type Reviewer struct {
	Forge func(ctx context.Context, repository string, number int) (bot.Forge, error)
	Token string // for git; the process that finds bugs does not get it
	// Find is the command that runs `interlock bot find`, behind the words that put it into a sandbox.
	Find    []string
	Timeout time.Duration // of that command
}

// Work reviews one head of a request.
func (r *Reviewer) Work(ctx context.Context, j Job) (note string, err error) {
	forge, err := r.Forge(ctx, j.Repository, j.Number)
	if err != nil {
		return "", err
	}
	req, err := forge.Request(ctx)
	switch {
	case errors.Is(err, bot.ErrNotFound):
		return "the request is gone", nil
	case err != nil:
		return "", err
	case !req.Open:
		return "closed", nil
	case req.Head != j.Head: // its own job follows
		return "superseded", nil
	}
	file, err := r.find(ctx, j, req)
	if err != nil {
		return "", err
	}
	res, err := bot.Review(ctx, forge, file, func(d time.Duration) { sleep(ctx, d) })
	if err != nil {
		return "", err
	}
	note = fmt.Sprintf("%s; %d comments, %d resolved, %d answered", res.Ending, len(res.Comments), res.Resolved,
		res.Answered)
	if !file.Complete {
		note += "; not all of it could be analysed and run"
	}
	return note, nil
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// find fetches the request into a temporary folder and returns the findings there.
func (r *Reviewer) find(ctx context.Context, j Job, req *bot.Request) (*bot.File, error) {
	dir, err := os.MkdirTemp("", "interlock-bot")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	// The sandbox may run as another user.
	clone, out := filepath.Join(dir, "clone"), filepath.Join(dir, "out")
	for _, d := range []string{dir, clone, out} {
		if err := errors.Join(os.MkdirAll(d, 0o777), os.Chmod(d, 0o777)); err != nil {
			return nil, err
		}
	}
	head, err := r.fetch(ctx, clone, j, req)
	if err == nil && head != j.Head { // a host may answer webhooks before git, or the request has moved on
		err = errors.New("git has another head than the request")
	}
	if err != nil {
		return nil, err
	}
	name := filepath.Join(out, findingsName)
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	if err := r.runFind(ctx, clone, name); err != nil {
		return nil, err
	}
	in, err := openFound(out)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	file, _, err := bot.ReadFile(in)
	if err == nil && file.Head != j.Head {
		err = errors.New("the file of findings is about another commit")
	}
	return file, err
}

// findingsName is the file of findings.
const findingsName = "findings.json"

// openFound opens the file that the process of strangers has left in a folder. A link leads nowhere else, and nobody
// waits for the other end of a pipe.
func openFound(dir string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(findingsName)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", findingsName)
	}
	return root.Open(findingsName)
}

// Names of what is fetched.
const (
	baseRef = "refs/interlock/base"
	headRef = "refs/interlock/head"
)

// fetch fetches the base and the head of a request, checks the head out, and returns its commit.
func (r *Reviewer) fetch(ctx context.Context, dir string, j Job, req *bot.Request) (string, error) {
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + r.Token))
	// The token is in the environment of git alone: it is in no file, and on no command line.
	env := append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=http."+req.Clone+".extraHeader", "GIT_CONFIG_VALUE_0=Authorization: Basic "+basic)
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", req.Clone, "+refs/heads/" + req.Base + ":" + baseRef,
			fmt.Sprintf("+refs/pull/%d/head:%s", j.Number, headRef)},
		{"checkout", "--quiet", "--detach", headRef},
	} {
		if _, err := git(ctx, dir, env, args...); err != nil {
			return "", err
		}
	}
	head, err := git(ctx, dir, env, "rev-parse", "HEAD")
	return strings.TrimSpace(head), err
}

// git runs git in a folder.
func git(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, report.Clean(tail(stderr.Bytes())))
	}
	return string(out), err
}

// passed are the variables that the process gets which runs the code of strangers.
var passed = []string{"PATH", "HOME", "TMPDIR", "LANG", "XDG_CACHE_HOME", "GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY",
	"GOFLAGS", "GOTOOLCHAIN", "GOROOT", "GONOSUMDB", "GOSUMDB", "GOPRIVATE", "CC", "CGO_ENABLED"}

// runFind runs the command that finds bugs. Of its output the end is kept.
func (r *Reviewer) runFind(ctx context.Context, dir, file string) error {
	args := append(slices.Clone(r.Find), "bot", "find", "-base="+baseRef, "-o="+file)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	// Its user need not be the owner of the clone.
	cmd.Env = []string{"PWD=" + dir, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(passed, name) {
			cmd.Env = append(cmd.Env, v)
		}
	}
	last := new(end)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, last, last
	gocmd.OwnGroup(cmd)
	cmd.Cancel = func() error {
		gocmd.EndGroup(cmd)
		return nil
	}
	cmd.WaitDelay = 10 * time.Second // a process of a test may keep its output open
	err := cmd.Run()
	if cmd.Process != nil {
		gocmd.EndGroup(cmd) // nobody is left who could change the file
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("finding bugs took longer than %v", r.Timeout)
	case err != nil:
		return fmt.Errorf("finding bugs: %w: %s", err, report.Clean(tail(last.text)))
	}
	return nil
}

// maxTail is how much of an output is kept.
const maxTail = 4 << 10

// end is a writer that keeps the end of its text.
type end struct{ text []byte }

// Write implements [io.Writer].
func (e *end) Write(b []byte) (int, error) {
	e.text = append(e.text, b[max(0, len(b)-maxTail):]...)
	e.text = e.text[max(0, len(e.text)-maxTail):]
	return len(b), nil
}

// maxSaid is how much of the last line of an output becomes part of an error.
const maxSaid = 300

// tail returns the end of a text's last line that is not empty.
func tail(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text[max(0, len(text)-maxTail):])), "\n")
	last := lines[len(lines)-1]
	return last[max(0, len(last)-maxSaid):]
}
