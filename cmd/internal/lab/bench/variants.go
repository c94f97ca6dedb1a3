package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/timing"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
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

// buildVariants builds the programs each way. The first variant is the plain one; done removes the folders of the
// builds.
func buildVariants(ctx context.Context, dir, tmp string) (all []*variant, done func(), err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, nil, err
	}
	plain := &variant{name: "plain", about: "as `go test -c` builds it", dir: dir, path: filepath.Join(tmp, "plain.test")}
	race := &variant{
		name: "-race", about: "the race detector of the Go distribution", dir: dir, path: filepath.Join(tmp, "race.test"),
	}
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

// watchVariants builds the programs with every site monitored, with those that
// the static side leaves, and with those that the whole program leaves of them.
func watchVariants(ctx context.Context, dir, tmp string) (all []*variant, done func(), err error) {
	m, err := build.Load(ctx, build.Options{Dir: dir})
	if err != nil {
		return nil, nil, err
	}
	pl, err := makePlans(ctx, m, dir, tmp)
	if err != nil {
		return nil, nil, err
	}
	held, err := heldVariant(ctx, m, pl.every, dir, tmp)
	if err != nil {
		return nil, nil, err
	}
	var built []*monitored
	done, built, err = buildEach(ctx, m, pl, tmp)
	if err != nil {
		return nil, nil, err
	}
	// Every plan is measured idle, and two of them awake.
	w, p, whole := built[0], built[1], built[2]
	return []*variant{
		w.variant("watch, idle", "every site rewritten, the monitor asleep"),
		p.variant("watch, idle, pruned", "the sites that the static side leaves rewritten, the monitor asleep"),
		whole.variant(
			"watch, idle, pruned by the whole program",
			"the sites rewritten that `-whole` leaves of them, the monitor asleep",
		),
		w.variant(
			"watch, default",
			"every site, arming sites and making noise as every fourth run of `interlock test` does by default; "+
				"the first makes none, the others little except where earlier ones point",
			w.awake...),
		p.variant(
			"watch, default, pruned",
			"the same for the sites that the static side leaves, as `interlock test` builds it",
			p.awake...),
		held,
		w.variant(
			"watch, aggressive",
			"every site, windows of about 1 ms at all sites alike whenever one is due, for at most twice the plain time in "+
				"all (`random,prob=1000,strength=1000,budget=200`)",
			append(w.awake, "INTERLOCK_NOISE=random,prob=1000,strength=1000,budget=200")...),
	}, done, nil
}

// plans are three of the same sites.
type plans struct {
	every   *plan.Plan // monitors all
	modular *plan.Plan // that of `interlock test`
	whole   *plan.Plan // that with -whole
}

func makePlans(ctx context.Context, m *build.Module, dir, tmp string) (*plans, error) {
	tool := filepath.Join(tmp, "interlock")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", tool, "./cmd/interlock").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building interlock, which must be done from the root of its repository: %w\n%s", err, out)
	}
	whole, err := planner.Gather(ctx, m, planner.Options{Dir: dir, Tool: tool, Whole: true})
	if err != nil {
		return nil, err
	}
	modular := *whole
	modular.Verdicts, modular.Guarded = nil, nil
	p := new(plans)
	for made, in := range map[**plan.Plan]atomicsets.Inputs{
		&p.every:   {Module: whole.Module, Packages: whole.Packages},
		&p.modular: modular,
		&p.whole:   *whole,
	} {
		of, err := atomicsets.Make(in)
		if err != nil {
			return nil, err
		}
		*made = of.Plan
	}
	return p, nil
}

// buildEach builds the programs for each plan; done removes the folders of the
// builds.
func buildEach(ctx context.Context, m *build.Module, p *plans,
	tmp string) (done func(), built []*monitored, err error) {
	var removes []func()
	done = func() {
		for _, remove := range removes {
			remove()
		}
	}
	for i, one := range []*plan.Plan{p.every, p.modular, p.whole} {
		b, remove, err := buildMonitored(ctx, m, one, tmp, fmt.Sprint("watch", i))
		if err != nil {
			done()
			return nil, nil, err
		}
		built, removes = append(built, b), append(removes, remove)
	}
	return done, built, nil
}

// monitored is a monitored build of the programs.
type monitored struct {
	path, dir string
	awake     []string // environment in which the monitor works
}

func (b *monitored) variant(name, about string, env ...string) *variant {
	return &variant{name: name, about: about, path: b.path, dir: b.dir, env: env}
}

// buildMonitored builds the tests as the plan has it; name begins the names of its files.
func buildMonitored(ctx context.Context, m *build.Module, p *plan.Plan, tmp, name string) (*monitored, func(), error) {
	ws, err := build.Prepare(ctx, m, p)
	if err != nil {
		return nil, nil, err
	}
	binaries, err := ws.BuildTests(ctx)
	if err != nil {
		ws.Close()
		return nil, nil, err
	}
	table := filepath.Join(tmp, name+".sites")
	if err := os.WriteFile(table, arm.SiteTable(p, arm.Run{}), 0o644); err != nil {
		ws.Close()
		return nil, nil, err
	}
	awake := []string{
		"INTERLOCK_OUT=" + filepath.Join(tmp, name+".evidence"), "INTERLOCK_SITES=" + table, "INTERLOCK_SEED=1",
		"INTERLOCK_RUN=1",
	}
	return &monitored{binaries[0].Path, binaries[0].Dir, awake}, func() { ws.Close() }, nil
}

// command runs the benchmarks of v that match.
func (v *variant) command(ctx context.Context, pattern, benchtime string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, v.path, "-test.run=^TestHeld$", "-test.bench="+pattern, "-test.benchtime="+benchtime)
	cmd.Dir, cmd.Env, cmd.Stderr = v.dir, append(os.Environ(), v.env...), os.Stderr
	return cmd
}

// peakMemory returns the peak of the resident memory of one run, in megabytes, as the
// programs print it. (The figure of the system for a child that has ended includes
// its parent's memory before exec.)
func (v *variant) peakMemory(ctx context.Context, pattern, benchtime string) (float64, error) {
	out, err := v.command(ctx, pattern, benchtime).Output()
	if err != nil {
		return 0, fmt.Errorf("running %s: %w\n%s", v.name, err, out)
	}
	for line := range strings.Lines(string(out)) {
		var kB float64
		if _, err := fmt.Sscanf(line, "peak memory: %f kB", &kB); err == nil {
			return kB * 1024 / 1e6, nil
		}
	}
	return 0, fmt.Errorf("running %s: it does not tell its peak of memory, which needs Linux", v.name)
}

// runOnce runs the benchmarks of v once and returns nanoseconds an operation.
func (v *variant) runOnce(ctx context.Context, pattern, benchtime string) (map[string]float64, error) {
	out, err := v.command(ctx, pattern, benchtime).Output()
	if err != nil {
		return nil, fmt.Errorf("running %s: %w\n%s", v.name, err, out)
	}
	ns := map[string]float64{}
	for printed, took := range timing.Benchmarks(string(out)) {
		name, _, _ := strings.Cut(strings.TrimPrefix(printed, "Benchmark"), "-")
		ns[name] = took
	}
	if len(ns) == 0 {
		return nil, fmt.Errorf("running %s: no benchmark matches %s", v.name, pattern)
	}
	return ns, nil
}
