// Package cli holds the commands of interlock: it reads flags, wires the
// rooms of the house together, and turns their results into a report and
// an exit code. Only this package and the report package write to the user.
//
// Results go to standard output, progress and problems to standard error.
// The exit codes are in one table, exitCodes.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/interlock-go/interlock/cmd/internal/driver"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/cmd/internal/rebuild"
	"github.com/interlock-go/interlock/cmd/internal/suggest"
	"github.com/interlock-go/interlock/cmd/internal/testflags"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/build/covertool"
)

// Main runs the command line args (without the program's name) and returns the
// exit code.
func Main(args []string) int {
	if driver.IsVetTool(args) {
		if err := rebuild.MatchTool(context.Background(), args, os.Stderr); err != nil {
			fmt.Fprintf(os.Stderr, "interlock: %v\n", err)
			return exitIncomplete
		}
		driver.Main() // does not return
	}
	if len(args) > 0 && args[0] == covertool.Word {
		return covertool.Run(args[1:], os.Stdout, os.Stderr)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	return run(ctx, os.Stdout, os.Stderr, args)
}

// call is one run of a command.
type call struct {
	ctx            context.Context
	stdout, stderr io.Writer
	progress       *progress.Reporter
	*common
	closers []io.Closer  // when the command has ended
	kept    *build.Still // see still
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	name, args, first := "help", args, ""
	if dir, rest, ok := leadingFolder(args); ok {
		first, args = dir, rest
	}
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-version", "--version":
		name = "version"
	}
	// Which command, and with which flags.
	name, args = subcommand(name, args)
	out := &sink{w: stdout}
	c := &call{ctx: ctx, stdout: out, stderr: stderr, progress: progress.New(stderr)}
	cmd := find(name)
	if cmd == nil {
		return c.usage("%s", unknownCommand(name))
	}
	switch {
	case first == "":
	case cmd.takesPackages(): // it has a -C of its own: the settings are looked for from there
		args = append([]string{"-C", first}, args...)
	default:
		if err := os.Chdir(first); err != nil {
			return c.usage("-C: %v", err)
		}
	}
	if wrong := unknownSubcommand(name, args); wrong != "" {
		return c.usage("%s", wrong)
	}
	in, own, err := parse(cmd, args)
	if errors.Is(err, flag.ErrHelp) {
		cmd.help(out)
		return c.written(out, exitClean)
	}
	if err != nil {
		advice := ""
		if cmd.tests {
			advice = testflags.Advise(name, err)
		}
		return c.usage("%v; see `interlock help %s`%s", clearer(err), name, advice)
	}
	if cmd.args == "" && len(in.packages) > 0 {
		return c.usage("%s takes no arguments; see `interlock help %[1]s`", name)
	}
	// A go command newer than the one that built this program needs a program that
	// it has built: this call may go on in another process.
	if cmd.takesPackages() {
		if err := leaveEnv(); err != nil {
			return c.failed(err)
		}
		if err := rebuild.Match(ctx, in.dir, stderr); ctx.Err() != nil {
			return c.interrupted()
		} else if err != nil {
			c.warn(err.Error())
			return exitIncomplete
		}
	}
	if in.dir != "" {
		if err := os.Chdir(in.dir); err != nil {
			return c.usage("-C: %v", err)
		}
	}
	if cmd.takesPackages() {
		if in.packages, err = packagesOf(in.packages); err != nil {
			return c.usage("%v; name packages, such as . or ./..., or files that are there", err)
		}
	}
	c.common = in
	return c.written(out, c.guarded(own))
}

// leadingFolder returns the folder of a -C that stands before the command, as the go command takes it there, and the
// other arguments.
func leadingFolder(args []string) (dir string, rest []string, ok bool) {
	if len(args) == 0 {
		return "", args, false
	}
	name, value, given := strings.Cut(args[0], "=")
	switch {
	case name != "-C" && name != "--C":
		return "", args, false
	case given:
		return value, args[1:], true
	case len(args) > 1:
		return args[1], args[2:], true
	}
	return "", args, false
}

// unknownCommand returns the message about a command that does not exist, with the next step.
func unknownCommand(name string) string {
	return fmt.Sprintf("unknown command %q%s; `interlock help` lists the commands", name,
		suggest.Hint(name, commandNames()))
}

// sink is standard output. It keeps the first error: a text that was cut off
// must not pass for a whole one.
type sink struct {
	w   io.Writer
	mu  sync.Mutex
	err error // guarded by mu
}

// Write writes to standard output. Several goroutines may call it.
func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.w.Write(b)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

// written returns the exit code of a command that would have ended in code, when
// no goroutine of it runs any more. A command that has noticed by itself that its
// output was not written has said so, and does not end in 0.
func (c *call) written(out *sink, code int) int {
	out.mu.Lock()
	err := out.err
	out.mu.Unlock()
	if err == nil || code != exitClean {
		return code
	}
	return c.unwritten(fmt.Errorf("the output is not whole: %w", err))
}

// guarded runs the command. A panic is a fault of Interlock; by itself it
// would end in Go's exit code 2, which is not true of the user's command line.
func (c *call) guarded(cmd runner) (code int) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(c.stderr, "interlock: internal error, please report it with what follows: %v\n%s", v, debug.Stack())
			code = exitIncomplete
		}
	}()
	defer c.close()
	return cmd.run(c)
}

// close removes the temporary folders of the command.
func (c *call) close() {
	for _, closer := range slices.Backward(c.closers) {
		c.closeLater(closer)
	}
}

// closeLater closes closer when the command ends, and reports an error.
func (c *call) closeLater(closer io.Closer) {
	if err := closer.Close(); err != nil {
		c.warn(err.Error())
	}
}

// makePlan makes a plan. Its module is closed when the command has ended.
func (c *call) makePlan(o planner.Options) (*planner.Planned, error) {
	pl, err := planner.Make(c.ctx, o)
	if pl != nil {
		c.closers = append(c.closers, pl.Module)
	}
	return pl, err
}

// still returns the settings that keep the go commands of this call from writing
// into the user's tree.
func (c *call) still() (*build.Still, error) {
	if c.kept != nil {
		return c.kept, nil
	}
	still, err := build.KeepStill(c.ctx, ".", os.Environ())
	if err != nil {
		return nil, err
	}
	c.kept, c.closers = still, append(c.closers, still)
	return still, nil
}

// usageOf is usage for an error, which names the place in the file of settings where the fault is a flag's that stands
// there.
func (c *call) usageOf(err error) int { return c.usage("%v", c.placed(err)) }

// usage reports a fault of the command line in one line.
func (c *call) usage(format string, args ...any) int {
	c.warn(fmt.Sprintf(format, args...))
	return exitUsage
}
