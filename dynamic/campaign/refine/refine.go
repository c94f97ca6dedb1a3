// Package refine tries atomic sections with an oracle: a command that accepts or rejects a
// run of the program. Invariants that an accepted run splits are none (AtomRace 4.3).
package refine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Config is how sections are refined: a command is run
// again and again with the monitor awake, and reports by its exit code whether the
// run was correct.
type Config struct {
	Workspace *build.Workspace
	Plan      *plan.Plan
	Oracle    []string // the command and its arguments
	Where     string   // folder in which it runs
	Runs      int      // at most
	Quiet     int      // correct runs in a row that change nothing, and end it
	Plants    int      // violations to try the oracle with, at most
	Seed      uint64   // of the first run
	Strength  int      // of the noise, in microseconds
	Dir       string   // takes the evidence, and is kept
	Progress  func(OracleRun)
}

// OracleRun is one run of the oracle.
type OracleRun struct {
	Run     int // from 1; 0 for one before the refinement
	Seed    uint64
	Planted uint32 // site with a planted violation, or 0
	Correct bool
	Elapsed time.Duration
	Split   int // ends of sections that were split
	Dropped int // of them, for the first time
}

// SectionEnd names one end of a section of the plan.
type SectionEnd struct{ Section, Site uint32 }

// Violation is the run that split a section first.
type Violation struct {
	Run  int
	Seed uint64
}

// Result is the result of a refinement.
type Result struct {
	Runs []OracleRun // without those before the refinement
	// Plants are the runs with planted violations; the last one was rejected, or
	// none was.
	Plants []OracleRun
	// Dropped are ends of invariants that a correct run has split.
	Dropped map[SectionEnd]Violation
	// Listed are ends of other sections that a correct run has split. A person
	// decides about them.
	Listed map[SectionEnd]Violation
	// Faulty are ends that only incorrect runs have split.
	Faulty map[SectionEnd]Violation
	Seen   map[SectionEnd]int // how often owners came to an end
	// Settled reports whether enough correct runs in a row changed nothing.
	Settled     bool
	Interrupted bool
	Elapsed     time.Duration
	Problems    []string
	// Output is that of the oracle in the first run that it rejected, planted
	// violations aside.
	Output []byte
}

// Errors of [Run] that are for the user to mend.
var (
	ErrNoEvidence   = errors.New("no process that the oracle has run is monitored")
	ErrOracleFails  = errors.New("the oracle rejects the program as it is")
	ErrNothingSeen  = errors.New("no write of a number was reached, so no violation can be planted to try the oracle with")
	ErrOracleBlind  = errors.New("the oracle accepts planted violations")
	ErrNeverCorrect = errors.New("the oracle rejects every run with noise")
)

// Run tries the oracle, then runs it until nothing changes. The oracle must
// accept the program without noise and reject at least one planted violation: a
// write that is lost, as if another goroutine stored the old value behind it. If
// it does not, Run returns an error, and the result holds the runs so far.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	r := &refiner{cfg: &cfg, reached: map[uint32]bool{}, Result: &Result{
		Dropped: map[SectionEnd]Violation{}, Listed: map[SectionEnd]Violation{}, Faulty: map[SectionEnd]Violation{},
		Seen: map[SectionEnd]int{},
	}}
	began := time.Now()
	err := r.run(ctx)
	r.Elapsed = time.Since(began)
	if ctx.Err() != nil {
		r.Interrupted, err = true, nil
	}
	return r.Result, err
}

type refiner struct {
	cfg     *Config
	limit   time.Duration   // of a run with noise
	reached map[uint32]bool // sites, by a run before those with planted violations
	*Result
}

func (r *refiner) run(ctx context.Context) error {
	if err := os.MkdirAll(r.cfg.Dir, 0o755); err != nil {
		return fmt.Errorf("making the evidence folder: %w", err)
	}
	if err := os.WriteFile(r.sites(), arm.SiteTable(r.cfg.Plan, arm.Run{}), 0o644); err != nil {
		return fmt.Errorf("writing the site table: %w", err)
	}
	if err := r.tryPlain(ctx); err != nil {
		return err
	}
	quiet, correct := 0, 0
	for n := 1; n <= r.cfg.Runs && quiet < r.cfg.Quiet; n++ {
		run, err := r.round(ctx, n)
		if err != nil {
			return err
		}
		switch {
		case !run.Correct:
		case run.Dropped > 0:
			quiet, correct = 0, correct+1
		default:
			quiet, correct = quiet+1, correct+1
		}
		if n == 1 { // now the reached sites are known
			if err := r.tryPlanted(ctx); err != nil {
				return err
			}
		}
	}
	r.Settled = quiet >= r.cfg.Quiet
	if correct == 0 {
		return ErrNeverCorrect
	}
	return nil
}

