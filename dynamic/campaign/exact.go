package campaign

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/deadlock"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/predict"
)

// exactCost is how much longer tests take under the happens-before engine, in percent: what
// their timeout is stretched by.
const exactCost = 1000

// Exact runs test binaries that are built under the happens-before engine, see
// build.PrepareExact, and makes a confirmed finding of each race that a run shows: two accesses
// that nothing orders. Runs make noise only by the schedule of cfg.Where, if that is not auto: the binaries are built
// with the monitor too then, see build.PrepareScheduled. Of cfg, Exact, Only, Prob, Budget and Replays count for
// nothing. With cfg.Race the engine is the race detector of the Go distribution. Errors are as for [Run].
func Exact(ctx context.Context, cfg Config) (*Result, error) {
	cfg.Budget = exactCost
	c, err := start(&cfg)
	if err != nil {
		return nil, err
	}
	c.result.Engine, c.result.Sampled = engineOf(&cfg), cfg.Sampling.String()
	e := newExact(c)
	for run := 1; run <= cfg.Runs && err == nil; run++ {
		c.seen.begin(run, cfg.Seed+uint64(run-1), nil, nil)
		c.progress(Event{Kind: RunStarted, Run: run, Runs: cfg.Runs, Seed: c.seen.seed, Limit: c.result.Timeout})
		for i, b := range cfg.Binaries {
			if err = e.run(ctx, run, b, &c.result.Packages[i], fmt.Sprintf("run-%04d-%03d", run, i+1)); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
		c.result.Runs, c.result.Counted = run, run
		if e.finishExact(); cfg.AfterRun != nil && cfg.AfterRun(c.result) != GoOn {
			break
		}
	}
	e.finishExact()
	return c.result, c.ended(ctx, err)
}

// engineOf is the name of the engine of [Exact].
func engineOf(cfg *Config) string {
	if cfg.Race {
		return "race"
	}
	return "hb"
}

// finishExact makes the findings of what was seen so far, in a campaign of this engine alone.
func (e *exact) finishExact() {
	e.seen.shown = nil // of an earlier call
	e.result.Findings = e.withSplits(e.withPredicted(withUnordered(nil, e.findings()), e.result.Packages))
	finding.Sort(e.result.Findings)
	finding.Seal(e.result.Findings)
}

// exact is what runs under the happens-before engine have shown.
type exact struct {
	*campaign
	races map[exactKey]*exactRace
	// predicted are races of another order of a run, by package predict; those that a run has shown are in races, too.
	predicted map[exactKey]*exactRace
	splits    map[uint32]*predictedSplit // by section
	orders    []*evidence.Record         // of locks, which another order of a run would deadlock by
	lines     map[place][]*plan.Site     // the engine records lines; the plan knows what is accessed there
	runs      int                        // begun
}

func newExact(c *campaign) *exact {
	e := &exact{
		campaign: c, lines: map[place][]*plan.Site{},
		races: map[exactKey]*exactRace{}, predicted: map[exactKey]*exactRace{},
		splits: map[uint32]*predictedSplit{},
	}
	for i := range c.cfg.Plan.Sites {
		s := &c.cfg.Plan.Sites[i]
		at := place{s.File, s.Line}
		e.lines[at] = append(e.lines[at], s)
	}
	return e
}

// exactKey is what distinguishes races, their two places in the program, in order: x = x + 1 in two
// functions is one race, whichever of their reads and writes the engine has compared.
type exactKey [2]place

func (p exactKey) compare(q exactKey) int { return cmp.Or(p[0].compare(q[0]), p[1].compare(q[1])) }

func keyOf(sides *[2]exactSide) exactKey {
	key := exactKey{sides[0].at, sides[1].at}
	slices.SortFunc(key[:], place.compare)
	return key
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.file, q.file), cmp.Compare(p.line, q.line))
}

// exactRace is what the runs have shown of a race.
type exactRace struct {
	sides [2]exactSide // in the order of the key, of the first record that has most writes
	run   int
	seed  uint64
	test  string // package
	hits  map[int]bool
	count int
}

// exactSide is an access as the engine recorded it.
type exactSide struct {
	goroutine finding.Goroutine
	frame     finding.Frame // the innermost of the user's own
	at        place         // of it
	mode      finding.Mode
	kind      string // of what it accesses, where the stack shows that: a channel or a WaitGroup
}

