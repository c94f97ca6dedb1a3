// Package pruning measures how much the static side leaves out of monitoring, and
// how much more the whole program shows: on five real modules, the share
// of sites that each reason skips, the findings, time and memory, with -whole
// and without. `make pruning` keeps the figures in figures.json.
//
// It downloads the modules with the go command, and works on copies.
package pruning

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

// Run runs the tool.
func Run(ctx context.Context, args []string) (held bool, err error) {
	flags := flag.NewFlagSet("lab pruning", flag.ExitOnError)
	tool := flags.String("interlock", filepath.Join("bin", "interlock"), "the `binary` to measure")
	match := flags.String("match", "", "take modules whose path contains this `text` only")
	out := flags.String("o", "", "write the figures to this `file` too, as JSON")
	flags.Parse(args)
	if *tool, err = command.Interlock(*tool); err != nil {
		return false, err
	}
	tmp, err := os.MkdirTemp("", "interlock-pruning-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	var rows []*row
	for _, s := range subjects {
		if !strings.Contains(s.module, *match) {
			continue
		}
		// Each module in a copy of its own.
		dir, err := s.fetch(ctx, tmp)
		if err != nil {
			return false, err
		}
		r, err := s.measure(ctx, *tool, dir)
		if err != nil {
			return false, err
		}
		rows = append(rows, r)
	}
	return true, page.Write(*out, document(rows))
}
