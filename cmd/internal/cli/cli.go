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
	"syscall"

	"github.com/interlock-go/interlock/cmd/internal/driver"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/cmd/internal/rebuild"
	"github.com/interlock-go/interlock/cmd/internal/testflags"
	"github.com/interlock-go/interlock/dynamic/build/covertool"
	"github.com/interlock-go/interlock/dynamic/production"
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
	if len(args) > 0 && args[0] == production.Word {
		return production.RunTool(args[1:], os.Stdout, os.Stderr)
	}
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	return run(ctx, os.Stdout, os.Stderr, args)
}

// endings lists the signals that end a command: that of a terminal that is closed too, unless nohup keeps it away.
func endings() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
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
	out := &sink{w: stdout}
	c := &call{ctx: ctx, stdout: out, stderr: stderr, progress: progress.New(stderr), table: commands}
	name, args = c.table.subcommand(name, args)
	cmd := c.table.find(name)
	if cmd == nil {
		return c.usage("%s", c.table.unknown(name))
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
	if wrong := c.table.unknownSubcommand(name, args); wrong != "" {
		return c.usage("%s", wrong)
	}
	in, own, err := c.table.parse(cmd, args)
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

// commands are all commands, in the order in which help lists them.
var commands = table{&checkCommand, &planCommand, &testCommand, &campaignCommand, &fixCommand, &auditCommand,
	&baselineCommand, &sectionsCommand, &runCommand, &buildCommand, &envCommand, &reportCommand,
	&botCommand, &lspCommand, &initCommand, &configCommand, &completionCommand, &explainCommand, &versionCommand,
	&helpCommand,

	&sectionsListCommand, &sectionsCheckCommand, &sectionsRefreshCommand, &sectionsRefineCommand,
	&campaignShowCommand, &campaignMergeCommand, &campaignExportCommand,
	&botFindCommand, &botTryCommand, &botReviewCommand, &botServeCommand,
	&baselineWriteCommand, &baselineCheckCommand, &configVerifyCommand, &configSchemaCommand}