// run runs one test binary in a campaign of this engine alone.
func (e *exact) run(ctx context.Context, n int, b build.Binary, pkg *PackageResult, name string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if pkg.NoTests {
		e.show(n == 1, testproc.NoTests(b.Package))
		return nil
	}
	o := testproc.Options{Timeout: e.result.Timeout, Live: e.live(n == 1), Flags: e.cfg.TestFlags}
	var made noise
	if e.cfg.Where.Text != "" {
		var err error
		made = e.noiseOf(n, pkg)
		made.quiet = e.cfg.Where.Functions > 0 // the engine needs no windows
		if o.Env, err = made.environment(e.cfg, e.seen, filepath.Join(e.result.Dir, name), nil); err != nil {
			return err
		}
	}
	p, _, err := e.once(ctx, b, recorded.Job{Name: name, Run: n}, o)
	if err != nil {
		return err
	}
	if e.cfg.Where.Text != "" {
		records, err := readRecords(filepath.Join(e.result.Dir, name+".jsonl"))
		if err != nil {
			return err
		}
		e.learn(pkg, &made, records)
	}
	pkg.Runs++
	e.result.Counted = n
	// How an interrupted process ended says nothing of its tests; its races have happened.
	if ctx.Err() != nil {
		return ctx.Err()
	}
	pkg.NoneRan = p.RanNone()
	e.show(n == 1 || p.Outcome != Passed && pkg.First == nil, e.report(p, b.Package))
	switch p.Outcome {
	case Passed:
	case CutShort:
		pkg.NotCompleted++
		if pkg.FirstCut == nil {
			pkg.FirstCut = failureOf(p, n, e.seen.seed, 0)
		}
	default:
		pkg.Failures++
		if pkg.First == nil {
			pkg.First = failureOf(p, n, e.seen.seed, 0)
		}
	}
	e.progress(Event{
		Kind: PackageDone, Run: n, Runs: e.cfg.Runs, Seed: e.seen.seed,
		Package: b.Package, Outcome: p.Outcome, Elapsed: p.Elapsed,
		Goroutines: pkg.size.Goroutines, Events: pkg.size.Events, Depth: e.cfg.Where.Depth,
		Held: pkg.size.Held, Thrashed: pkg.size.Thrashed,
	})
	return nil
}

// before runs a test binary once, before the monitored runs of its package. What that does not show is left
// to them, so the campaign goes on whatever happens, and says what is missing.
func (e *exact) before(ctx context.Context, i int, pkg *PackageResult) error {
	at := slices.IndexFunc(e.cfg.Exact, func(b build.Binary) bool { return b.Package == pkg.Package && b.Path != "" })
	if at < 0 || pkg.hangs || pkg.knewExact { // one such run of the same tests says it all
		return nil
	}
	// The run is shorter than the tests' timeout would have it: the monitored ones are to come.
	p, races, err := e.once(ctx, e.cfg.Exact[at], recorded.Job{Name: fmt.Sprintf("exact-%03d", i+1)}, testproc.Options{
		Timeout: child.Stretch(PlainTimeout(e.cfg.Timeout), exactCost),
		Limit:   child.Stretch(pkg.PlainTime, exactCost) + e.cfg.Floor,
		Flags:   e.without(pkg.LeftOut),
	})
	var fault *engineFault
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &fault):
		e.problem("%v; the watch engine goes on alone", fault)
		return nil
	case err != nil:
		return err
	}
	// What it has shown needs no further noise.
	e.result.Exact++
	pkg.learned.exact = true
	for _, p := range e.pairs() {
		pkg.auto.Caught(p[0], p[1])
	}
	e.expect(pkg)
	// What it has not come to is said.
	switch {
	case p.Outcome == Passed || races > 0 && p.Outcome == Failed || p.Outcome == pkg.Plain:
	case p.Outcome == CutShort:
		e.result.Partly++
		e.problem("the run of the tests of %s under the happens-before engine was ended after %s, where without it they "+
			"take %s: the rest of it is left to the watch engine", pkg.Package, p.Elapsed.Round(time.Second/10),
			pkg.PlainTime.Round(time.Second/10))
	default:
		e.result.Partly++
		e.problem("the tests of %s %s under the happens-before engine, which is slower: what they skip then is left to "+
			"the watch engine", pkg.Package, p.Outcome)
	}
	e.progress(Event{
		Kind: ExactDone, Run: 1, Runs: e.cfg.Runs, Package: pkg.Package, Outcome: p.Outcome, Elapsed: p.Elapsed,
	})
	return nil
}

