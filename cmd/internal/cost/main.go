// Command cost measures what `interlock check` costs on nats-server with tests, beside
// staticcheck and gVisor's checklocks: CPU time of all processes together, and
// the largest process. It downloads the module and both tools with the go
// command, and works on a copy.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/machine"
)

func main() {
	tool := flag.String("interlock", "bin/interlock", "the `binary` to measure")
	out := flag.String("o", "", "write the table to `file` as well")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *tool, *out); err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, tool, out string) error {
	l, err := newLab(ctx, tool)
	if err != nil {
		return err
	}
	defer l.close()
	if err := l.measureAll(); err != nil {
		return err
	}
	text := document(l.module, l.lines, l.rows)
	fmt.Print(text)
	if out == "" {
		return nil
	}
	return os.WriteFile(out, []byte(text), 0o644)
}

func document(module string, lines int, rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# What the static checks cost

Made by `+"`make cost`"+`, which overwrites this file: %s with its tests, %d lines of Go. The packages that it imports were compiled before,
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
