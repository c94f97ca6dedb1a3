package cost

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

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/generated"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/released"
)

// module is one that check must end on.
type module struct {
	Path, Version string // no Version: it is generated
	Dir           string // the part that is measured; empty: all
}

var modules = []module{
	{Path: "github.com/nats-io/nats-server/v2", Version: "v2.15.2"},
	{Path: "github.com/cockroachdb/pebble/v2", Version: "v2.1.7"},
	{Path: "github.com/minio/minio-go/v7", Version: "v7.4.1"},
	{Path: "github.com/twmb/franz-go", Version: "v1.22.2", Dir: "pkg/kgo"},
	{Path: "k8s.io/client-go", Version: "v0.37.2"},
	{Path: "tailscale.com", Version: "v1.100.0"},
	{Path: "github.com/prometheus/prometheus", Version: "v0.316.0"},
	{Path: generated.Path},
}

// generatedPackages is the size of the generated module.
const generatedPackages = 2000

// The bars, for modules of any size.
const (
	barMegabytes = 4096
	barTimes     = 2 // the median CPU time per line
)

// moduleRow is the cost of a module.
type moduleRow struct {
	module
	Lines, Packages, Findings int
	command.Usage
	Ended bool
}

func (m module) shortName() string {
	name := m.Path
	if m.Dir != "" {
		name += "/" + m.Dir
	}
	if m.Version != "" {
		name += "@" + m.Version
	}
	return name
}

// perLines is the CPU seconds for 100,000 lines.
func (r *moduleRow) perLines() float64 { return r.CPU.Seconds() * 1e5 / float64(max(r.Lines, 1)) }

// measureModules runs check, cold, on each module with the part in its path.
func measureModules(ctx context.Context, interlock, part string) (rows []*moduleRow, err error) {
	for _, m := range modules {
		if !strings.Contains(m.Path, part) {
			continue
		}
		r, err := measureModule(ctx, interlock, m)
		if err != nil {
			return rows, fmt.Errorf("measuring %s: %w", m.shortName(), err)
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
	if m.Path == generated.Path {
		err = generated.Write(tree, generatedPackages, generated.Types)
	} else {
		err = released.Fetch(ctx, m.Path, m.Version, tree)
	}
	if err != nil {
		return nil, err
	}
	r := &moduleRow{module: m}
	if r.Lines, err = released.Lines(filepath.Join(tree, m.Dir), true); err != nil {
		return nil, err
	}
	pattern := "./" + filepath.ToSlash(filepath.Join(m.Dir, "..."))
	fmt.Fprintf(os.Stderr, "cost: compiling %s\n", m.shortName())
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir, cmd.Env = tree, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "PWD="+tree)
		return cmd
	}
	command("go", "list", "-e", "-export", "-deps", "-test", pattern).Run() // check reports faulty packages
	list, err := command("go", "list", "-e", pattern).Output()
	if err != nil {
		return nil, err
	}
	r.Packages = bytes.Count(list, []byte("\n"))
	return r, r.runCheck(ctx, command(interlock, "check", "-format", "jsonl", pattern))
}

// runCheck runs the command and keeps its cost.
func (r *moduleRow) runCheck(ctx context.Context, cmd *exec.Cmd) error {
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, os.Stderr
	used, err := command.Run(cmd)
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		return cmp.Or(ctx.Err(), err)
	}
	code := cmd.ProcessState.ExitCode()
	r.Ended = code == 0 || code == 1 || code == 3
	r.Usage = used
	r.Findings = max(0, bytes.Count(stdout.Bytes(), []byte("\n"))-1) // without the end
	return nil
}

func (r *moduleRow) String() string {
	ended := "ended"
	if !r.Ended {
		ended = "did not end"
	}
	return fmt.Sprintf("%s %s: %d lines, %d packages, %.1f CPU s (%.1f for 100,000 lines), %.1f s, %.0f MB, %d findings",
		r.shortName(), ended, r.Lines, r.Packages, r.CPU.Seconds(), r.perLines(), r.Wall.Seconds(), r.Megabytes, r.Findings)
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

`+"`interlock check`"+` on whole modules with their tests, cold, after all that they import was compiled. Lines are
those of the Go files of the part that is named, tests included, whatever their build constraints. CPU time is that of
all processes together, the go command included. Of the generated module each package has a few types with locks,
goroutines and tests, and imports others.

%s
| module | lines | packages | CPU s | CPU s for 100,000 lines | times the median | largest process MB | findings |
|---|---:|---:|---:|---:|---:|---:|---:|
`, page.Made())
	// A row a module, then the missed bars.
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f | %.1f | %.2f | %.0f | %d |\n",
			r.shortName(), r.Lines, r.Packages, r.CPU.Seconds(), r.perLines(), r.perLines()/median, r.Megabytes, r.Findings)
	}
	fmt.Fprintf(&b,
		"\nThe bars are: all end, no process needs more than %d MB, none more than %d times the CPU time per line of the "+
			"median.\n\n", barMegabytes, barTimes)
	for _, m := range modules {
		if !slices.ContainsFunc(rows, func(r *moduleRow) bool { return r.module == m }) {
			fmt.Fprintf(&b, "%s is not measured yet.\n", m.shortName())
		}
	}
	for _, r := range rows {
		switch {
		case !r.Ended:
			fmt.Fprintf(&b, "%s did not end.\n", r.shortName())
		case r.Megabytes > barMegabytes:
			fmt.Fprintf(&b, "%s needs more memory.\n", r.shortName())
		case r.perLines() > barTimes*median:
			fmt.Fprintf(&b, "%s needs more time for a line.\n", r.shortName())
		}
	}
	return b.String()
}