// once runs a test binary, takes up the races that it shows, and returns how many that are. An error of
// the engine itself is an *engineFault.
func (e *exact) once(
	ctx context.Context, b build.Binary, job recorded.Job, o testproc.Options,
) (p *testproc.Process, races int, err error) {
	e.runs = e.seen.runs
	file := cmp.Or(job.Evidence, filepath.Join(e.result.Dir, job.Name+".jsonl"))
	job.Engine, job.Seed, job.Evidence = engineOf(e.cfg), e.seen.seed, file
	if e.cfg.Race {
		o.Env = append(o.Env, e.reports(file))
		job.Gather = func() error { return e.gatherReports(file) }
	}
	o.Env = append(o.Env,
		fmt.Sprintf("INTERLOCK_HB_MEMORY=%d", e.cfg.ExactMemory),
		"INTERLOCK_OUT="+file, fmt.Sprintf("INTERLOCK_RUN=%d", e.seen.runs), fmt.Sprintf("INTERLOCK_SEED=%d", e.seen.seed),
	)
	o.Env = append(o.Env, e.cfg.Sampling.Env()...)
	trace := strings.TrimSuffix(file, ".jsonl") + ".trace"
	if e.cfg.Predict {
		job.Once = true
		if err := predict.Create(trace); err != nil {
			return p, 0, err
		}
		o.Env = append(o.Env, "INTERLOCK_TRACE="+trace)
	}
	p = e.tests.Run(ctx, job, b, o)
	if p.Err != nil && ctx.Err() == nil {
		return p, 0, notStarted(b.Package, p.Err)
	}
	if err := p.RefusedFlag(b.Package, e.cfg.TestFlags); err != nil {
		return p, 0, err
	}
	// What an engine at fault has found or not found means nothing.
	if p.Exit == faultExit && bytes.Contains(p.Output, []byte("interlock: happens-before engine: ")) {
		return p, 0, &engineFault{b.Package, lastLine(p.Output)}
	}
	races, err = e.take(file, b.Package)
	if e.cfg.Predict && err == nil {
		err = e.predict(trace, b)
	}
	return p, races, err
}

// reports returns the setting that has the race detector write its reports beside the file of evidence. What they are
// worth is not for the exit code to say.
func (e *exact) reports(file string) string {
	own := ""
	for _, v := range e.cfg.Workspace.UserEnv() {
		if options, ok := strings.CutPrefix(v, "GORACE="); ok {
			own = options + " "
		}
	}
	return fmt.Sprintf("GORACE=%slog_path=%q exitcode=0", own, file+reportsSuffix)
}

// reportsSuffix is what the files of the race detector have in common, behind which it puts the number of the process.
const reportsSuffix = ".race"

// gatherReports adds the reports of the race detector to the file of evidence.
func (e *exact) gatherReports(file string) error {
	names, err := filepath.Glob(file + reportsSuffix + ".*")
	if err != nil || len(names) == 0 {
		return err
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("writing the evidence: %w", err)
	}
	defer out.Close()
	lines := json.NewEncoder(out)
	if _, err := out.WriteString("\n"); err != nil { // the monitor's last line may be torn
		return fmt.Errorf("writing the evidence: %w", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading what the race detector reports: %w", err)
		}
		pid, _ := strconv.Atoi(strings.TrimPrefix(filepath.Ext(name), "."))
		for _, race := range stacktext.Races(string(text)) {
			r := evidence.Record{
				Version: evidence.SchemaVersion, Kind: evidence.Unordered, Run: e.seen.runs, Seed: e.seen.seed, PID: pid,
				A: reportedSide(race[0]), B: reportedSide(race[1]),
			}
			if err := lines.Encode(r); err != nil {
				return fmt.Errorf("writing the evidence: %w", err)
			}
		}
		if err := os.Remove(name); err != nil { // a run of the same name is not to find it
			return err
		}
	}
	return nil
}

func reportedSide(s stacktext.RaceSide) *evidence.Side {
	return &evidence.Side{Write: s.Write, Atomic: s.Atomic, GID: s.GID, Stack: s.Stack}
}

// predict takes up what another order of the traced run would show. Of races only those are kept that are
// between two sites of the plan, so that a run can be driven to them.
func (e *exact) predict(trace string, b build.Binary) error {
	sections, ids := e.sections()
	found, err := predict.FromFile(trace, b.Path, sections)
	if err != nil {
		return err
	}
	if err := os.Remove(trace); err != nil {
		return fmt.Errorf("removing the trace: %w", err)
	}
	if found.Cut {
		e.problem("%s: nothing is predicted of what lies behind the first %d events of the run", b.Package, found.Events)
	}
	// Races between sites of the plan.
	for _, steps := range found.Races {
		r := &exactRace{
			sides: [2]exactSide{e.stepSide(steps[0]), e.stepSide(steps[1])},
			run:   e.seen.runs, seed: e.seen.seed, test: b.Package,
			hits: map[int]bool{e.seen.runs: true}, count: 1,
		}
		if _, known := sharedVariable(e.sitesOf(&r.sides[0]), e.sitesOf(&r.sides[1])); !known {
			continue
		}
		key := keyOf(&r.sides)
		if e.races[key] == nil && e.predicted[key] == nil {
			e.predicted[key] = r
		}
	}
	// Splits by an access of the plan.
	for _, split := range found.Splits {
		e.takeSplit(ids[split.Section], split, b.Package)
	}
	// Deadlocks of locks whose uses the monitor knows.
	run := deadlock.Run{N: e.seen.runs, Seed: e.seen.seed, Package: b.Package}
	for _, steps := range found.Deadlocks {
		circle := []deadlock.Nested{e.nested(steps[0], steps[1]), e.nested(steps[2], steps[3])}
		if order, ok := e.seen.deadlocks.Order(run, circle); ok {
			e.orders = append(e.orders, order)
		}
	}
	return nil
}

