// Package realmodules runs the own test suites of real modules plain and
// instrumented, and compares test by test: a test that passes plain must pass
// instrumented, with the monitor asleep and with it awake and making the noise
// of a campaign's first run. `make suites` keeps the figures in figures.json.
//
// Modules are fetched with `go mod download` and copied to a temporary folder,
// which goes when the command ends. A test with plain runs that differ among
// themselves says nothing about the rewriting and is listed as such; a test
// that differs otherwise is a bug, or stands in known.go with the reason.
package realmodules

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/released"
)

type options struct {
	match   string
	timeout time.Duration
	out     string
	keep    string
}

// Run runs the tool. It reports whether no test differs without a known reason.
func Run(ctx context.Context, args []string) (held bool, err error) {
	var o options
	flags := flag.NewFlagSet("lab suites", flag.ExitOnError)
	flags.StringVar(&o.match, "match", "", "take modules whose path contains this `text` only")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Minute, "time that one test binary may take")
	flags.StringVar(&o.out, "o", "", "write the figures to this `file` too, as JSON")
	flags.StringVar(&o.keep, "keep", "", "keep the outputs of packages that differ in this `folder`")
	flags.Parse(args)
	tmp, err := os.MkdirTemp("", "interlock-suites-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	if err := useOwnCache(ctx, tmp); err != nil {
		return false, err
	}

	// The report is written after each module, as all of them take long.
	began := time.Now()
	var results []*result
	var failed []string
	text, differing := report(nil, 0)
	for i, m := range modules {
		if !strings.Contains(m.path, o.match) {
			continue
		}
		fmt.Fprintf(os.Stderr, "suites: %s %s\n", m.path, m.version)
		r, err := runModule(ctx, m, filepath.Join(tmp, fmt.Sprint(i)), o)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err != nil { // the others are still worth knowing
			fmt.Fprintf(os.Stderr, "suites: %s: %v\n", m.path, err)
			failed = append(failed, m.path)
			continue
		}
		results = append(results, r)
		text, differing = report(results, time.Since(began))
		if o.out == "" {
			continue
		}
		if err := page.Store(o.out, text); err != nil {
			return false, err
		}
	}
	if len(failed) > 0 {
		return false, fmt.Errorf("not compared: %s", strings.Join(failed, ", "))
	}
	return differing == 0, page.Write(o.out, text)
}

// useOwnCache keeps Interlock's test binaries below tmp. The packages that build
// them run in this process, so it is this process's environment that changes.
func useOwnCache(ctx context.Context, tmp string) error {
	env, err := command.OwnCache(ctx, tmp)
	if err != nil {
		return err
	}
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		err = errors.Join(err, os.Setenv(name, value))
	}
	return err
}

// runModule builds a module both ways and compares its tests.
func runModule(ctx context.Context, m module, tmp string, o options) (*result, error) {
	dir := filepath.Join(tmp, "src")
	if err := released.Fetch(ctx, m.path, m.version, dir); err != nil {
		return nil, err
	}
	b, err := buildBoth(ctx, m, dir, tmp)
	if err != nil {
		return nil, err
	}
	defer b.workspace.Close()
	r := &result{module: m, both: b}
	for i, bin := range b.binaries {
		if bin.Path == "" {
			continue
		}
		p, err := b.compare(ctx, i, tmp, o)
		if err != nil {
			return nil, err
		}
		r.packages = append(r.packages, p)
	}
	return r, ctx.Err()
}
