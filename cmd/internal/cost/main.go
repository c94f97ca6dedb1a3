// Command cost measures what `interlock check` costs: on nats-server with tests, beside
// staticcheck and gVisor's checklocks, and on large modules, one of them
// generated. CPU time is that of all processes together, memory that of the largest
// process. It downloads modules and tools with the go command, and works on
// copies.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/machine"
)

func main() {
	tool := flag.String("interlock", "bin/interlock", "the `binary` to measure")
	out := flag.String("o", "", "write what was measured to `file` as well; its other sections stay")
	only := flag.String("only", "", "measure one `section` only: tools or modules")
	part := flag.String("module", "", "of the modules, measure those whose path has this `part` only")
	state := flag.String("state", "", "keep what was measured of each module in `file`, and go on from there")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *tool, *out, *only, *part, *state); err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, tool, out, only, part, state string) error {
	if only != "modules" {
		if err := runTools(ctx, tool, out); err != nil {
			return err
		}
	}
	if only != "tools" {
		rows, err := measureModules(ctx, tool, part, state)
		if len(rows) > 0 {
			err = errors.Join(err, keep(out, modulesSection(rows)))
		}
		return err
	}
	return nil
}

func runTools(ctx context.Context, tool, out string) error {
	l, err := newLab(ctx, tool)
	if err != nil {
		return err
	}
	defer l.close()
	if err := l.measureAll(); err != nil {
		return err
	}
	return keep(out, toolsSection(l.module, l.lines, l.rows))
}

// keep prints a section, and puts it into the file in place of the one with
// the same heading, if a file is named.
func keep(file, section string) error {
	fmt.Println(section)
	if file == "" {
		return nil
	}
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(file, []byte(replaced(string(old), section)), 0o644)
}

const title = "# What the static checks cost\n\nMade by `make cost`, which writes the sections below anew.\n"

// replaced returns the document with the section in place of the one with the same
// heading, or at its end.
func replaced(document, section string) string {
	heading, _, _ := strings.Cut(section, "\n")
	parts := strings.Split("\n"+document, "\n## ")
	all := []string{title}
	found := false
	for _, p := range parts[1:] {
		p = "## " + strings.TrimRight(p, "\n") + "\n"
		if strings.HasPrefix(p, heading+"\n") {
			p, found = section, true
		}
		all = append(all, p)
	}
	if !found {
		all = append(all, section)
	}
	return strings.Join(all, "\n")
}

func toolsSection(module string, lines int, rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, `## Beside other tools

%s with its tests, %d lines of Go. The packages that it imports were compiled before,
all in one build cache. *Cold* means that the tool had never run on this tree; *unchanged* that it has just run; *after an edit* that
one file of the package named was changed since; the go command then compiles the package before the tool sees it, which is part of the figure. CPU time is that of all processes together, the go command included; the largest process is
what one of them held at most. Each tool prints its own kind of findings, so the last column compares noise, not merit.

- %s, %s
- staticcheck as pinned in go.mod, checklocks as in gvisor.dev/gvisor@%s

| tool | state | CPU s | wall s | largest process MB | lines printed |
|---|---|---:|---:|---:|---:|
`, module, lines, machine.Describe(), time.Now().Format(time.DateOnly), gvisor)
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %.0f | %d |\n", r.tool, r.state, r.cpu.Seconds(), r.wall.Seconds(), r.megabytes, r.lines)
	}
	return b.String()
}
