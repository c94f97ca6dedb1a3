package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/bot"
	"github.com/interlock-go/interlock/cmd/internal/bot/branch"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// find returns the findings of the head of a request, and keeps them.
func (r *Reviewer) find(ctx context.Context, j Job, req *bot.Request) (*bot.File, error) {
	text, err := r.inSandbox(ctx, req, nil, "find", "-base="+branch.BaseRef)
	if err != nil {
		return nil, err
	}
	file, err := fileOf(text, req.Head)
	if err == nil {
		err = r.Queue.Keep(ctx, j, req.Head, text)
	}
	return file, err
}

// fileOf reads a file of findings, which has to be about a head.
func fileOf(text []byte, head string) (*bot.File, error) {
	file, _, err := bot.ReadFile(bytes.NewReader(text))
	if err == nil && file.Head != head {
		err = errors.New("the file of findings is about another commit")
	}
	return file, err
}

// inSandbox fetches a request into a temporary folder, runs a command of the bot there, and returns the file of
// findings that it writes. findings is the file that it reads, if there is one.
func (r *Reviewer) inSandbox(ctx context.Context, req *bot.Request, findings []byte, args ...string) ([]byte, error) {
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
	fetched, err := branch.Fetch(ctx, clone, r.Token, req)
	if err == nil {
		err = fetched.Checkout(ctx)
	}
	if err == nil && fetched.Head != req.Head { // a host may answer webhooks before git, or the request has moved on
		err = errors.New("git has another head than the request")
	}
	if err != nil {
		return nil, err
	}
	if findings != nil {
		in := filepath.Join(dir, findingsName)
		if err := os.WriteFile(in, findings, 0o644); err != nil {
			return nil, err
		}
		args = append(args, "-findings="+in)
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	if err := r.runSandboxed(ctx, clone, append(args, "-o="+filepath.Join(out, findingsName))...); err != nil {
		return nil, err
	}
	file, err := openFound(out)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, bot.MaxFile+1))
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

// passed are the variables that the process gets which runs the code of strangers.
var passed = []string{"PATH", "HOME", "TMPDIR", "LANG", "XDG_CACHE_HOME", "GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY",
	"GOFLAGS", "GOTOOLCHAIN", "GOROOT", "GONOSUMDB", "GOSUMDB", "GOPRIVATE", "CC", "CGO_ENABLED"}

// runSandboxed runs a command of this program in a folder, where the code of strangers may run. Of its output the end
// is kept.
func (r *Reviewer) runSandboxed(ctx context.Context, dir string, args ...string) error {
	args = slices.Concat(r.Find, []string{"bot"}, args)
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
		return fmt.Errorf("the command for the code of the request took longer than %v", r.Timeout)
	case err != nil:
		return fmt.Errorf("the command for the code of the request: %w: %s", err, report.Clean(tail(last.text)))
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
