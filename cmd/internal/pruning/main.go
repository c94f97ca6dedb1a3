// Command pruning measures what the static side leaves out of monitoring, and
// what looking at the whole program adds to it: on five real modules, the share
// of sites that each reason skips, the findings, time and memory, with -whole
// and without. `make pruning` keeps the table in docs/pruning.md.
//
// It downloads the modules with the go command, and works on copies.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	tool := flag.String("interlock", filepath.Join("bin", "interlock"), "the `binary` to measure")
	match := flag.String("match", "", "take modules whose path contains this `text` only")
	out := flag.String("o", "", "write the table to this `file` instead of standard output")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *tool, *match, *out); err != nil {
		fmt.Fprintln(os.Stderr, "pruning:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, tool, match, out string) error {
	tool, err := filepath.Abs(tool)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "interlock-pruning-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	var rows []*row
	for _, s := range subjects {
		if !strings.Contains(s.module, match) {
			continue
		}
		dir, err := s.fetch(ctx, tmp)
		if err != nil {
			return err
		}
		r, err := s.measure(ctx, tool, dir)
		if err != nil {
			return err
		}
		rows = append(rows, r)
	}
	text := document(rows)
	if out == "" {
		_, err = os.Stdout.WriteString(text)
		return err
	}
	return os.WriteFile(out, []byte(text), 0o644)
}
