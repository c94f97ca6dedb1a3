package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
)

// variant is one build of the programs and one way to run it.
type variant struct {
	name    string
	about   string // for the table's legend
	path    string // test binary
	dir     string // where it runs
	env     []string
	skipped string // why it could not be measured here
}

// buildVariants builds the programs each way. The first variant is the plain
// one; done removes what the builds have laid out.
func buildVariants(ctx context.Context, dir, tmp string) (all []*variant, done func(), err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, nil, err
	}
	plain := &variant{name: "plain", about: "as `go test -c` builds it", dir: dir, path: filepath.Join(tmp, "plain.test")}
	race := &variant{name: "-race", about: "the race detector of the Go distribution", dir: dir, path: filepath.Join(tmp, "race.test")}
	if err := goTest(ctx, plain); err != nil {
		return nil, nil, err
	}
	if err := goTest(ctx, race, "-race"); err != nil {
		race.skipped = "the race detector cannot be built here: it needs cgo and a C compiler"
	}
	watch, done, err := watchVariants(ctx, dir, tmp)
	return append(append([]*variant{plain}, watch...), race), done, err
}

func goTest(ctx context.Context, v *variant, flags ...string) error {
	args := append([]string{"test", "-c", "-o", v.path}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir, cmd.Stderr = v.dir, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building %s: %w", v.name, err)
	}
	return nil
}

// watchVariants builds the programs with every site monitored.
func watchVariants(ctx context.Context, dir, tmp string) ([]*variant, func(), error) {
	m, err := build.Load(ctx, build.Options{Dir: dir})
	if err != nil {
		return nil, nil, err
	}
	p, err := atomicsets.Build(m.Path, atomicsets.Sites(m.Packages), nil, nil)
	if err != nil {
		return nil, nil, err
	}
	ws, err := build.Prepare(ctx, m, p)
	if err != nil {
		return nil, nil, err
	}
	done := func() { ws.Close() }
	binaries, err := ws.BuildTests(ctx)
	if err != nil {
		done()
		return nil, nil, err
	}
	table := filepath.Join(tmp, "sites")
	if err := os.WriteFile(table, campaign.SiteTable(p), 0o644); err != nil {
		done()
		return nil, nil, err
	}
	awake := []string{"INTERLOCK_OUT=" + filepath.Join(tmp, "evidence"), "INTERLOCK_SITES=" + table, "INTERLOCK_SEED=1", "INTERLOCK_RUN=1"}
	idle := &variant{name: "watch, idle", about: "every site rewritten, the monitor asleep", path: binaries[0].Path, dir: binaries[0].Dir}
	on := &variant{name: "watch, default", about: "the same binary, arming sites and making noise as `interlock test` does by default", path: idle.path, dir: idle.dir, env: awake}
	return []*variant{idle, on}, done, nil
}

// runOnce runs the benchmarks of v once and gives nanoseconds an operation.
func (v *variant) runOnce(ctx context.Context, pattern, benchtime string) (map[string]float64, error) {
	cmd := exec.CommandContext(ctx, v.path, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime="+benchtime)
	cmd.Dir, cmd.Env, cmd.Stderr = v.dir, append(os.Environ(), v.env...), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running %s: %w\n%s", v.name, err, out)
	}
	ns := map[string]float64{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") || f[3] != "ns/op" {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(f[0], "Benchmark"), "-")
		if ns[name], err = strconv.ParseFloat(f[2], 64); err != nil {
			return nil, fmt.Errorf("reading %q: %w", line, err)
		}
	}
	if len(ns) == 0 {
		return nil, fmt.Errorf("running %s: no benchmark matches %s", v.name, pattern)
	}
	return ns, nil
}
