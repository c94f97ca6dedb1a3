package realmodules

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign"
)

// outcomes are those of the tests and subtests of a run, by name; the process
// itself is there as "".
type outcomes map[string]string

// pkg is a package compared.
type pkg struct {
	path    string
	plain   outcomes // of the tests that went the same way in all plain runs
	unsure  []string // tests that did not
	differ  []difference
	seconds [len(modes)]float64
}

// difference is a test that went another way instrumented.
type difference struct {
	mode, test  string
	plain, then string
	again       [2]string // how it went in two further instrumented runs
}

// always reports that it did not go as plain in any instrumented run. A
// rewriting that is wrong shows always, or nearly so; a difference in one run is
// a matter of time, on a machine that has other work too.
func (d *difference) always() bool { return d.again[0] != d.plain && d.again[1] != d.plain }

// mode is a way to run the tests.
type mode int

const (
	plain mode = iota
	asleep
	awake
)

var modes = [...]string{plain: "plain", asleep: "asleep", awake: "awake"}

// plainRuns is how often the plain binary runs at first. More runs follow for
// tests that differ.
const plainRuns = 2

// compare runs the i-th package each way.
func (b *both) compare(ctx context.Context, i int, tmp string, o options) (*pkg, error) {
	p := &pkg{path: b.binaries[i].Package}
	fmt.Fprintf(os.Stderr, "suites:     %s\n", p.path)
	var outputs [len(modes)][]byte
	run := func(m mode) outcomes {
		began := time.Now()
		out := b.execute(ctx, m, i, tmp, o.timeout)
		if outputs[m] == nil {
			outputs[m], p.seconds[m] = out, time.Since(began).Seconds()
		}
		return parseOutcomes(out)
	}
	p.plain = run(plain)
	for range plainRuns - 1 {
		p.dropDoubtful(run(plain))
	}
	for _, m := range []mode{asleep, awake} {
		got := run(m)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(p.against(got)) == 0 {
			continue
		}
		p.dropDoubtful(run(plain)) // it may fail now and then by itself
		again := []outcomes{run(m), run(m)}
		for _, d := range p.against(got) {
			d.mode = modes[m]
			d.again = [2]string{again[0][d.test], again[1][d.test]}
			p.differ = append(p.differ, d)
		}
	}
	if len(p.differ) > 0 {
		o.keepOutputs(p, outputs[:])
	}
	return p, ctx.Err()
}

// dropDoubtful takes those tests out that went another way in a further plain run.
func (p *pkg) dropDoubtful(again outcomes) {
	for test, how := range p.plain {
		if again[test] != how {
			delete(p.plain, test)
			p.unsure = append(p.unsure, test)
		}
	}
	slices.Sort(p.unsure)
}

// against returns the tests that went another way than plain.
func (p *pkg) against(got outcomes) []difference {
	var all []difference
	for _, test := range slices.Sorted(maps.Keys(p.plain)) {
		if how := got[test]; how != p.plain[test] {
			all = append(all, difference{test: test, plain: p.plain[test], then: how})
		}
	}
	return all
}

// execute runs a test binary from a folder of its own for temporary files.
func (b *both) execute(ctx context.Context, m mode, i int, tmp string, timeout time.Duration) []byte {
	bin := b.binaries[i]
	path, env := bin.Path, []string(nil)
	switch m {
	case plain:
		path = b.plain[bin.Package]
	case awake:
		env = []string{
			"INTERLOCK_OUT=" + filepath.Join(tmp,
				"evidence.jsonl"), "INTERLOCK_SITES=" + b.table, "INTERLOCK_RUN=1", "INTERLOCK_SEED=1",
			fmt.Sprintf("INTERLOCK_NOISE=strength=%d", campaign.Strength(1)),
		}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout+time.Minute)
	defer cancel()
	args := append([]string{"-test.paniconexit0", "-test.v=test2json", "-test.timeout=" + timeout.String()}, b.flags...)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.WaitDelay = bin.Dir, time.Second
	cmd.Env = append(append(os.Environ(), "PWD="+bin.Dir), env...)
	out, err := cmd.CombinedOutput()
	how := "pass"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		how = exit.String()
	} else if err != nil {
		how = err.Error()
	}
	return fmt.Appendf(out, "\n%cprocess: %s\n", mark, how)
}

// mark stands before the lines of package testing where its output is meant
// for test2json, wherever the tests' own output leaves the cursor.
const mark = '\x16'

var (
	resultLine  = regexp.MustCompile(`\x16 *--- (PASS|FAIL|SKIP): (\S+) \(`)
	processLine = regexp.MustCompile(`\x16process: (.*)\n$`)
)

func parseOutcomes(out []byte) outcomes {
	got := outcomes{}
	for _, m := range resultLine.FindAllSubmatch(out, -1) {
		got[string(m[2])] = strings.ToLower(string(m[1]))
	}
	if m := processLine.FindSubmatch(out); m != nil {
		got[""] = string(m[1])
	}
	return got
}

// keepOutputs writes the first output of each mode where -keep asks for it.
func (o options) keepOutputs(p *pkg, outputs [][]byte) {
	if o.keep == "" {
		return
	}
	if err := os.MkdirAll(o.keep, 0o755); err != nil {
		return
	}
	for m, out := range outputs {
		name := strings.ReplaceAll(p.path, "/", "_") + "." + modes[m]
		os.WriteFile(filepath.Join(o.keep, name), bytes.ReplaceAll(out, []byte{mark}, nil), 0o644)
	}
}