// sections returns the atomic sections that a trace may show to be split, and their ids. What a run splits of
// others means nothing: invariants are only guessed, and a trace does not show which entry of a map is accessed.
func (e *exact) sections() (all predict.Sections, ids []uint32) {
	for i := range e.cfg.Plan.Sections {
		s := &e.cfg.Plan.Sections[i]
		isMap := e.cfg.Plan.Site(s.Entry).Variable.Kind == plan.KindMap
		if s.Kind == plan.Invariant || isMap && !s.Length {
			continue
		}
		section := predict.Section{Function: s.Package + "." + s.Function, Entry: e.half(s.Entry, s.EntryCall), Own: s.Own}
		for _, end := range s.Ends {
			to := predict.End{Half: e.half(end.Site, end.EndCall)}
			for _, m := range end.Allows {
				to.Allows = append(to.Allows, stepOf(finding.Mode(m)))
			}
			section.Ends = append(section.Ends, to)
		}
		all.All, ids = append(all.All, section), append(ids, s.ID)
	}
	all.Named = func(at predict.Place) predict.Place {
		pkg, function := stacktext.SplitName(at.Function)
		return predict.Place{Function: pkg + "." + function, File: userPath(e.cfg, at.File), Line: at.Line}
	}
	return all, ids
}

// half returns a site of the plan as an access of a section, in a callee where call is not nil.
func (e *exact) half(site uint32, call *plan.Place) predict.Half {
	s := e.cfg.Plan.Site(site)
	h := predict.Half{File: s.File, Line: s.Line, Op: stepOf(finding.Mode(s.Mode))}
	if call != nil {
		h.Call = &predict.Lines{From: call.Line, To: call.EndLine}
	}
	return h
}

func stepOf(m finding.Mode) predict.Op {
	if writes(m) {
		return predict.Write
	}
	return predict.Read
}

// predictedSplit is a section that another order of a run splits.
type predictedSplit struct {
	section     *plan.Section
	remote, end uint32 // sites
	split       evidence.SplitSection
	run         int
	seed        uint64
	test        string // package
}

// takeSplit takes up that another order of the traced run splits a section by an access of the plan.
func (e *exact) takeSplit(id uint32, found predict.FoundSplit, pkg string) {
	section := e.seen.section(id)
	v := e.cfg.Plan.Site(section.Entry).Variable
	remote := e.stepSide(found.Steps[1])
	sites := slices.DeleteFunc(e.sitesOf(&remote), func(s *plan.Site) bool { return s.Variable != v })
	if len(sites) == 0 || e.splits[id] != nil {
		return
	}
	side := func(k int, site uint32) *evidence.Side {
		s := found.Steps[k]
		return &evidence.Side{Site: site, Write: s.Write, Atomic: s.Atomic}
	}
	end := section.Ends[found.End].Site
	e.splits[id] = &predictedSplit{
		section: section, remote: sites[0].ID, end: end,
		split: evidence.SplitSection{
			Section: id, Entry: side(0, section.Entry), Remote: side(1, sites[0].ID), End: side(2, end),
		},
		run: e.seen.runs, seed: e.seen.seed, test: pkg,
	}
}

// withSplits adds the sections that are predicted to be split and that no run has shown.
func (e *exact) withSplits(all []*finding.Finding) []*finding.Finding {
	for _, id := range slices.Sorted(maps.Keys(e.splits)) {
		if e.seen.splits[id] == nil {
			all = append(all, e.splitFinding(e.splits[id]))
		}
	}
	return all
}

func (e *exact) splitFinding(p *predictedSplit) *finding.Finding {
	words := wordsOf(p.section.Kind)
	entry, remote, end := e.seen.planned(p.section.Entry), e.seen.planned(p.remote), e.seen.planned(p.end)
	entry.Step, remote.Step, end.Step = 1, 2, 3
	pattern := p.split.Pattern()
	v := finding.Variable(p.section.Variables[0])
	f := &finding.Finding{
		Code: words.code, Status: finding.Predicted,
		Title: fmt.Sprintf("%s of %s split by a remote %s (%s) in another order of the same run",
			words.both, v, plainVerb(remote.Mode), pattern),
		Message: fmt.Sprintf("In the run that was traced a lock had one goroutine go through the section and another %s %s "+
			"in %s one after the other. The section releases that lock between %s and %s. In another order of the same run, "+
			"with each goroutine reading the same values before, the other comes in between; no serial order of the two has "+
			"this result: %s.", plainVerb(remote.Mode), remote.Expr, remote.Function, words.entry, words.end, pattern),
		Variable: v, Accesses: []finding.Access{end, entry, remote},
		Section: e.seen.sectionFor(p.section, p.end),
		Evidence: &finding.Evidence{
			Engine: "hb", Run: p.run, Runs: e.runs, Hits: 1, Count: 1, Seed: p.seed, Test: p.test, Pattern: pattern,
		},
	}
	again := e.replayOf(f)
	f.Evidence.Replay = strings.Replace(again.command(e.cfg), " -engine=hb ", " -engine=hb -predict ", 1)
	return f
}

