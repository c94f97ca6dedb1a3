package patches

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/dynamic/tree"
)

// side is the module without the patch, or with it.
type side int

const (
	before side = iota
	after
)

// lab holds the two copies of a module.
type lab struct {
	options
	bug
	tmp      string
	env      []string // added to that of this process
	packages []string // those that the patch changes and the driver's, as arguments of the go command
}

func (l *lab) folderOf(s side) string {
	return filepath.Join(l.tmp, [...]string{"before", "after"}[s], filepath.Base(l.Dir))
}

// changed is the line of a diff that names a file as it becomes.
var changed = regexp.MustCompile(`(?m)^\+\+\+ b/(\S+)`)

// writeModule makes the two copies, with the driver in both.
func (l *lab) writeModule(ctx context.Context) error {
	diff, err := os.ReadFile(l.Patch)
	if err != nil {
		return err
	}
	driver, err := os.ReadFile(l.Driver)
	if err != nil {
		return err
	}
	packages := map[string]bool{"./" + path.Clean(l.Package): true}
	for _, file := range changed.FindAllSubmatch(diff, -1) {
		packages["./"+path.Dir(string(file[1]))] = true
	}
	l.packages = slices.Sorted(maps.Keys(packages))
	for _, s := range []side{before, after} {
		if err := tree.Copy(ctx, l.folderOf(s), l.Dir, nil); err != nil {
			return err
		}
		at := filepath.Join(l.folderOf(s), filepath.FromSlash(l.Package), filepath.Base(l.Driver))
		if err := os.WriteFile(at, driver, 0o644); err != nil {
			return err
		}
	}
	apply := exec.CommandContext(ctx, "git", "apply", l.Patch)
	apply.Dir = l.folderOf(after)
	apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+l.tmp) // below no repository
	if out, err := apply.CombinedOutput(); err != nil {
		return fmt.Errorf("applying %s: %w\n%s", l.Patch, err, out)
	}
	return nil
}

// driverRuns is how often the driver runs in each copy.
const driverRuns = 10

// driveFix runs the driver under the race detector, each time in a process of its own.
func (l *lab) driveFix(ctx context.Context, r *result) error {
	for _, s := range []side{before, after} {
		dir := filepath.Join(l.folderOf(s), filepath.FromSlash(l.Package))
		binary := filepath.Join(l.tmp, "driver.test")
		if _, err := command.Go(ctx, dir, l.env, "test", "-race", "-vet=off", "-c", "-o", binary, "."); err != nil {
			return err
		}
		for range driverRuns {
			out, err := l.output(ctx, dir, binary, "-test.run=^"+l.Test+"$", "-test.timeout=60s", "-test.v")
			switch {
			case err != nil:
				return err
			case !strings.Contains(out, "--- PASS: "+l.Test+" "):
				r.drives[s]++
			}
		}
	}
	return nil
}

// waitDelay is how long a program that was ended has to write its report, and how long pipes are read that
// processes keep open which tests have left behind.
const waitDelay = 20 * time.Second

// output runs a program and returns its output. That it fails is no error.
func (l *lab) output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), l.env...), "PWD="+dir)
	cmd.WaitDelay = waitDelay
	out, err := cmd.CombinedOutput()
	if errors.As(err, new(*exec.ExitError)) || errors.Is(err, exec.ErrWaitDelay) {
		err = ctx.Err()
	}
	return string(out), err
}

// again is how often the tests run once more in each copy where some fail with the patch.
const again = 4

// runTests runs the module's own tests, and names those that fail with the patch and never without.
func (l *lab) runTests(ctx context.Context, r *result) error {
	names, err := l.failures(ctx, after)
	if err != nil || len(names) == 0 {
		return err
	}
	var without []string
	for range again {
		for _, s := range []side{before, after} {
			more, err := l.failures(ctx, s)
			if err != nil {
				return err
			}
			if s == before {
				without = append(without, more...)
			} else {
				names = append(names, more...)
			}
		}
	}
	r.fails, r.failsAnyway = compare(names, without)
	return nil
}

