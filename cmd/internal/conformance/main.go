// Command conformance runs every `// run` program of the Go distribution's
// test folder twice, plain and instrumented with the monitor awake, and
// compares output and exit code: an instrumented program must behave as the
// original does. `make conformance` keeps the result in docs/conformance.md.
//
// Exceptions are listed in exceptions.go with a reason each. A program that
// behaves differently because its rewriting is wrong is never an exception.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	every := flag.Int("every", 1, "take each `n`th program only")
	match := flag.String("match", "", "take programs whose name contains this `text` only")
	timeout := flag.Duration("timeout", defaultTimeout, "time that one program may take")
	tests := flag.String("tests", "", "take the programs in this `folder` (default: test of the Go installation; a toolchain that\nthe go command has downloaded has none)")
	out := flag.String("o", "", "write the report to this `file` instead of standard output")
	keep := flag.String("keep", "", "keep the differing programs' outputs in this `folder`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	differing, err := run(ctx, options{*every, *match, *timeout, *tests, *out, *keep})
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(3)
	}
	if differing > 0 {
		os.Exit(1)
	}
}

type options struct {
	every   int
	match   string
	timeout timeoutFlag
	tests   string
	out     string
	keep    string
}

// run returns how many programs differ and are no exception.
func run(ctx context.Context, o options) (differing int, err error) {
	testDir := o.tests
	if testDir == "" {
		root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
		if err != nil {
			return 0, fmt.Errorf("finding the Go distribution: %w", err)
		}
		testDir = filepath.Join(strings.TrimSpace(string(root)), "test")
	}
	programs, err := collect(testDir)
	if err != nil {
		return 0, err
	}
	programs = choose(programs, o.every, o.match)
	tmp, err := os.MkdirTemp("", "interlock-conformance-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)
	fmt.Fprintf(os.Stderr, "conformance: building %d programs, plain and instrumented\n", len(programs))
	b, err := buildAll(ctx, programs, tmp)
	if err != nil {
		return 0, err
	}
	defer b.close()
	verdicts := b.compareAll(ctx, testDir, o)
	text, differing := report(verdicts, b)
	if o.out == "" {
		_, err = os.Stdout.WriteString(text)
	} else {
		err = os.WriteFile(o.out, []byte(text), 0o644)
	}
	return differing, err
}

// choose takes each nth program whose name contains match.
func choose(programs []program, n int, match string) []program {
	var chosen []program
	for i, p := range programs {
		if i%max(n, 1) == 0 && strings.Contains(p.Name, match) {
			chosen = append(chosen, p)
		}
	}
	return chosen
}
