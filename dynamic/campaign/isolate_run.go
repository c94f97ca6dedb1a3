package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/crossing"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// isolatedRun is the result of one run with a pause.
type isolatedRun struct {
	failed   bool
	held     bool            // a goroutine was
	unusable bool            // nothing follows from it: nobody was held, no other goroutine came, or one was not kept away
	panicked int64           // the goroutine that has ended the process by an error of the runtime in the program's code
	failedAt []finding.Frame // its stack
	tests    []string        // that failed
	said     string          // how
	seed     uint64
	reached  map[uint32]bool
	steps    []crossing.Step
}

// run makes a run in which the monitor isolates places, as it reads them, with an order of the goroutines.
func (s *isolation) run(ctx context.Context, places string, order int) (*isolatedRun, error) {
	s.runs++
	seed := orders*(s.seen.seed+uint64(s.runs)) + uint64(order)
	prefix := filepath.Join(s.result.Dir, "isolate")
	file := prefix + ".jsonl"
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	seen := newTally(s.cfg.Plan, s.cfg.Workspace.Module.Packages)
	seen.begin(1, seed, nil, nil)
	o := noise{strength: gentle, plain: s.pkg.PlainTime, quiet: true}
	vars, err := o.environment(&s.cfg.Settings, seen, prefix, nil)
	if err != nil {
		return nil, err
	}
	// The record knows the run by its number: its settings follow from the runs before.
	job := recorded.Job{Name: fmt.Sprintf("isolate-%d %s", s.runs, s.pkg.Package), Engine: "watch", Evidence: file,
		Schedule: "isolate " + places}
	p := s.runTests(ctx, job, s.binary, s.pkg, testproc.Options{
		Env:     append(vars, "INTERLOCK_ISOLATE="+places),
		Timeout: s.result.Timeout, Limit: s.pkg.Limit, Flags: s.without(s.pkg.LeftOut), Test: s.test,
	})
	if p.Err != nil {
		return nil, p.Err
	}
	records, err := readRecords(file)
	if err != nil {
		return nil, err
	}
	seen.add(s.pkg.Package, 0, records, p, func(string, ...any) {})
	r := s.read(p, records, places)
	r.seed, r.reached = seed, seen.reached
	return r, nil
}

// read returns the result of a process.
func (s *isolation) read(p *testproc.Process, records []evidence.Record, places string) *isolatedRun {
	r := &isolatedRun{said: p.Said(), tests: p.FailedTests(), steps: crossing.Read(records)}
	fails, excuse := p.Outcome == Failed || p.Outcome == Panicked, excuseOf(p)
	r.failed = fails && excuse == ""
	panicked, ok := stacktext.PanicOf(p.Crash)
	if ok && strings.HasPrefix(panicked.Message, "runtime error: ") && s.isOurs(panicked.Goroutine.Stack[0].File) {
		r.panicked, r.failedAt = panicked.Goroutine.ID, panicked.Goroutine.Stack
	}
	// A run that waits for other goroutines counts only if one of them comes.
	came, late := !strings.Contains(places, "near=") && !strings.Contains(places, "out="), false
	for i := range r.steps {
		r.held = r.held || r.steps[i].What == evidence.StepHeld
		came = came || r.steps[i].What == evidence.StepCame
		late = late || r.steps[i].What == evidence.StepLate
	}
	r.unusable = p.Outcome != Passed && !r.failed || !r.held || !came || late
	return r
}
