package campaign

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

const (
	// isolateLimit bounds the search for the reason of one failing test.
	isolateLimit = 12 * time.Second
	// probeLimit bounds the search in a package without failed tests, beside the time that the tests take under the
	// happens-before engine.
	probeLimit = 4 * time.Second
	// All searches of such packages may take probeCPU of processor time, or probeShare of the time of the runs without
	// the monitor, if that is more: most modules have no bug to be found, and pay for them all the same.
	probeCPU   = 2 * time.Second
	probeShare = 0.25
	// isolateShare is how much of the time that is left for replays all searches may take.
	isolateShare = 0.5
)

// isolationJob is a search to be made.
type isolationJob struct {
	index int    // of the package
	test  string // that fails under noise, as a pattern: "" is all
	fails bool   // or else no test has failed
	limit time.Duration
}

// isolate makes the searches, as far as their share of the campaign's time goes: tests that fail come first, and each
// of them has an equal part of the rest.
func (c *campaign) isolate(ctx context.Context) {
	if !c.cfg.auto() || len(c.cfg.Noise.Pauses)+len(c.cfg.Noise.Hold) > 0 {
		return
	}
	c.finish() // confirmed findings need no search
	jobs := c.isolationJobs()
	failing := 0
	for _, job := range jobs {
		if job.fails {
			failing++
		}
	}
	searches := time.Duration(isolateShare * float64(c.replayTime(1)))
	if failing > 0 && !c.cfg.Bounded { // the user has asked for the runs, whatever they take
		searches = max(searches, c.asLoaded(isolateLimit))
	}
	end := time.Now().Add(searches)
	var cpu cpuLimit
	for i, job := range jobs {
		if !job.fails && cpu.end == 0 {
			cpu = cpuLimit{c.tests, c.tests.CPU + max(probeCPU, time.Duration(probeShare*float64(c.time.unmonitored)))}
		}
		left := time.Until(end)
		if ctx.Err() != nil || left <= 0 || cpu.isReached() {
			return
		}
		if job.fails {
			left /= time.Duration(failing - i)
		}
		c.isolateJob(ctx, job, min(job.limit, left), cpu)
	}
}

// isolationJobs lists the searches, the most promising first: failed tests, then the packages in which goroutines have
// reached most variables at nearly the same time.
func (c *campaign) isolationJobs() (jobs []isolationJob) {
	for i := range c.result.Packages {
		pkg := &c.result.Packages[i]
		f := pkg.UnderNoiseFirst
		switch {
		case pkg.Plain != run.Passed || !c.cfg.Tests.Binaries[i].Monitored:
			// They fail without noise, too, or nothing is known of their goroutines.
		case f == nil && len(pkg.Learned.Gaps) > 0 && !c.isConfirmed(pkg, ""):
			jobs = append(jobs, isolationJob{index: i, limit: probeLimit + c.time.exact})
		case f != nil:
			for _, test := range c.testsToIsolate(pkg) {
				if !c.isConfirmed(pkg, test) {
					jobs = append(jobs, isolationJob{index: i, test: test, fails: true, limit: c.asLoaded(isolateLimit)})
				}
			}
		}
	}
	slices.SortStableFunc(jobs, func(a, b isolationJob) int {
		if a.fails != b.fails {
			return map[bool]int{true: -1, false: 1}[a.fails]
		}
		gaps := func(j isolationJob) int { return len(c.result.Packages[j.index].Learned.Gaps) }
		return cmp.Compare(gaps(b), gaps(a))
	})
	return jobs
}

// isConfirmed reports whether a finding may say why a test of the package fails; any test, where none is named. A
// goroutine that waits for ever for what nobody sends is a symptom: a test that fails and ends has a cause of its own,
// which may be the cause of both.
func (c *campaign) isConfirmed(pkg *run.Package, test string) bool {
	return slices.ContainsFunc(c.result.Findings, func(f *finding.Finding) bool {
		isSymptom := f.Evidence.Blocked != "" && !strings.HasPrefix(string(f.Code), "IL3")
		if f.Status != finding.Confirmed || f.Evidence.Test != pkg.Package || isSymptom && pkg.UnderNoiseFirst != nil {
			return false
		}
		shownBy := judge.TestOf(f)
		return test == "" || shownBy == "" || shownBy == test
	})
}

// testsToIsolate returns the tests that fail under noise and end, as patterns: "" is all of them.
func (c *campaign) testsToIsolate(pkg *run.Package) []string {
	if len(pkg.Ended) > 0 && !c.choosesTest() {
		return []string{""}
	}
	return pkg.Ended
}

// isolateJob makes one search, and adds its finding, or the facts on a test that stays unexplained.
func (c *campaign) isolateJob(ctx context.Context, job isolationJob, limit time.Duration, cpu cpuLimit) {
	pkg := &c.result.Packages[job.index]
	s := &isolation{
		campaign: c, pkg: pkg, binary: c.cfg.Tests.Binaries[job.index], test: job.test, uses: LockUses(c.seen.Pkgs),
		end: time.Now().Add(limit), cpu: cpu, unclear: map[arm.Visit]int{}, seenAt: map[arm.Visit]*failuresAt{},
	}
	found, err := s.search(ctx)
	switch {
	case errors.Is(err, recorded.ErrNotRecorded): // a campaign of the past had less time
	case err != nil:
		c.problem("looking for why the tests of %s fail under noise: %v", pkg.Package, err)
	case found != nil:
		c.seen.Isolated = append(c.seen.Isolated, found)
	case ctx.Err() == nil && (job.fails || len(s.seenAt) > 0):
		s.leaveUnexplained(ctx)
	}
}