func (r *refiner) sites() string { return filepath.Join(r.cfg.Dir, "sites.txt") }

// tryPlain runs the oracle with the monitor asleep until it has been correct
// twice: the first run builds, and tests may fail now and then by themselves.
func (r *refiner) tryPlain(ctx context.Context) error {
	const tries, enough = 4, 2
	for try, correct := 0, 0; try < tries; try++ {
		run, err := r.execute(ctx, OracleRun{}, nil)
		if err != nil {
			return err
		}
		if !run.Correct {
			continue
		}
		if correct++; correct == enough {
			r.limit = child.Stretch(run.Elapsed, 0) + child.Floor
			return nil
		}
	}
	return ErrOracleFails
}

// round makes run n.
func (r *refiner) round(ctx context.Context, n int) (OracleRun, error) {
	run := OracleRun{Run: n, Seed: r.cfg.Seed + uint64(n-1)}
	file := filepath.Join(r.cfg.Dir, fmt.Sprintf("run-%04d.jsonl", n))
	run, err := r.execute(ctx, run, r.awake(run, file))
	if err != nil {
		return run, err
	}
	split, err := r.read(file)
	if err != nil {
		return run, err
	}
	run.Split = len(split)
	for _, end := range split {
		if r.note(end, run) {
			run.Dropped++
		}
	}
	r.Runs = append(r.Runs, run)
	r.tell(run)
	return run, nil
}

// note takes up that an end was split, and reports whether it is dropped now.
func (r *refiner) note(end SectionEnd, run OracleRun) (dropped bool) {
	v := Violation{run.Run, run.Seed}
	into := r.Listed
	switch {
	case !run.Correct:
		into = r.Faulty
	case r.cfg.Plan.Sections[end.Section-1].Kind == plan.Invariant:
		into = r.Dropped
	}
	_, known := into[end]
	if !known {
		into[end] = v
	}
	if run.Correct {
		delete(r.Faulty, end)
	} else if _, harmless := r.Dropped[end]; harmless {
		delete(r.Faulty, end)
	}
	return run.Correct && !known && r.cfg.Plan.Sections[end.Section-1].Kind == plan.Invariant
}

// read returns the ends that a run has split, and counts those that it reached.
func (r *refiner) read(file string) ([]SectionEnd, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoEvidence
	}
	if err != nil {
		return nil, fmt.Errorf("reading the evidence: %w", err)
	}
	defer f.Close()
	records, bad, err := evidence.Read(f)
	if err != nil {
		return nil, fmt.Errorf("reading the evidence: %w", err)
	}
	if bad.Lines > 0 {
		r.Problems = append(r.Problems, bad.String())
	}
	// The last record of a process has its sums; each split has a record of its own.
	var split []SectionEnd
	for _, process := range evidence.ByProcess(records) {
		var last *evidence.Record
		for i := range process {
			switch rec := &process[i]; {
			case rec.Kind == evidence.Stats:
				last = rec
			case rec.Kind == evidence.Split && int(rec.Split.Section) <= len(r.cfg.Plan.Sections):
				if end := (SectionEnd{rec.Split.Section, rec.Split.End.Site}); !slices.Contains(split, end) {
					split = append(split, end)
				}
			}
		}
		if last != nil {
			for _, e := range last.Ended {
				r.Seen[SectionEnd{e.Section, e.Site}] += e.Times
			}
			for _, id := range last.Reached {
				r.reached[id] = true
			}
		}
	}
	// A process that died before its last record has come to the end all the same.
	for _, end := range split {
		r.Seen[end] = max(r.Seen[end], 1)
	}
	return split, nil
}

// tryPlanted runs the oracle with violations planted at writes that run 1 has
// reached, until it rejects one.
func (r *refiner) tryPlanted(ctx context.Context) error {
	sites := r.plantable()
	if len(sites) == 0 {
		return ErrNothingSeen
	}
	for _, id := range sites[:min(len(sites), r.cfg.Plants)] {
		run := OracleRun{Seed: r.cfg.Seed, Planted: id}
		run, err := r.execute(ctx, run, r.awake(run, filepath.Join(r.cfg.Dir, fmt.Sprintf("plant-%d.jsonl", id))))
		if err != nil {
			return err
		}
		r.Plants = append(r.Plants, run)
		r.tell(run)
		if !run.Correct {
			return nil
		}
	}
	return ErrOracleBlind
}