// nested returns two acquisitions in a row of a trace.
func (e *exact) nested(holds, wants predict.Step) deadlock.Nested {
	at := func(s predict.Step) finding.Position {
		p := e.stepSide(s).at
		return finding.Position{File: p.file, Line: p.line}
	}
	return deadlock.Nested{
		GID: int64(wants.Goroutine), Holds: at(holds), Wants: at(wants),
		Stack: fmt.Sprintf("goroutine %d [running]:\n%s(...)\n\t%s:%d\n",
			wants.Goroutine, wants.Function, wants.File, wants.Line),
	}
}

// stepSide returns a step of a trace as a recorded access.
func (e *exact) stepSide(s predict.Step) exactSide {
	g := finding.Goroutine{Stack: []finding.Frame{{Function: s.Function, File: s.File, Line: s.Line}}}
	userPaths(e.cfg, &g)
	frame := g.Stack[0]
	return exactSide{goroutine: g, frame: frame, mode: accessMode(s.Write, s.Atomic), at: place{frame.File, frame.Line}}
}

// faultExit is the exit code of a program whose engine found itself at fault.
const faultExit = 3

// engineFault is an error of the engine in the tests of a package.
type engineFault struct{ pkg, said string }

func (e *engineFault) Error() string { return fmt.Sprintf("the tests of %s: %s", e.pkg, e.said) }

func lastLine(output []byte) string {
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return lines[len(lines)-1]
}

// take takes up the evidence of one process, and returns how many races it has. A process that has shown none
// has left no evidence.
func (e *exact) take(file, pkg string) (races int, err error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("reading the evidence: %w", err)
	}
	defer f.Close()
	records, bad, err := evidence.Read(f)
	if err != nil {
		return 0, err
	}
	if bad.Lines > 0 {
		e.problem("%s: %v", pkg, bad)
	}
	lost := map[int]*evidence.Lost{} // by process, the last counts
	for _, r := range records {
		switch r.Kind {
		case evidence.Unordered:
			e.add(pkg, e.side(r.A), e.side(r.B))
			races++
		case evidence.Dropped:
			lost[r.PID] = r.Lost
		}
	}
	if len(lost) > 0 {
		e.result.Forgot++
	}
	for _, l := range lost {
		e.problem("run %d of the tests of %s under the happens-before engine may have missed races: at least %s", e.seen.runs,
			pkg, missed(l))
	}
	return races, nil
}

// missed returns what the engine could not keep, in words. It counts up to the last power of two.
func missed(l *evidence.Lost) string {
	var parts []string
	for _, p := range []struct {
		n    uint64
		what string
	}{
		{l.Cells, "%d accesses were forgotten (-hb-memory sets the memory for them)"},
		{l.Pages, "the accesses of %d pages of memory were forgotten (-hb-memory sets the memory for them)"},
		{l.Frames, "%d callers are missing in stacks"},
		{l.Slots, "%d goroutines could not be told apart from earlier ones, as there were too many"},
		{l.Clocks, "%d releases of locks and the like were not told apart, as a goroutine made too many"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf(p.what, p.n))
		}
	}
	return strings.Join(parts, ", ")
}

func (e *exact) add(pkg string, a, b exactSide) {
	if a.at.compare(b.at) > 0 {
		a, b = b, a
	}
	key := keyOf(&[2]exactSide{a, b})
	r := e.races[key]
	if r == nil {
		r = &exactRace{sides: [2]exactSide{a, b}, run: e.seen.runs, seed: e.seen.seed, test: pkg, hits: map[int]bool{}}
		e.races[key] = r
		e.progress(Event{Kind: Caught, Run: e.seen.runs, Runs: e.cfg.Runs, Seed: e.seen.seed, Package: pkg})
	}
	if writesOf(a, b) > writesOf(r.sides[0], r.sides[1]) {
		r.sides = [2]exactSide{a, b}
	}
	r.hits[e.seen.runs] = true
	r.count++
}

// writesOf counts the sides that write.
func writesOf(sides ...exactSide) (n int) {
	for _, s := range sides {
		if writes(s.mode) {
			n++
		}
	}
	return n
}

// unknownFile stands for the file of an access that the engine's history no longer had.
const unknownFile = "?"

