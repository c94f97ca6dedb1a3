package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/driver"
	"github.com/interlock-go/interlock/cmd/internal/machinefault"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

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

// usageOf is usage for an error, which names the place in the file of settings where the fault is a flag's that stands
// there.
func (c *call) usageOf(err error) int { return c.usage("%v", c.placed(err)) }

// usage reports a fault of the command line in one line.
func (c *call) usage(format string, args ...any) int {
	c.warn(fmt.Sprintf(format, args...))
	return exitUsage
}

// needsWord reports that a command needs the name of a subcommand, and lists the subcommands.
func (c *call) needsWord(name string) int {
	var below []string
	_, commands := c.table.below(name)
	for _, s := range commands {
		below = append(below, fmt.Sprintf("`interlock %s` to %s", s.name, s.short))
	}
	return c.usage("%s needs another word: use %s", name, strings.Join(below, ", or "))
}

// Exit codes; exitCodes has their meanings.
const (
	exitClean       = 0
	exitFindings    = 1
	exitUsage       = 2
	exitIncomplete  = 3
	exitInterrupted = 130
)

// exitCodes is the one table of exit codes: help prints the short texts; docs/ci.md, docs/architecture.md and the man
// page have the long ones, and for each command the reasons for exit code 1 (go test ./cmd/internal/cli -update).
//
// Findings take precedence over almost every other error, because a
// finding stays true however the command ended. Packages that do not compile are the
// exception: a program that reads the code as "these are the findings" has to know
// that a part was not analysed. Tests that fail only under noise do not fail the build unless asked for:
// each order that noise causes is one that a loaded machine may cause too, but nothing
// distinguishes a test that depends on timing from one that has caught a bug by its own check, and
// a build that is red for a test that passes elsewhere is switched off.
var exitCodes = []exitCode{
	{exitClean, "done, and nothing fails the build", ""},
	{exitFindings, "something fails the build, such as a finding or a failed test",
		"the table by command says what. A test has failed if it failed in a run without noise, with the monitor or " +
			"without it, or if `go test` refuses to run its package because `go vet` finds a fault. Tests that fail only " +
			"under noise count with `-fail-on=confirmed,noise`. Accepted findings, possible ones and leads do not count"},
	{exitUsage, "wrong usage or configuration; there is no result",
		"a fault in the flags, in a file that they name, or in a file of settings, baseline or sections; a folder without " +
			"a module; for `sections refine`, an oracle that cannot be used; for `init`, a file that is there already"},
	{exitIncomplete, "something could not be analysed, built or written",
		"because of the code or of the machine (e.g. a full disk), or Interlock ended every run of a package's tests. " +
			"A package that does not compile yields 3 whatever else was found. Any other cause yields 3 even if tests failed, " +
			"but 1 if findings fail the build"},
	{exitInterrupted, "interrupted before it found anything that fails the build",
		"an interrupt while `run` runs the program ends the program alone, and its findings are reported"},
}

// Reasons for exit code 1 that several commands have.
const (
	suspectedFails = "suspected findings and stronger ones, or those that `-fail-on` names"
	confirmedFails = "confirmed findings, or those that `-fail-on` names"
	testsFail      = "; failed tests"
)

// exitCode is a row of that table.
type exitCode struct {
	code        int
	short, long string
}

// text returns the long meaning of a code.
func (e *exitCode) text() string {
	if e.long == "" {
		return e.short
	}
	return e.short + ": " + e.long
}

// unwritten reports that results could not be written, with the next step if the
// machine is at fault, and returns the exit code.
func (c *call) unwritten(err error) int {
	fault, isMachine := machinefault.Find(err.Error())
	if !isMachine {
		fault = err.Error()
	}
	c.warn(fault)
	return exitIncomplete
}

// failed reports why a command ended before it could report anything, and returns
// the exit code.
func (c *call) failed(err error) int {
	var config *gocmd.ConfigError
	output, compile := compilerOutput(err)
	fault, broken := machinefault.Find(err.Error())
	if !broken && errors.As(err, new(*build.RewriteError)) {
		fault, broken = machinefault.FindOnDisk()
	}
	switch {
	case c.ctx.Err() != nil || errors.Is(err, context.Canceled):
		return c.interrupted()
	case broken:
		c.warn(fault)
		return exitIncomplete
	case errors.As(err, &config), errors.As(err, new(*flagFault)):
		return c.usageOf(err)
	case compile:
		c.compiler(output, "the packages do not compile: fix that first")
		return exitIncomplete
	}
	c.warn(err.Error())
	return exitIncomplete
}

// interrupted reports that an interrupt has left no result, and returns the exit code.
func (c *call) interrupted() int {
	c.warn("interrupted before there was a result")
	return exitInterrupted
}

// incomplete returns the exit code of a command that has shown the plan.
func (c *call) incomplete(pl *planner.Planned) int {
	code := exitClean
	if len(pl.Vet.Problems) > 0 {
		code = exitIncomplete
	}
	return c.uncompiled(pl.Uncompiled(), code)
}

// uncompiled makes code the exit code of a command that has left out packages
// which do not compile, if the compiler said so.
func (c *call) uncompiled(output string, code int) int {
	if output == "" || code == exitInterrupted {
		return code
	}
	c.compiler(output, "packages that do not compile were left out: fix them first")
	return exitIncomplete
}

// compiler shows the compiler's errors about packages that do not compile, and
// then the sentence so, their consequence.
func (c *call) compiler(output, so string) {
	fault, broken := machinefault.Find(output)
	if !broken {
		fault, broken = machinefault.FindOnDisk()
	}
	if broken {
		c.warn(fault)
		return
	}
	fmt.Fprintln(c.stderr, harmless(output))
	if strings.Contains(output, "-mod=readonly") || strings.Contains(output, "missing go.sum entry") {
		c.warn("go.mod and go.sum are left as they are, whatever -mod says: bring them up to date first, with `go mod tidy`")
		return
	}
	c.warn(so)
}

// compilerOutput returns the output of the compiler, if that is the cause of err.
func compilerOutput(err error) (string, bool) {
	var b *build.CompileError
	var d *driver.CompileError
	switch {
	case errors.As(err, &b):
		return b.Output, true
	case errors.As(err, &d):
		return d.Output, true
	}
	return "", false
}