// plantable returns the sites outside tests that were reached and write a number,
// one a variable, first those of variables that have a section.
func (r *refiner) plantable() []uint32 {
	inSection := map[plan.Variable]bool{}
	for i := range r.cfg.Plan.Sections {
		for _, v := range r.cfg.Plan.Sections[i].Variables {
			inSection[v] = true
		}
	}
	var first, others []uint32
	seen := map[plan.Variable]bool{}
	for i := range r.cfg.Plan.Sites {
		s := &r.cfg.Plan.Sites[i]
		writes := s.Mode == plan.Write || s.Mode == plan.AtomicWrite
		number := s.Scalar != "" && s.Scalar != "pointer" && !s.Behind
		switch {
		case !writes || !number || !r.reached[s.ID] || seen[s.Variable] || strings.HasSuffix(s.File, "_test.go"):
			continue
		case inSection[s.Variable]:
			first = append(first, s.ID)
		default:
			others = append(others, s.ID)
		}
		seen[s.Variable] = true
	}
	return append(first, others...)
}

// awake is the environment of a run with the monitor awake.
func (r *refiner) awake(run OracleRun, file string) []string {
	vars := []string{
		"INTERLOCK_OUT=" + file, "INTERLOCK_SITES=" + r.sites(),
		fmt.Sprintf("INTERLOCK_RUN=%d", run.Run), fmt.Sprintf("INTERLOCK_SEED=%d", run.Seed),
		fmt.Sprintf("INTERLOCK_NOISE=strength=%d", r.cfg.Strength),
		"INTERLOCK_SECTIONS=" + arm.SectionList(r.cfg.Plan, r.open(), nil),
	}
	if run.Planted != 0 {
		vars = append(vars, fmt.Sprintf("INTERLOCK_PLANT=%d", run.Planted), "INTERLOCK_SECTIONS=")
	}
	return vars
}

// open returns the sections that have an end which is not dropped.
func (r *refiner) open() []uint32 {
	return slices.DeleteFunc(arm.Sections(r.cfg.Plan, nil), func(id uint32) bool {
		return !slices.ContainsFunc(r.cfg.Plan.Sections[id-1].Ends, func(e plan.End) bool {
			_, dropped := r.Dropped[SectionEnd{id, e.Site}]
			return !dropped
		})
	})
}

// execute runs the oracle.
func (r *refiner) execute(ctx context.Context, run OracleRun, vars []string) (OracleRun, error) {
	cmd := exec.Command(r.cfg.Oracle[0], r.cfg.Oracle[1:]...)
	cmd.Dir = r.cfg.Where
	cmd.Env = slices.Concat(os.Environ(), r.goEnv(), []string{"PWD=" + r.cfg.Where}, vars)
	deadline := time.Duration(0)
	if r.limit > 0 { // the tests have the time to end by themselves
		deadline = r.limit + 2*child.Grace
	}
	out := new(child.Output)
	_, elapsed, err := child.Run(ctx, cmd, out, deadline)
	if err != nil {
		return run, fmt.Errorf("starting the oracle: %w", err)
	}
	if ctx.Err() != nil {
		return run, ctx.Err()
	}
	run.Elapsed = elapsed
	run.Correct = cmd.ProcessState.ExitCode() == 0
	if !run.Correct && run.Planted == 0 && r.Output == nil {
		r.Output = out.Bytes()
	}
	return run, nil
}

// goEnv returns the environment in which go commands build the instrumented program, run its tests
// anew, and end them when they take much longer than without noise.
func (r *refiner) goEnv() []string {
	env := r.cfg.Workspace.Env()
	for i, v := range env {
		if strings.HasPrefix(v, "GOFLAGS=") {
			env[i] += " -vet=off -count=1"
			if r.limit > 0 {
				env[i] += " -timeout=" + r.limit.Round(time.Second).String()
			}
		}
	}
	return env
}

func (r *refiner) tell(run OracleRun) {
	if r.cfg.Progress != nil {
		r.cfg.Progress(run)
	}
}
