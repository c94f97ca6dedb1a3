// Command suites runs the own test suites of real modules plain and
// instrumented, and compares test by test: what passes plain must pass
// instrumented, with the monitor asleep and with it awake and making the noise
// of a campaign's first run. `make suites` keeps the result in docs/suites.md.
//
// Modules are fetched with `go mod download` and copied to a temporary folder,
// which goes when the command ends. A test whose plain runs differ among
// themselves says nothing about the rewriting and is listed as such; a test
// that differs otherwise is a bug, or stands in known.go with the reason.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/released"
)

func main() {
	match := flag.String("match", "", "take modules whose path contains this `text` only")
	timeout := flag.Duration("timeout", 10*time.Minute, "time that one test binary may take")
	out := flag.String("o", "", "write the report to this `file` instead of standard output")
	keep := flag.String("keep", "", "keep the outputs of packages that differ in this `folder`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	differing, err := run(ctx, options{*match, *timeout, *out, *keep})
	if err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
		os.Exit(3)
	}
	if differing > 0 {
		os.Exit(1)
	}
}

type options struct {
	match   string
	timeout time.Duration
	out     string
	keep    string
}

// run returns how many tests differ for no known reason.
func run(ctx context.Context, o options) (differing int, err error) {
	tmp, err := os.MkdirTemp("", "interlock-suites-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)
	if err := ownCache(ctx, tmp); err != nil {
		return 0, err
	}
	began := time.Now()
	var results []*result
	var failed []string
	for i, m := range modules {
		if !strings.Contains(m.path, o.match) {
			continue
		}
		fmt.Fprintf(os.Stderr, "suites: %s %s\n", m.path, m.version)
		r, err := runModule(ctx, m, filepath.Join(tmp, fmt.Sprint(i)), o)
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil { // the others are still worth knowing
			fmt.Fprintf(os.Stderr, "suites: %s: %v\n", m.path, err)
			failed = append(failed, m.path)
			continue
		}
		results = append(results, r)
		if differing, err = o.write(results, time.Since(began)); err != nil {
			return 0, err
		}
	}
	if len(failed) > 0 {
		return differing, fmt.Errorf("not compared: %s", strings.Join(failed, ", "))
	}
	if o.out == "" {
		text, _ := report(results, time.Since(began))
		_, err = os.Stdout.WriteString(text)
	}
	return differing, err
}

// write keeps the report of the modules so far, as all of them take long, and
// gives how many tests differ for no known reason.
func (o options) write(results []*result, took time.Duration) (differing int, err error) {
	text, differing := report(results, took)
	if o.out != "" {
		err = os.WriteFile(o.out, []byte(text), 0o644)
	}
	return differing, err
}

// ownCache keeps the test binaries, some hundred megabytes, out of Interlock's
// folder in the user's cache, where systems have a variable for that. The go
// command keeps its own cache.
func ownCache(ctx context.Context, tmp string) error {
	out, err := goCommand(ctx, tmp, "env", "GOCACHE")
	if err != nil {
		return err
	}
	return errors.Join(os.Setenv("GOCACHE", strings.TrimSpace(string(out))), os.Setenv("XDG_CACHE_HOME", filepath.Join(tmp, "cache")))
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

// goCommand runs the go command in a folder; its words are in the error.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "PWD="+dir)
	var msg strings.Builder
	cmd.Stderr = &msg
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, msg.String())
	}
	return out, nil
}
