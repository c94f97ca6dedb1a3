package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/internal/crossing"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// run makes a run in which the monitor isolates places, as it reads them, with an order of the goroutines.
func (s *isolation) run(ctx context.Context, places string, order int) (*judge.IsolatedRun, error) {
	s.runs++
	seed := orders*(s.seen.Seed+uint64(s.runs)) + uint64(order)
	prefix := filepath.Join(s.result.Dir, "isolate")
	file := prefix + ".jsonl"
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	seen := judge.NewTally(s.cfg.Plan, s.cfg.Workspace.Module.Packages)
	seen.Begin(1, seed, nil, nil)
	o := run.Delays{Strength: gentle, Plain: s.pkg.PlainTime, Quiet: true}
	vars, err := o.Environment(&s.cfg.Settings, seen.Number(), prefix, nil)
	if err != nil {
		return nil, err
	}
	// The record knows the run by its number: its settings follow from the runs before.
	job := recorded.Job{Name: fmt.Sprintf("isolate-%d %s", s.runs, s.pkg.Package), Engine: "watch", Evidence: file,
		Schedule: "isolate " + places}
	p := s.runTests(ctx, job, s.binary, s.pkg, testproc.Options{
		Env:     append(vars, "INTERLOCK_ISOLATE="+places),
		Timeout: s.result.Timeout, Limit: s.runLimit(), Flags: s.without(s.pkg.LeftOut), Test: s.test,
	})
	if p.Err != nil {
		return nil, p.Err
	}
	records, err := run.ReadRecords(file)
	if err != nil {
		return nil, err
	}
	seen.Add(s.pkg.Package, 0, records, p, func(string, ...any) {})
	r := s.read(p, records, places)
	r.Seed, r.Reached = seed, seen.Reached
	return r, nil
}

// runLimit is how long one run may take: as long as any other of the package, and no longer than the search. A pause in
// a loop with a million rounds can make a short test take many minutes.
func (s *isolation) runLimit() time.Duration {
	return min(s.pkg.Limit, max(time.Until(s.end), leastTry))
}

// read returns the result of a process.
func (s *isolation) read(p *testproc.Process, records []evidence.Record, places string) *judge.IsolatedRun {
	r := &judge.IsolatedRun{Said: p.Said(), Tests: p.FailedTests(), Steps: crossing.Read(records)}
	fails, excuse := p.Outcome == run.Failed || p.Outcome == run.Panicked, judge.ExcuseOf(p)
	r.Failed = fails && excuse == ""
	panicked, ok := stacktext.PanicOf(p.Crash)
	if ok && strings.HasPrefix(panicked.Message, "runtime error: ") && s.isOurs(panicked.Goroutine.Stack[0].File) {
		r.Panicked, r.FailedAt = panicked.Goroutine.ID, panicked.Goroutine.Stack
	}
	// A run that waits for other goroutines counts only if one of them comes.
	came, late := !strings.Contains(places, "near=") && !strings.Contains(places, "out="), false
	for i := range r.Steps {
		r.Held = r.Held || r.Steps[i].What == evidence.StepHeld
		came = came || r.Steps[i].What == evidence.StepCame
		late = late || r.Steps[i].What == evidence.StepLate
	}
	r.Unusable = p.Outcome != run.Passed && !r.Failed || !r.Held || !came || late
	return r
}