// compare parts the elements of with, each once, into those that are not in without and those that are.
func compare(with, without []string) (onlyWith, both []string) {
	slices.Sort(with)
	for _, what := range slices.Compact(with) {
		if slices.Contains(without, what) {
			both = append(both, what)
		} else {
			onlyWith = append(onlyWith, what)
		}
	}
	return onlyWith, both
}

// failedTest matches go test's line on a test that is no subtest, failedPackage that on
// a package, even if its tests were ended.
var (
	failedTest    = regexp.MustCompile(`(?m)^--- FAIL: (\S+) \(`)
	failedPackage = regexp.MustCompile(`(?m)^FAIL\t(\S+)`)
)

// failures runs the tests of the packages once, without the driver, and names those that fail or do not end in time.
func (l *lab) failures(ctx context.Context, s side) ([]string, error) {
	args := append([]string{"test", "-count=1", "-vet=off", "-timeout=" + l.limit.String(), "-skip=^" + l.Test + "$"},
		l.packages...)
	out, err := l.output(ctx, l.folderOf(s), "go", args...)
	var names []string
	for _, re := range []*regexp.Regexp{failedTest, failedPackage} {
		for _, m := range re.FindAllStringSubmatch(out, -1) {
			names = append(names, m[1])
		}
	}
	return names, err
}

// report is the part of a report of interlock test that is read.
type report struct {
	Findings []*finding.Finding `json:"findings"`
	Failures []string           `json:"failures"`
	Coverage struct {
		Runs  int `json:"runs"`
		Asked int `json:"asked"`
	} `json:"coverage"`
}

// campaign makes monitored runs of the packages' tests with the patch, and names confirmed findings and failed tests;
// those of as many runs without the patch are left out.
func (l *lab) campaign(ctx context.Context, r *result) error {
	with, err := l.monitor(ctx, after)
	if err != nil {
		return err
	}
	r.runs, r.asked = with.Coverage.Runs, with.Coverage.Asked
	shown := with.listShown()
	if len(shown) == 0 {
		return nil
	}
	without, err := l.monitor(ctx, before)
	if err != nil {
		return err
	}
	r.reported, r.reportedAnyway = compare(shown, without.listShown())
	return nil
}

// monitor makes one campaign. It is interrupted where it takes too long; its report has the findings until then.
func (l *lab) monitor(ctx context.Context, s side) (*report, error) {
	file := filepath.Join(l.tmp, "report.json")
	defer os.Remove(file)
	limited, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	args := []string{"test", fmt.Sprintf("-runs=%d", l.runs), "-seed=1", "-replays=0", "-config=off", "-o=json:" + file}
	cmd := exec.CommandContext(limited, l.interlock, append(args, l.packages...)...)
	cmd.Dir, cmd.Env = l.folderOf(s), append(append(os.Environ(), l.env...), "PWD="+l.folderOf(s))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = waitDelay
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	data, readErr := os.ReadFile(file)
	if readErr != nil {
		return nil, fmt.Errorf("interlock test wrote no report: %w\n%s", errors.Join(err, readErr), out.Bytes())
	}
	rep := new(report)
	if err := json.Unmarshal(data, rep); err != nil {
		return nil, fmt.Errorf("reading the report: %w", err)
	}
	return rep, nil
}

// listShown lists the results of runs: confirmed findings by code and variable or title, as lines move with the
// patch, and tests that failed.
func (r *report) listShown() []string {
	var all []string
	for _, f := range r.Findings {
		if f.Status != finding.Confirmed || f.Minor() {
			continue
		}
		name := f.Title
		if f.Variable.Name != "" {
			name = f.Variable.String()
		}
		all = append(all, fmt.Sprintf("%s %s", f.Code, name))
	}
	// A sentence begins with the tests, or with the package.
	for _, text := range r.Failures {
		tests, _, _ := strings.Cut(text, " of ")
		for name := range strings.SplitSeq(tests, ", ") {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