// side returns a recorded access, at the innermost place of the main modules that its
// stack has, or else the innermost of all.
func (e *exact) side(s *evidence.Side) exactSide {
	g := stacktext.Parse(s.Stack)
	g.ID = s.GID
	userPaths(e.cfg, &g)
	side := exactSide{goroutine: g, frame: finding.Frame{Function: "?", File: unknownFile, Line: 1}}
	if len(g.Stack) > 0 {
		side.frame = stacktext.UserFrame(g.Stack)
	}
	side.mode = accessMode(s.Write, s.Atomic)
	side.at = place{side.frame.File, side.frame.Line}
	for _, f := range g.Stack { // from the innermost
		if side.kind = synchronisation(f.Function); side.kind != "" || !stacktext.IsRuntime(f.Function) {
			break
		}
	}
	return side
}

// synchronisation returns the kind of variable that a function of the runtime or of package sync accesses, if it
// is one that must be ordered itself.
func synchronisation(function string) (kind string) {
	switch {
	case function == "runtime.chansend" || function == "runtime.closechan":
		return plan.KindChannel
	case strings.HasPrefix(function, "sync.(*WaitGroup)."):
		return plan.KindWaitGroup
	}
	return ""
}

func accessMode(write, atomic bool) finding.Mode {
	switch {
	case write && atomic:
		return finding.AtomicWrite
	case write:
		return finding.Write
	case atomic:
		return finding.AtomicRead
	}
	return finding.Read
}

// findings makes a finding of each race.
func (e *exact) findings() []*finding.Finding {
	var all []*finding.Finding
	for _, key := range slices.SortedFunc(maps.Keys(e.races), exactKey.compare) {
		f := e.finding(e.races[key])
		e.seen.shown = append(e.seen.shown, shown{f, e.replayOf(f), func(seen *tally) bool { return seen.unordered[key] }})
		all = append(all, f)
	}
	return all
}

// pairs returns the pairs of sites that the races are between, as far as the plan knows them: runs after
// them have nothing to add.
func (e *exact) pairs() (all []pair) {
	if e == nil {
		return nil
	}
	for _, r := range e.races {
		all = append(all, e.pairsOf(r)...)
	}
	slices.SortFunc(all, comparePairs)
	return slices.Compact(all)
}

// pairsOf returns those of one race.
func (e *exact) pairsOf(r *exactRace) (all []pair) {
	a, b := e.sitesOf(&r.sides[0]), e.sitesOf(&r.sides[1])
	v, known := sharedVariable(a, b)
	if !known {
		return nil
	}
	for _, s := range a {
		for _, t := range b {
			if s.Variable == v && t.Variable == v || synchronises(v) {
				all = append(all, makePair(s.ID, t.ID))
			}
		}
	}
	return all
}

// expect has the schedule of a package drive its runs to what is predicted, first one way round, then the other.
func (e *exact) expect(pkg *PackageResult) {
	for _, order := range e.orders {
		pkg.locks.Observe(order)
	}
	e.orders = nil // those of other packages are theirs
	for _, r := range e.predicted {
		for _, p := range e.pairsOf(r) {
			pkg.auto.Predict(p[0], p[1])
			pkg.auto.Predict(p[1], p[0])
		}
	}
}

// withPredicted adds races that are predicted and that no run has shown.
func (e *exact) withPredicted(shown []*finding.Finding, pkgs []PackageResult) []*finding.Finding {
	all := shown
	for _, key := range slices.SortedFunc(maps.Keys(e.predicted), exactKey.compare) {
		r := e.predicted[key]
		f := e.finding(r)
		isShown := func(s *finding.Finding) bool { return sharedLines(s, f) == 2 }
		if e.races[key] != nil || slices.ContainsFunc(shown, isShown) {
			continue
		}
		tries := 0
		for _, p := range e.pairsOf(r) {
			for i := range pkgs {
				tries += pkgs[i].auto.Tries(p[0], p[1]) + pkgs[i].auto.Tries(p[1], p[0])
			}
		}
		f.Status = finding.Predicted
		for i := range f.Accesses { // a trace has neither the stacks nor the goroutines' own numbers
			f.Accesses[i].Goroutine, f.Accesses[i].Role = nil, ""
		}
		f.Evidence.Replay = strings.Replace(f.Evidence.Replay, " -engine=hb ", " -engine=hb -predict ", 1)
		f.Title = fmt.Sprintf("data race on %s: %s and %s in another order of the same run", f.Variable,
			f.Accesses[0].Mode, f.Accesses[1].Mode)
		f.Message = "In the run that was traced a lock had the two one after the other. In another order of the same " +
			"run, with each goroutine reading the same values, both may come at once."
		if tries > 0 {
			f.Notes = append(f.Notes,
				fmt.Sprintf("later runs held one of the two %d times, and the other did not come", tries))
		}
		all = append(all, f)
	}
	return all
}

