package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/codetext"
	"github.com/interlock-go/interlock/cmd/internal/driver"
	"github.com/interlock-go/interlock/cmd/internal/machinefault"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/upward"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

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
			"under noise count with `-fail-on=confirmed,noise`. Accepted findings, hints and leads do not count"},
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

// newReport begins the report of a command on the main module at root. module is its path, if that is known.
func (c *call) newReport(command, root, module string) *report.Report {
	dir, err := os.Getwd()
	if err != nil {
		dir = root
	}
	return &report.Report{Title: module, Command: command, Version: version(), Root: root, Dir: dir,
		Repository: upward.Root(root), Help: codetext.All()}
}

// finish writes the report where the flags say, and returns the exit code.
func (c *call) finish(r *report.Report, to reportFlags, accepted *acceptFlags, testsFailed bool) int {
	c.settle(r)
	if err := c.emit(r, to); err != nil {
		return c.unwritten(err)
	}
	return verdict(r, accepted.failing(r.Findings), testsFailed)
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

// emit writes the report to standard output and to every -o.
func (c *call) emit(r *report.Report, to reportFlags) error {
	h, err := report.For(to.format)
	if err != nil {
		return err
	}
	if to.repository != "" {
		if r.Repository, err = filepath.Abs(to.repository); err != nil {
			return fmt.Errorf("-sarif-root: %w", err)
		}
	}
	if to.format == "text" {
		h = c.style()
	}
	return errors.Join(writeTo(c.stdout, h, r), to.out.Write(r))
}

// style returns how text looks on standard output. The width is that of COLUMNS, else that of the terminal; a terminal
// has colors unless the user wants none.
func (c *call) style() report.Text {
	w := c.stdout
	if s, ok := w.(*sink); ok {
		w = s.w
	}
	width, _ := strconv.Atoi(os.Getenv("COLUMNS"))
	width = max(width, 0)
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return report.Text{Width: width}
	}
	if width == 0 {
		width, _, _ = term.GetSize(int(f.Fd())) // which is 0 where it is not known
	}
	plain := os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb"
	return report.Text{Color: !plain, Links: !plain, Width: width}
}

func writeTo(w io.Writer, h report.Handler, r *report.Report) error {
	if err := h.Write(w, r); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// settle makes the report ready to be written, and prints its problems. A
// finding that breaks its contract is a fault of Interlock: it is reported as a
// problem and left out, because programs read the reports.
func (c *call) settle(r *report.Report) {
	r.Findings = sound(r)
	r.ReadSource()
	finding.Sort(r.Findings)
	r.Interrupted = r.Interrupted || c.ctx.Err() != nil
	c.warn(r.Problems...)
	c.warn(r.LeftOut...)
	c.gaveUp(r.GaveUp)
	c.warn(r.Unused...)
}

// gaveUp prints which functions were not searched, by their packages. Each is named on request, and in reports.
func (c *call) gaveUp(sentences []string) {
	if c.verbose || len(sentences) == 0 {
		c.warn(sentences...)
		return
	}
	packages := map[string]bool{}
	for _, s := range sentences {
		name, _, _ := strings.Cut(s, ": ")
		packages[name] = true
	}
	c.warn(fmt.Sprintf("not all functions of %s were searched for everything, for their size: -v lists them, and "+
		"`interlock check -thorough` searches more", progress.Count(len(packages), "package")))
}

// verdict returns the exit code: left is the number of findings that fail the build and are
// still in the user's files.
func verdict(r *report.Report, left int, testsFailed bool) int {
	switch {
	case left > 0:
		return exitFindings
	case r.Interrupted:
		return exitInterrupted
	case len(r.Problems) > 0:
		return exitIncomplete
	case testsFailed:
		return exitFindings
	}
	return exitClean
}

// warn writes sentences to standard error, without the control characters that names of files may hold.
func (c *call) warn(sentences ...string) {
	for _, s := range sentences {
		fmt.Fprintf(c.stderr, "interlock: %s\n", harmless(s))
	}
}

// harmless returns the lines of s without control characters, and without a newline at the end.
func harmless(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = report.Clean(strings.TrimSuffix(line, "\r"))
	}
	return strings.Join(lines, "\n")
}

func sound(r *report.Report) []*finding.Finding {
	var fit []*finding.Finding
	for _, f := range r.Findings {
		if err := f.Validate(); err != nil {
			r.Problems = append(r.Problems, fmt.Sprintf("internal error: a finding at %v is unfit to be reported, please "+
				"report it: %v", places(f), err))
			continue
		}
		fit = append(fit, f)
	}
	return fit
}

func places(f *finding.Finding) []string {
	var s []string
	for _, a := range f.Accesses {
		s = append(s, a.Position.String())
	}
	return s
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
