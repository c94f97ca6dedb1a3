package campaign

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/join"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/rt/dump"
)

// Tests that wait for each other, while all else waits for timers and the network, hang: a timer that is to
// end the wait long after everything else is not known from one that never will. The runtime and its collector prove
// less, and need less time for it. Where the source says that a test waits for a timer, nothing is concluded.

const (
	// patience is how much longer than all before it a test without noise may wait so.
	patience = 10 * time.Second
	// stillPatience is the same for one that has been found to stand still, and runs again without an alarm.
	stillPatience = 5 * time.Second
	// longer is how many times as long as without noise tests wait that hang under it.
	longer = 10
)

// runTests runs a test binary. Where all goroutines stood still it runs again, as do those of later runs, without
// the alarm of package testing, which keeps the runtime from finding out whether any could go on.
func (c *campaign) runTests(
	ctx context.Context, job recorded.Job, b build.Binary, pkg *PackageResult, o testproc.Options,
) *testproc.Process {
	job.Engine, job.Seed = cmp.Or(job.Engine, "plain"), c.seen.seed
	isPlain := o.Limit == 0
	if o.NoAlarm = pkg.noAlarm && !isPlain; isPlain {
		o.Patience = patience
	}
	name := job.Name
	p := c.tests.Run(ctx, job, b, o)
	if p.Outcome == testproc.StoodStill && ctx.Err() == nil {
		pkg.noAlarm, o.NoAlarm = true, true
		if isPlain {
			o.Limit = p.Elapsed + stillPatience
		}
		job.Name = name + "-without-alarm"
		p = c.tests.Run(ctx, job, b, o)
	}
	switch {
	case p.Outcome == testproc.Waited, p.Outcome == CutShort && isPlain:
		if !c.awaitsTimer(p) {
			p.Outcome = Hung
			return p
		}
		// A timer will end the wait, or the timeout of the tests.
		o.NoAlarm, o.Limit, o.Patience = true, 0, 0
		job.Name = name + "-with-patience"
		return c.tests.Run(ctx, job, b, o)
	case p.Outcome == CutShort && pkg.Plain == Passed && p.Elapsed > longer*pkg.PlainTime:
		// Tests that pass in no time, and then wait for each other until Interlock ends them, hang.
		if stacktext.StandStill(p.Output) {
			p.Outcome = Hung
		}
	}
	return p
}

// awaitsTimer reports whether one of the tests that have printed where they wait may be woken by a timer, as far as the
// source shows that, or waits in a package without source.
func (c *campaign) awaitsTimer(p *testproc.Process) bool {
	inHTTP, isServed := false, false
	for _, g := range dump.Goroutines(string(p.Output)) {
		b, ok := blockedIn(&c.cfg.Settings, &evidence.LeakedGoroutine{Hang: true, Stack: g.Text})
		inner := ""
		if len(b.goroutine.Stack) > 0 {
			inner = b.goroutine.Stack[0].Function
		}
		switch {
		case !ofTest(&b.goroutine):
			isServed = isServed || ok && !g.Wakes() && b.at.state != "select"
			continue
		case strings.HasPrefix(inner, "testing."): // waits for a test, or for its turn
			continue
		case !ok:
			return true
		case strings.HasPrefix(inner, "net/http."):
			inHTTP = true
			continue
		}
		if _, _, op := c.seen.blockedAccess(&b); op.AwaitsTimer(b.at.state) {
			return true
		}
	}
	return inHTTP && !isServed // the server is elsewhere, and may be slow
}

// mostWaiting is how many places are printed of a hang.
const mostWaiting = 4

// waitsOf lists where the tests that hang in p wait, and then the goroutines that these have started, each place once.
func (c *campaign) waitsOf(p *testproc.Process) (places []string) {
	if p.Outcome != Hung {
		return nil
	}
	var all []blocked
	for _, g := range dump.Goroutines(string(p.Output)) {
		b, ok := blockedIn(&c.cfg.Settings, &evidence.LeakedGoroutine{Hang: true, Stack: g.Text})
		if ok && !g.Wakes() && !strings.HasPrefix(b.goroutine.Stack[0].Function, "testing.") {
			all = append(all, b)
		}
	}
	for _, members := range leaksOf(all) {
		if !members[0].hang {
			continue
		}
		slices.SortStableFunc(members, func(a, b blocked) int { // the test first
			return cmp.Compare(btoi(ofTest(&b.goroutine)), btoi(ofTest(&a.goroutine)))
		})
		for i := range members {
			b := &members[i]
			_, _, op := c.seen.blockedAccess(b)
			place := fmt.Sprintf("in %s at %s:%d", op.Text(b.at.state), b.at.file, b.at.line)
			if !slices.Contains(places, place) && len(places) < mostWaiting {
				places = append(places, place)
			}
		}
	}
	return places
}

// waitedAt holds the lines at which goroutines waited for ever.
func (t *tally) waitedAt() map[join.Line]bool {
	lines := map[join.Line]bool{}
	for _, seen := range t.leaks {
		for i := range seen.members {
			at := &seen.members[i].at
			lines[join.Line{File: at.file, Line: at.line}] = true
		}
	}
	return lines
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
