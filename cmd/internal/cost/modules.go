package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/machine"
	"github.com/interlock-go/interlock/cmd/internal/released"
)

// module is one that check must end on.
type module struct {
	path, version string // no version: it is generated
	dir           string // the part that is measured; empty: all
}

var modules = []module{
	{path: "github.com/nats-io/nats-server/v2", version: "v2.15.2"},
	{path: "github.com/cockroachdb/pebble/v2", version: "v2.1.7"},
	{path: "github.com/minio/minio-go/v7", version: "v7.4.1"},
	{path: "github.com/twmb/franz-go", version: "v1.22.2", dir: "pkg/kgo"},
	{path: "k8s.io/client-go", version: "v0.37.2"},
	{path: "tailscale.com", version: "v1.100.0"},
	{path: "github.com/prometheus/prometheus", version: "v0.316.0"},
	{path: generated},
}

// The bars: what a person may expect of a module of any size.
const (
	barMegabytes = 4096
	barTimes     = 2 // the median CPU time per line
)

// moduleRow is what a module cost.
type moduleRow struct {
	module
	lines, packages, findings int
	cpu, wall                 time.Duration
	megabytes                 float64
	ended                     bool
}

func (m module) name() string {
	name := m.path
	if m.dir != "" {
		name += "/" + m.dir
	}
	if m.version != "" {
		name += "@" + m.version
	}
	return name
}

// perLines is the CPU seconds for 100,000 lines.
func (r *moduleRow) perLines() float64 { return r.cpu.Seconds() * 1e5 / float64(max(r.lines, 1)) }

// measureModules runs check on each module whose name has the part in it, cold.
func measureModules(ctx context.Context, interlock, part string) ([]*moduleRow, error) {
	interlock, err := filepath.Abs(interlock)
	if err != nil {
		return nil, err
	}
	var rows []*moduleRow
	for _, m := range modules {
		if !strings.Contains(m.path, part) {
			continue
		}
		r, err := measureModule(ctx, interlock, m)
		if err != nil {
			return rows, fmt.Errorf("measuring %s: %w", m.name(), err)
		}
		fmt.Fprintf(os.Stderr, "cost: %s\n", r)
		rows = append(rows, r)
	}
	return rows, nil
}

func measureModule(ctx context.Context, interlock string, m module) (*moduleRow, error) {
	dir, err := os.MkdirTemp("", "interlock-cost-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	tree := filepath.Join(dir, "tree")
	if m.path == generated {
		err = generate(tree)
	} else {
		err = released.Fetch(ctx, m.path, m.version, tree)
	}
	if err != nil {
		return nil, err
	}
	r := &moduleRow{module: m}
	if r.lines, err = released.Lines(filepath.Join(tree, m.dir), true); err != nil {
		return nil, err
	}
	pattern := "./" + filepath.ToSlash(filepath.Join(m.dir, "..."))
	fmt.Fprintf(os.Stderr, "cost: compiling %s\n", m.name())
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir, cmd.Env = tree, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "PWD="+tree)
		return cmd
	}
	command("go", "list", "-e", "-export", "-deps", "-test", pattern).Run() // what does not compile, check says
	list, err := command("go", "list", "-e", pattern).Output()
	if err != nil {
		return nil, err
	}
	r.packages = bytes.Count(list, []byte("\n"))
	return r, r.check(ctx, command(interlock, "check", "-format", "jsonl", pattern))
}

// check runs the command and keeps what it cost.
func (r *moduleRow) check(ctx context.Context, cmd *exec.Cmd) error {
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, os.Stderr
	start := time.Now()
	err := cmd.Run()
	r.wall = time.Since(start)
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		return cmp.Or(ctx.Err(), err)
	}
	code := cmd.ProcessState.ExitCode()
	r.ended = code == 0 || code == 1 || code == 3
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	r.megabytes = machine.Largest(cmd.ProcessState)
	r.findings = bytes.Count(stdout.Bytes(), []byte("\n"))
	return nil
}

func (r *moduleRow) String() string {
	ended := "ended"
	if !r.ended {
		ended = "did not end"
	}
	return fmt.Sprintf("%s %s: %d lines, %d packages, %.1f CPU s (%.1f for 100,000 lines), %.1f s, %.0f MB, %d findings",
		r.name(), ended, r.lines, r.packages, r.cpu.Seconds(), r.perLines(), r.wall.Seconds(), r.megabytes, r.findings)
}

// modulesSection is the part of the document about the modules.
func modulesSection(rows []*moduleRow) string {
	var per []float64
	for _, r := range rows {
		per = append(per, r.perLines())
	}
	slices.Sort(per)
	median := per[len(per)/2]
	var b strings.Builder
	fmt.Fprintf(&b, `## On large modules

`+"`interlock check`"+` on whole modules with their tests, cold, after all that they import was compiled. Lines are those of the Go files of the
part that is named, tests included, whatever their build constraints. CPU time is that of all processes together, the go command included. Of the
generated module each package has a few types with locks, goroutines and tests, and imports others.

- %s, %s

| module | lines | packages | CPU s | CPU s for 100,000 lines | times the median | largest process MB | findings |
|---|---:|---:|---:|---:|---:|---:|---:|
`, machine.Describe(), time.Now().Format(time.DateOnly))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f | %.1f | %.2f | %.0f | %d |\n",
			r.name(), r.lines, r.packages, r.cpu.Seconds(), r.perLines(), r.perLines()/median, r.megabytes, r.findings)
	}
	fmt.Fprintf(&b, "\nThe bars are: all end, no process needs more than %d MB, none more than %d times the CPU time per line of the median.\n", barMegabytes, barTimes)
	for _, r := range rows {
		switch {
		case !r.ended:
			fmt.Fprintf(&b, "%s did not end.\n", r.name())
		case r.megabytes > barMegabytes:
			fmt.Fprintf(&b, "%s needs more memory.\n", r.name())
		case r.perLines() > barTimes*median:
			fmt.Fprintf(&b, "%s needs more time for a line.\n", r.name())
		}
	}
	return b.String()
}
