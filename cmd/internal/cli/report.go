package cli

import (
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
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/upward"
)

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
