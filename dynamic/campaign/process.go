package campaign

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

const defaultTimeout = 10 * time.Minute // as `go test`

// PlainTimeout returns the deadline that `go test` makes of a Config.Timeout; 0
// is none.
func PlainTimeout(timeout time.Duration) time.Duration {
	if timeout == 0 {
		return defaultTimeout
	}
	return max(timeout, 0)
}

// processOptions say how a test binary is run.
type processOptions struct {
	vars     []string      // added to the environment; without any the monitor sleeps
	leaks    string        // file for leaked goroutines; "" does not ask for them
	timeout  time.Duration // test timeout, which the tests can ask for; 0 is none
	limit    time.Duration // when it is ended from outside; 0 is never
	live     bool          // show what it prints while it runs
	leaveOut []string      // tests not to run
	test     string        // that runs alone, or several with | in between; "" is all
}

// process is a test binary that has run.
type process struct {
	outcome Outcome
	output  []byte // standard output and standard error
	shown   bool   // the output was shown while it ran
	elapsed time.Duration
	exit    int    // exit code, -1 if a signal ended it
	state   string // as the operating system reports it
	killed  bool   // it did not end at its deadline
	ours    bool   // a time limit that ended it would be one of Interlock's
	cpu     time.Duration
	err     error // it could not be run
	// countsOnTime reports whether tests that failed read the clock
	countsOnTime bool
}

// execute runs a test binary as `go test` does: in the package's folder, with
// its arguments.
func (c *campaign) execute(ctx context.Context, b build.Binary, o processOptions) *process {
	args := []string{"-test.paniconexit0", "-test.timeout=" + o.timeout.String()}
	flags := c.without(o.leaveOut)
	if o.test != "" {
		args = append(args, "-test.run=^("+o.test+")$")
		flags = slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return strings.HasPrefix(f, "-test.run=") })
	}
	out := new(child.Output)
	if o.live {
		out.Live = c.cfg.Stdout
	}
	cmd := exec.Command(b.Path, slices.Concat(args, flags)...)
	cmd.Dir = b.Dir
	cmd.Env = slices.Concat(c.userEnv(b.Dir), o.vars)
	if o.leaks != "" {
		cmd.Env = append(cmd.Env, "INTERLOCK_LEAKS="+o.leaks, fmt.Sprintf("INTERLOCK_PARENT=%d", os.Getpid()))
	}
	p := &process{exit: -1, shown: out.Live != nil}
	if p.killed, p.elapsed, p.err = child.Run(ctx, cmd, out, o.deadline()); p.err != nil {
		return p
	}
	p.output = out.Bytes()
	p.exit = cmd.ProcessState.ExitCode()
	p.state = cmd.ProcessState.String()
	p.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	p.ours = len(o.vars) > 0 || p.killed && o.deadline() == o.limit
	p.outcome = classify(p)
	return p
}

var unknownFlag = regexp.MustCompile(`^flag provided but not defined: (-\S+)\n`)

// unknownFlag returns an error if the test binary has refused one of its flags:
// each run would end like that.
func (p *process) unknownFlag(pkg string) error {
	m := unknownFlag.FindSubmatch(p.output)
	if m == nil || p.exit != 2 {
		return nil
	}
	return gocmd.Refuse(fmt.Sprintf("the tests of %s know no flag %s", pkg, m[1]), "leave it out behind --, or name the packages whose tests declare it")
}

// deadline is when a process is ended from outside: at its limit, or when it
// has not ended itself at its own timeout. 0 is never.
func (o *processOptions) deadline() time.Duration {
	deadline := o.limit
	if own := o.timeout + child.Grace; o.timeout > 0 && (deadline == 0 || own < deadline) {
		deadline = own
	}
	return deadline
}

// settle returns a Ctrl-C, which reaches the tests as well, the time to reach
// ctx too, so that tests ended by it do not look as if they had crashed.
func settle(ctx context.Context, p *process) {
	if p.exit >= 0 || p.killed {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(200 * time.Millisecond):
	}
}

// userEnv is the environment that `go test` passes to a test binary.
func (c *campaign) userEnv(dir string) []string {
	env := slices.DeleteFunc(c.cfg.Workspace.UserEnv(), func(v string) bool { return strings.HasPrefix(v, "INTERLOCK_") })
	path := filepath.Join(c.cfg.Workspace.GoRoot(), "bin")
	for _, v := range env {
		if name, value, _ := strings.Cut(v, "="); strings.EqualFold(name, "PATH") {
			path += string(os.PathListSeparator) + value
		}
	}
	return append(env, "PATH="+path, "PWD="+dir)
}
