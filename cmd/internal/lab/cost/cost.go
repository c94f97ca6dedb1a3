// Package cost measures the cost of `interlock check`: on nats-server with
// tests, beside staticcheck and gVisor's checklocks, and on large modules, one of them
// generated. CPU time is that of all processes together, memory that of the largest
// process. It downloads modules and tools with the go command, and works on
// copies.
package cost

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

// Run runs the tool.
func Run(ctx context.Context, args []string) (held bool, err error) {
	flags := flag.NewFlagSet("lab cost", flag.ExitOnError)
	tool := flags.String("interlock", "bin/interlock", "the `binary` to measure")
	out := flags.String("o", "", "write the figures to this `file` too, as JSON; its other sections stay")
	only := flags.String("only", "", "measure one `section` only: tools or modules")
	part := flags.String("module", "", "of the modules, measure those whose path has this `part` only")
	flags.Parse(args)
	if *tool, err = command.Interlock(*tool); err != nil {
		return false, err
	}
	if *only != "modules" {
		if err := runTools(ctx, *tool, *out); err != nil {
			return false, err
		}
	}
	if *only != "tools" {
		rows, err := measureModules(ctx, *tool, *part)
		if len(rows) > 0 {
			err = errors.Join(err, page.Update(*out, title+modulesSection(rows)))
		}
		return true, err
	}
	return true, nil
}

const title = "# What the static checks cost\n\n"

// runTools measures nats-server with each tool.
func runTools(ctx context.Context, tool, out string) error {
	l, err := newLab(ctx, tool)
	if err != nil {
		return err
	}
	defer l.close()
	if err := l.measureAll(); err != nil {
		return err
	}
	return page.Update(out, title+toolsSection(l.module, l.lines, l.rows))
}

// toolsSection is the part of the document about nats-server and the other tools.
func toolsSection(module string, lines int, rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, `## Beside other tools

%s with its tests, %d lines of Go. The packages that it imports were compiled before,
all in one build cache. *Cold* means that the tool had never run on this tree; *unchanged* that it has just run; *after
an edit* that one file of the package named was changed since; the go command then compiles the package before the tool
sees it, which is part of the figure. CPU time is that of all processes together, the go command included; the largest
process is what one of them held at most. Each tool prints its own kind of findings, so the last
column compares noise, not merit.

%s- staticcheck as pinned in go.mod, checklocks as in gvisor.dev/gvisor@%s

| tool | state | CPU s | wall s | largest process MB | lines printed |
|---|---|---:|---:|---:|---:|
`, module, lines, page.Made(), gvisor)
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %.0f | %d |\n",
			r.tool, r.state, r.CPU.Seconds(), r.Wall.Seconds(), r.Megabytes, r.lines)
	}
	return b.String()
}
