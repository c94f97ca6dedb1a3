// Package testproc runs a test binary as `go test` does, and reads from its exit and its output
// how the tests went.
package testproc

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// Options say how a test binary is run.
type Options struct {
	Env     []string      // added to the environment; without any the monitor sleeps
	Leaks   string        // file for leaked goroutines; "" does not ask for them
	Timeout time.Duration // test timeout, which the tests can ask for; 0 is none
	NoAlarm bool          // the test timeout is kept from outside, so that the runtime finds deadlocks
	Limit   time.Duration // when it is ended from outside; 0 is never
	// Patience is how much longer than all before it tests may wait for each other while others wait for timers and the
	// network; 0 is as long as their timeout is.
	Patience time.Duration
	Live     io.Writer // gets the output while the process runs, if not nil
	Flags    []string  // of the tests, as the user has them
	Test     string    // that runs alone, or several with | in between; "" is all that Flags choose
}

// Process is a test binary that has run.
type Process struct {
	Outcome Outcome
	Output  []byte // standard output and standard error
	Crash   []byte // of it, how the runtime ended this process itself; nil where it did not: see [stacktext.Crash]
	Elapsed time.Duration
	Exit    int    // exit code, -1 if a signal ended it
	State   string // as the operating system reports it
	Killed  bool   // it did not end at its deadline
	CPU     time.Duration
	Err     error // it could not be run
	// CountsOnTime reports whether tests that failed read the clock; the caller sets it.
	CountsOnTime bool

	shown bool // the output was shown while it ran
	ours  bool // a time limit that ended it would be one of Interlock's
}

// Run runs a test binary as `go test` does: in the package's folder, with
// its arguments.
func Run(ctx context.Context, ws *build.Workspace, b build.Binary, o Options) *Process {
	alarm := o.Timeout
	if o.NoAlarm {
		alarm = 0
	}
	args := []string{"-test.paniconexit0", "-test.timeout=" + alarm.String()}
	flags := o.Flags
	if o.Test != "" {
		args = append(args, "-test.run=^("+o.Test+")$")
		flags = slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return strings.HasPrefix(f, "-test.run=") })
	}
	cmd := exec.Command(b.Path, slices.Concat(args, flags)...)
	cmd.Dir = b.Dir
	cmd.Env = slices.Concat(userEnv(ws, b.Dir), o.Env)
	if o.Leaks != "" {
		cmd.Env = append(cmd.Env, "INTERLOCK_LEAKS="+o.Leaks)
	}
	if o.Patience > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("INTERLOCK_PATIENCE=%d", o.Patience.Milliseconds()))
	}
	p := &Process{Exit: -1, shown: o.Live != nil}
	// The crash output of the process itself is kept apart.
	last, err := newLastWords(ws.Dir)
	if err != nil {
		p.Err = err
		return p
	}
	defer last.remove()
	cmd.Env = append(cmd.Env, "INTERLOCK_CRASH="+last.file, fmt.Sprintf("INTERLOCK_PARENT=%d", os.Getpid()))
	out := &child.Output{Live: o.Live}
	if p.Killed, p.Elapsed, p.Err = child.Run(ctx, cmd, out, o.deadline()); p.Err != nil {
		return p
	}
	p.Output = out.Bytes()
	if p.Crash, p.Err = last.read(p.Output); p.Err != nil {
		return p
	}
	p.Exit = cmd.ProcessState.ExitCode()
	p.State = cmd.ProcessState.String()
	p.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	p.ours = len(o.Env) > 0 || p.Killed && o.deadline() == o.Limit
	p.Outcome = classify(p)
	return p
}

// lastWords is a file that the monitor has the runtime copy its last words to: see package crash below dynamic/rt.
type lastWords struct{ file string }

// newLastWords makes the file in dir, a workspace's folder: the file of a killed process is removed with the folder.
func newLastWords(dir string) (lastWords, error) {
	f, err := os.CreateTemp(dir, "crash-")
	if err != nil {
		return lastWords{}, err
	}
	return lastWords{f.Name()}, f.Close()
}

// read returns how the runtime ended the process that has this file and has printed output. A process without the
// monitor, or with an old runtime, leaves no copy.
func (l lastWords) read(output []byte) (text []byte, err error) {
	if text, err = os.ReadFile(l.file); err != nil {
		return nil, err
	}
	own := keptLine.ReplaceAll(text, nil) // a process that has replaced itself by another program has begun twice
	return stacktext.Crash(output, own, len(text) > 0), nil
}

// keptLine is the line of a process that will keep a copy.
var keptLine = regexp.MustCompile(`(?m)^kept\n`)

func (l lastWords) remove() { os.Remove(l.file) }

// refusal matches the error of package flag or package testing about a flag before they end the process; verdict
// matches the output of tests that have begun.
var (
	refusal = regexp.MustCompile(`(?m)^(?:testing: )?((flag provided but not defined: -\S+)|` +
		`flag needs an argument: -.*|invalid (?:boolean )?value .* for (?:flag )?-.*|invalid regexp for .*|` +
		`-(?:parallel|shuffle) .*)$`)
	verdict = regexp.MustCompile(`(?m)^(--- )?FAIL`)
)

// RefusedFlag returns an error, in the words of package testing, if the test binary has refused one of the flags: each
// run would end like that.
func (p *Process) RefusedFlag(pkg string, flags []string) error {
	m := refusal.FindSubmatch(p.Output)
	if m == nil || len(flags) == 0 || p.Exit != 1 && p.Exit != 2 || p.Crash != nil || verdict.Match(p.Output) {
		return nil
	}
	next := "correct it behind --"
	if len(m[2]) > 0 {
		next = "leave it out behind --, or name the packages whose tests declare it"
	}
	said := strings.ReplaceAll(string(m[1]), "-test.", "-")
	return gocmd.Refuse(fmt.Sprintf("the tests of %s refuse a flag: %s", pkg, said), next)
}

// deadline is when a process is ended from outside: at its limit, or when it
// has not ended itself at its own timeout. 0 is never.
func (o *Options) deadline() time.Duration {
	deadline := o.Limit
	if own := o.Timeout + child.Grace; o.Timeout > 0 && (deadline == 0 || own < deadline) {
		deadline = own
	}
	return deadline
}

// Settle waits a moment where the process ended by a signal: a Ctrl-C, which reaches the
// tests as well, has the time to reach ctx too, so that tests ended by it do not look as if
// they had crashed.
func (p *Process) Settle(ctx context.Context) {
	if p.Exit >= 0 || p.Killed {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(200 * time.Millisecond):
	}
}

// userEnv is the environment that `go test` passes to a test binary.
func userEnv(ws *build.Workspace, dir string) []string {
	env := slices.DeleteFunc(ws.UserEnv(), func(v string) bool { return strings.HasPrefix(v, "INTERLOCK_") })
	path := filepath.Join(ws.GoRoot(), "bin")
	for _, v := range env {
		if name, value, _ := strings.Cut(v, "="); strings.EqualFold(name, "PATH") {
			path += string(os.PathListSeparator) + value
		}
	}
	return append(env, "PATH="+path, "PWD="+dir)
}

// Share is how much of one processor the process has used, on average.
func (p *Process) Share() float64 { return p.CPU.Seconds() / max(p.Elapsed.Seconds(), 1e-6) }
