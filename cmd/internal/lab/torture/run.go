package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// batch is a module of programs, with the results of its runs.
type batch struct {
	dir       string
	programs  []*program
	byFile    map[string]*program
	tests     map[string]*program // by the name of the test
	failed    map[*program]string // without the monitor: how
	raced     map[*program]bool   // under the race detector
	findings  []*finding.Finding
	failures  []string // sentences of interlock on tests that failed
	problems  []string // other faults: a build, a crash of a tool
	suspected int
	took      time.Duration
}

// measure runs the batch in all ways.
func (b *batch) measure(ctx context.Context, o options) error {
	if err := layOut(b.dir, b.programs); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	b.byFile, b.tests = map[string]*program{}, map[string]*program{}
	b.failed, b.raced = map[*program]string{}, map[*program]bool{}
	for _, p := range b.programs {
		b.byFile[p.fileName()], b.tests[p.testName()] = p, p
	}
	if o.norace {
		b.runPlain(ctx)
	} else {
		b.runRace(ctx)
	}
	b.runMonitored(ctx, o)
	return ctx.Err()
}

var failLine = regexp.MustCompile(`(?m)^--- FAIL: (\w+) `)

// goTest runs the tests of the batch and returns their output, and whether
// they passed.
func (b *batch) goTest(ctx context.Context, flags ...string) (out string, passed bool) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1", "-vet=off", "-timeout=5m"}, flags...)...)
	cmd.Dir = b.dir
	data, err := cmd.CombinedOutput()
	return string(data), err == nil
}

// runPlain runs the tests of correct programs as they are: a failure is a
// fault of the generator. A racy twin can fail by its race, and Go's maps end
// the whole process then.
func (b *batch) runPlain(ctx context.Context) {
	if !b.programs[0].racy {
		b.noteFailures(b.goTest(ctx))
	}
}

// noteFailures takes up which tests fail without the monitor.
func (b *batch) noteFailures(out string, passed bool) {
	failed := failLine.FindAllStringSubmatch(out, -1)
	for _, m := range failed {
		if p := b.tests[m[1]]; p != nil {
			b.failed[p] = "fails without the monitor"
		}
	}
	if !passed && len(failed) == 0 {
		b.problems = append(b.problems, "go test: "+lastLines(out))
	}
}

// aside is a place of a program in a report of the race detector.
var aside = regexp.MustCompile(`/((?:correct|racy)\d+(?:_test)?\.go):(\d+)`)

// runRace runs the tests under the race detector, which is a plain run too. A
// race of a racy program is one between the accesses that are marked; of a
// correct one, any.
func (b *batch) runRace(ctx context.Context) {
	out, passed := b.goTest(ctx, "-race")
	reports := strings.Split(out, "WARNING: DATA RACE")[1:]
	for _, report := range reports {
		sides, _, _ := strings.Cut(report, "\nGoroutine ")
		for _, m := range aside.FindAllStringSubmatch(sides, -1) {
			line, _ := strconv.Atoi(m[2])
			if p := b.byFile[m[1]]; p != nil && (!p.racy || p.racing[line]) {
				b.raced[p] = true
			}
		}
	}
	if !b.programs[0].racy || len(reports) == 0 {
		b.noteFailures(out, passed)
	}
}

// document is the part of the output of `interlock test -format json` that
// matters here.
type document struct {
	Findings []*finding.Finding `json:"findings"`
	Problems []string           `json:"problems"`
	Failures []string           `json:"failures"`
	Coverage struct {
		Unobserved int `json:"unobserved"`
		Runs       int `json:"runs"`
	} `json:"coverage"`
}

// runMonitored runs the tests through the whole pipeline.
func (b *batch) runMonitored(ctx context.Context, o options) {
	began := time.Now()
	budget := o.budget
	if b.programs[0].racy {
		budget = o.racyBudget
	}
	// Replays would measure the same programs again.
	args := []string{
		"test", "-format", "json", "-replays", "0", "-runs", fmt.Sprint(o.runs), "-budget", fmt.Sprint(budget),
		"-seed", fmt.Sprint(b.programs[0].seed),
	}
	if o.strength > 0 {
		args = append(args, "-strength", fmt.Sprint(o.strength))
	}
	cmd := exec.CommandContext(ctx, o.interlock, append(args, "./...", "--", "-parallel=8")...)
	cmd.Dir = b.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	b.took = time.Since(began)
	if ctx.Err() != nil {
		return
	}
	// The output, for a person.
	if o.keep != "" {
		stem := filepath.Join(o.keep, filepath.Base(b.dir))
		b.problems = append(b.problems, keepOutput(stem, stdout.Bytes(), stderr.Bytes())...)
	}
	// A document that cannot be read is a crash.
	var d document
	if jsonErr := json.Unmarshal(stdout.Bytes(), &d); jsonErr != nil {
		b.problems = append(b.problems, fmt.Sprintf("interlock test: %v: %s", err, lastLines(stderr.String())))
		return
	}
	b.findings, b.failures, b.suspected = d.Findings, d.Failures, d.Coverage.Unobserved
	b.problems = append(b.problems, d.Problems...)
	if d.Coverage.Runs < o.runs {
		b.problems = append(b.problems, fmt.Sprintf("%d of %d runs made", d.Coverage.Runs, o.runs))
	}
}

// keepOutput writes the output to stem.json and stem.txt, and returns the errors.
func keepOutput(stem string, stdout, stderr []byte) (problems []string) {
	for ext, text := range map[string][]byte{".json": stdout, ".txt": stderr} {
		if err := os.WriteFile(stem+ext, text, 0o644); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// confirmed lists the confirmed findings by program; those that lie in none
// are under nil.
func (b *batch) confirmed() map[*program][]*finding.Finding {
	by := map[*program][]*finding.Finding{}
	for _, f := range b.findings {
		if f.Status == finding.Confirmed {
			p := b.byFile[filepath.Base(f.Accesses[0].File)]
			by[p] = append(by[p], f)
		}
	}
	return by
}

// namesRace reports whether a finding names the accesses that race in p.
func (p *program) namesRace(f *finding.Finding) bool {
	return len(f.Accesses) > 1 && p.racing[f.Accesses[0].Line] && p.racing[f.Accesses[1].Line]
}

// lastLines returns the last lines of an output.
func lastLines(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}