// withUnordered adds races that the happens-before engine has shown to those caught at the same moment. Of one
// that both have shown, the latter stays, which has a rate and a harm. A race whose earlier access the engine no
// longer knows may be any of the others that its later access has: it is a note on one of them.
func withUnordered(caught, unordered []*finding.Finding) []*finding.Finding {
	all := caught
	var half []*finding.Finding
	for _, u := range unordered {
		i := slices.IndexFunc(caught, func(c *finding.Finding) bool { return sharedLines(c, u) == 2 })
		switch {
		case i >= 0:
			caught[i].Notes = append(caught[i].Notes,
				"a run under the happens-before engine has shown that nothing orders the two")
		case slices.ContainsFunc(u.Accesses, func(a finding.Access) bool { return a.File == unknownFile }):
			half = append(half, u)
		default:
			all = append(all, u)
		}
	}
	for _, u := range half {
		i := slices.IndexFunc(all, func(f *finding.Finding) bool { return sharedLines(f, u) > 0 })
		if i < 0 {
			all = append(all, u)
			continue
		}
		all[i].Notes = append(all[i].Notes, "a run under the happens-before engine has shown that one of the two is "+
			"unordered with another access, whose place was forgotten")
	}
	return all
}

// sharedLines returns how many lines of race a are lines of race b as well, each counted once.
func sharedLines(a, b *finding.Finding) (n int) {
	at := func(f *finding.Finding, i int) place { return place{f.Accesses[i].File, f.Accesses[i].Line} }
	straight, crossed := 0, 0
	for i := range 2 {
		if at(a, i) == at(b, i) {
			straight++
		}
		if at(a, i) == at(b, 1-i) {
			crossed++
		}
	}
	return max(straight, crossed)
}

func (e *exact) finding(r *exactRace) *finding.Finding {
	a, b := e.sitesOf(&r.sides[0]), e.sitesOf(&r.sides[1])
	v, known := sharedVariable(a, b)
	what := finding.Variable(v).String()
	if !known && v.Name == "" {
		f := r.sides[1].frame
		v.Package, _ = stacktext.SplitName(f.Function)
		v.Name = fmt.Sprintf("what %s:%d accesses", path.Base(f.File), f.Line)
		what = v.Name
	}
	// The later access in the text comes first, so that the same race reads the same each time.
	accesses := []finding.Access{e.access(&r.sides[1], b, v), e.access(&r.sides[0], a, v)}
	f := &finding.Finding{
		Code: raceCode(v.Kind), Status: finding.Confirmed,
		Title: fmt.Sprintf("%s on %s: %s and %s that nothing orders",
			raceName(v.Kind), what, accesses[0].Mode, accesses[1].Mode),
		Variable: finding.Variable(v), Accesses: accesses,
		Message: fmt.Sprintf("Goroutine %d made the first access and goroutine %d the second, and no lock, channel or "+
			"other synchronisation orders the two: either may come first, or both at once.",
			accesses[0].Goroutine.ID, accesses[1].Goroutine.ID),
		Evidence: &finding.Evidence{
			Engine: engineOf(e.cfg), Run: r.run, Runs: e.runs, Hits: len(r.hits), Count: r.count, Seed: r.seed, Test: r.test,
		},
	}
	again := e.replayOf(f)
	f.Evidence.Replay = again.command(e.cfg)
	f.Notes = copies(v, slices.Concat(a, b)...)
	return f
}

// replayOf is a run of the finding's test.
func (e *exact) replayOf(f *finding.Finding) replay {
	r := replay{pkg: f.Evidence.Test, exact: true}
	if e.cfg.Where.Text != "" {
		r.seed, r.runs = f.Evidence.Seed, 1
	}
	if e.cfg.Where.Functions > 0 && f.Evidence.Run > 1 { // what DrFinder knows is that of the run before
		r.seed, r.runs = r.seed-1, 2
	}
	if !strings.Contains(strings.Join(goFlags(e.cfg), " "), "-run=") {
		r.test = testOf(f)
	}
	return r
}

