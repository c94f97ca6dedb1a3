// Package pruning measures how much the static side leaves out of monitoring, and
// how much more the whole program shows: on five real modules, the share
// of sites that each reason skips, the findings, time and memory, with -whole
// and without. `make pruning` keeps the figures in figures.json.
//
// It downloads the modules with the go command, and works on copies.
package pruning

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
)

// Run runs the tool.
func Run(ctx context.Context, args []string) (held bool, err error) {
	t := matrix.New("pruning")
	tool := t.Flags.String("interlock", filepath.Join("bin", "interlock"), "the `binary` to measure")
	match := t.Flags.String("match", "", "take modules whose path contains this `text` only")
	return t.Run(args, func(tmp string) (string, bool, error) {
		binary, err := command.Interlock(*tool)
		if err != nil {
			return "", false, err
		}
		var rows []*row
		for _, s := range subjects {
			if !strings.Contains(s.module, *match) {
				continue
			}
			// Each module in a copy of its own.
			dir, err := s.fetchModule(ctx, tmp)
			if err != nil {
				return "", false, err
			}
			r, err := s.measure(ctx, binary, dir)
			if err != nil {
				return "", false, err
			}
			rows = append(rows, r)
		}
		return document(rows), true, nil
	})
}
