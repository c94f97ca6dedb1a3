// Package conformance runs every `// run` program of the Go distribution's
// test folder twice, plain and instrumented with the monitor awake, and
// compares output and exit code: an instrumented program must behave as the
// original does. `make conformance` keeps the figures in figures.json.
//
// Exceptions are listed in exceptions.go with a reason each. A program that
// behaves differently because its rewriting is wrong is never an exception.
package conformance

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
)

type options struct {
	every   int
	match   string
	timeout time.Duration
	tests   string
	keep    string
}

// Run runs the tool. It reports whether every program behaves as it does plain,
// apart from the exceptions.
func Run(ctx context.Context, args []string) (held bool, err error) {
	t := matrix.New("conformance")
	var o options
	t.Flags.IntVar(&o.every, "every", 1, "take each `n`th program only")
	t.Flags.StringVar(&o.match, "match", "", "take programs whose name contains this `text` only")
	t.Flags.DurationVar(&o.timeout, "timeout", 2*time.Minute, "time that one program may take")
	t.Flags.StringVar(&o.tests, "tests", "", "take the programs in this `folder` (default: test of the Go installation;\n"+
		"a toolchain that the go command has downloaded has none)")
	t.Flags.StringVar(&o.keep, "keep", "", "keep the differing programs' outputs in this `folder`")
	return t.Run(args, func(tmp string) (string, bool, error) {
		// Choose the programs.
		if o.tests == "" {
			goroot, err := command.GoEnv(ctx, "GOROOT")
			if err != nil {
				return "", false, fmt.Errorf("finding the Go distribution: %w", err)
			}
			o.tests = filepath.Join(goroot, "test")
		}
		programs, err := collect(o.tests)
		if err != nil {
			return "", false, err
		}
		programs = choose(programs, o.every, o.match)

		// Build them both ways, and compare.
		t.Say("building %d programs, plain and instrumented", len(programs))
		b, err := buildAll(ctx, programs, tmp)
		if err != nil {
			return "", false, err
		}
		defer b.close()
		text, differing := report(b.compareAll(ctx, o), b)
		return text, differing == 0, nil
	})
}

// choose takes each nth program with match in its name.
func choose(programs []program, n int, match string) []program {
	var chosen []program
	for i, p := range programs {
		if i%max(n, 1) == 0 && strings.Contains(p.Name, match) {
			chosen = append(chosen, p)
		}
	}
	return chosen
}