// replayOnce makes the run that the command of r makes, and returns what it shows.
func (e *exact) replayOnce(ctx context.Context, r replay) (*tally, error) {
	i := slices.IndexFunc(e.cfg.Exact, func(b build.Binary) bool { return b.Package == r.pkg && b.Path != "" })
	if i < 0 {
		return nil, fmt.Errorf("no tests of %s", r.pkg)
	}
	job := e.replayJob(&r)
	job.Evidence = filepath.Join(e.result.Dir, "replay-exact.jsonl")
	if err := os.Remove(job.Evidence); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// A run of its own, which takes nothing from the campaign's.
	cfg := *e.cfg
	cfg.Predict = false
	seen := newTally(cfg.Plan, cfg.Workspace.Module.Packages)
	seen.begin(1, 0, nil, nil)
	again := newExact(&campaign{cfg: &cfg, result: &Result{Dir: e.result.Dir}, seen: seen, tests: e.tests})
	// Where all tests run, those that hang are left out.
	o := testproc.Options{Timeout: child.Stretch(PlainTimeout(cfg.Timeout), exactCost), Flags: cfg.TestFlags, Test: r.test}
	for _, pkg := range e.result.Packages {
		if pkg.Package == r.pkg {
			o.Limit = child.Stretch(pkg.PlainTime, exactCost) + cfg.Floor
		}
		if pkg.Package == r.pkg && r.test == "" {
			o.Flags = e.without(pkg.LeftOut)
		}
	}
	if _, _, err := again.once(ctx, cfg.Exact[i], job, o); err != nil {
		return nil, err
	}
	for key := range again.races {
		seen.unordered[key] = true
	}
	return seen, nil
}

// sitesOf returns the sites of the plan that a recorded access may be: the engine knows a
// line, not a column.
func (e *exact) sitesOf(s *exactSide) []*plan.Site {
	var all []*plan.Site
	for _, site := range e.lines[s.at] {
		if synchronises(site.Variable) || s.kind != "" {
			// The runtime's modes are not ours.
			if site.Variable.Kind == s.kind {
				all = append(all, site)
			}
			continue
		}
		// A site of x++ reads as well.
		if mode := finding.Mode(site.Mode); mode == s.mode || writes(mode) && !writes(s.mode) {
			all = append(all, site)
		}
	}
	return all
}

// sharedVariable returns the one variable that both sides may access, if there is only one: a list and its elements are
// one, by the name of the list; a copy of an object accesses its fields. Of several fields of one type it returns the
// type, with all their names.
func sharedVariable(a, b []*plan.Site) (v plan.Variable, ok bool) {
	both := map[plan.Variable]bool{}
	for _, s := range a {
		for _, t := range b {
			switch {
			case s.Variable == t.Variable, isWhole(t.Variable, s.Variable):
				both[s.Variable] = true
			case isWhole(s.Variable, t.Variable):
				both[t.Variable] = true
			}
		}
	}
	// The shortest name is that of the list: x before x[].
	byName := func(v, w plan.Variable) int {
		return cmp.Or(strings.Compare(v.Name, w.Name), strings.Compare(v.Kind, w.Kind))
	}
	if all := slices.SortedFunc(maps.Keys(both), byName); len(all) > 0 {
		names := []string{all[0].Name}
		for _, w := range all[1:] {
			if w.Package != all[0].Package || w.Type != all[0].Type || w.Function != all[0].Function {
				return v, false
			}
			if last := names[len(names)-1]; w.Name != last && w.Name != last+"[]" {
				names = append(names, w.Name)
			}
		}
		v = all[0]
		if len(names) > 1 {
			v.Name, v.Kind = strings.Join(names, " or "), ""
		}
		return v, len(names) == 1
	}
	// A channel may have a name of its own on each side, as a parameter or an element of a list.
	if len(a) == 1 && len(b) == 1 && a[0].Variable.Kind == b[0].Variable.Kind && synchronises(a[0].Variable) {
		return a[0].Variable, true
	}
	return v, false
}

// isWhole reports whether v is all of an object, as a copy of it reads, and field one of its fields.
func isWhole(v, field plan.Variable) bool {
	return v.Name == "*" && v.Type != "" && v.Package == field.Package && v.Type == field.Type
}

// synchronises reports whether a variable is a channel or a WaitGroup.
func synchronises(v plan.Variable) bool { return raceCode(v.Kind) != finding.CaughtInTheAct }

// access returns a side as a finding has it: with what the plan knows of the access, where one
// site of the variable alone is meant.
func (e *exact) access(s *exactSide, sites []*plan.Site, v plan.Variable) finding.Access {
	sites = slices.DeleteFunc(slices.Clone(sites), func(site *plan.Site) bool {
		return site.Variable != v && !isWhole(site.Variable, v) && !synchronises(v)
	})
	f := s.frame
	a := finding.Access{
		Position: finding.Position{File: f.File, Line: f.Line}, Expr: v.Name, Mode: s.mode,
	}
	a.Package, a.Function = stacktext.SplitName(f.Function)
	if len(sites) > 0 {
		site := sites[0]
		a.Package, a.Function, a.Expr, a.Source = site.Package, site.Function, site.Expr, site.Source
		a.Column, a.EndLine, a.EndColumn = site.Column, site.EndLine, site.EndCol
		if synchronises(v) {
			a.Mode = siteMode(site)
		}
	}
	a.Goroutine = &s.goroutine
	if created := s.goroutine.Created; len(created) > 0 {
		a.Role = fmt.Sprintf("goroutine started at %s:%d", created[0].File, created[0].Line)
	}
	return a
}
