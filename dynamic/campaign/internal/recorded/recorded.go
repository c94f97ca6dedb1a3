// Package recorded runs the test binaries of a campaign that is kept in a record, except for runs that the record has.
package recorded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/record"
)

// Runner runs test binaries. It is not safe for concurrent use.
type Runner struct {
	Workspace *build.Workspace
	Record    *record.Campaign // nil keeps nothing
	// Spent is how long the processes have taken, those of the record included, as on a machine without other work.
	// Elapsed is their time as measured, and CPU their processor time.
	Spent, Elapsed, CPU time.Duration
}

// Slowed is how many times as long the processes have taken as they would have without other work of the machine.
func (r *Runner) Slowed() float64 { return max(float64(r.Elapsed)/float64(max(r.Spent, 1)), 1) }

// Job is a process to run.
type Job struct {
	Name     string // unique in the campaign, and the same whenever it is made again
	Run      int    // 0 where it makes no noise
	Seed     uint64
	Engine   string // "watch", "hb", "race" or "plain"
	Schedule string // the command of a replay; "" is the noise in the environment
	Evidence string // file that the process leaves, "" for none
	Once     bool   // it leaves more than the record keeps, so it runs each time
	// Gather, if not nil, adds further files of a process to its evidence.
	Gather func() error
}

// ErrNotRecorded is the error of a process that a campaign of the past has not run.
var ErrNotRecorded = errors.New("the record does not have it")

// The files of a process, as the record names them.
const (
	evidenceFile = "evidence"
	leaksFile    = "leaks"
)

// Run runs a test binary, and keeps its evidence unless ctx ends. If the record has the process, Run only writes its
// files again. An error in reading the record is that of the process.
func (r *Runner) Run(ctx context.Context, job Job, b build.Binary, o testproc.Options) (p *testproc.Process) {
	waited := waitedSoFar()
	defer func() {
		r.Spent += withoutLoad(p.Elapsed, p.CPU, waitedSoFar()-waited)
		r.Elapsed, r.CPU = r.Elapsed+p.Elapsed, r.CPU+p.CPU
	}()
	files := map[string]string{evidenceFile: job.Evidence, leaksFile: o.Leaks}
	if r.Record != nil && !job.Once {
		kept, err := r.Record.Process(job.Name)
		switch {
		case err != nil:
			return &testproc.Process{Err: err}
		case kept != nil:
			return restored(kept, files)
		case r.Record.Past:
			return &testproc.Process{Err: ErrNotRecorded}
		}
	}
	p = testproc.Run(ctx, r.Workspace, b, o)
	p.Settle(ctx)
	if job.Gather != nil && p.Err == nil {
		p.Err = job.Gather()
	}
	if r.Record == nil || r.Record.Past || r.Record.Unkept != nil || job.Once || p.Err != nil || ctx.Err() != nil {
		return p
	}
	// A process that cannot be recorded counts all the same. The record has no gap: it ends there.
	r.Record.Unkept = r.keep(&job, b, &o, p, files)
	return p
}

// keep records a process and its files.
func (r *Runner) keep(
	job *Job, b build.Binary, o *testproc.Options, p *testproc.Process, files map[string]string,
) error {
	kept := &record.Process{
		Name: job.Name, Run: job.Run, Package: b.Package, Engine: job.Engine, Seed: job.Seed, Schedule: job.Schedule,
		Outcome: string(p.Outcome), Exit: p.Exit, State: p.State, Killed: p.Killed, Elapsed: p.Elapsed, CPU: p.CPU,
		Output: p.Output, Crash: p.Crash, Files: map[string][]byte{},
	}
	if kept.Schedule == "" {
		for _, v := range o.Env {
			if noise, ok := strings.CutPrefix(v, "INTERLOCK_NOISE="); ok {
				kept.Schedule = noise
			}
		}
	}
	for what, name := range files {
		data, err := os.ReadFile(name)
		if name == "" || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("keeping what %s has left: %w", job.Name, err)
		}
		kept.Files[what] = data
	}
	return r.Record.Keep(kept)
}

// restored returns a process as it was when it ended, and writes its files.
func restored(kept *record.Process, files map[string]string) *testproc.Process {
	p := &testproc.Process{
		Outcome: testproc.Outcome(kept.Outcome), Exit: kept.Exit, State: kept.State, Killed: kept.Killed,
		Elapsed: kept.Elapsed, CPU: kept.CPU, Output: kept.Output, Crash: kept.Crash,
	}
	for what, name := range files {
		if data, was := kept.Files[what]; was && name != "" {
			if err := os.WriteFile(name, data, 0o644); err != nil {
				p.Err = fmt.Errorf("writing what %s has left: %w", kept.Name, err)
			}
		}
	}
	return p
}
