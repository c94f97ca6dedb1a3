package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/blocked"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/rt/dump"
)

// NotStarted returns the error that the tests of a package could not be started. This system may run
// programs of another architecture, so that one is refused only here.
func NotStarted(pkg string, err error) error {
	if errors.Is(err, syscall.ENOEXEC) {
		return gocmd.Refuse(fmt.Sprintf("starting the tests of %s: they are built for another system than this one, "+
			"%s/%s", pkg, runtime.GOOS, runtime.GOARCH), "unset GOARCH")
	}
	return fmt.Errorf("starting the tests of %s: %w", pkg, err)
}

// LeaksFile returns the file for leaked goroutines of the run with the prefix.
func LeaksFile(prefix string) string { return prefix + "-leaks.jsonl" }

// WaitedIn lists the tests that waited for ever in a process.
func WaitedIn(p *testproc.Process) []string {
	if !p.Hangs() {
		return nil
	}
	return stacktext.HangingTests(p.Output)
}

// ReadRecords reads a file of evidence; none if there is no such file.
func ReadRecords(name string) ([]evidence.Record, error) {
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, _, err := evidence.Read(f)
	return records, err
}

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

// Runner runs test binaries.
type Runner struct {
	*recorded.Runner
	Program Program
}

// Tests runs a test binary. Where all goroutines stood still it runs again, as do those of later runs, without
// the alarm of package testing, which keeps the runtime from finding out whether any could go on.
func (r Runner) Tests(
	ctx context.Context, job recorded.Job, b build.Binary, pkg *Package, o testproc.Options,
) *testproc.Process {
	job.Engine = cmp.Or(job.Engine, "plain")
	isPlain := o.Limit == 0
	if o.NoAlarm = pkg.noAlarm && !isPlain; isPlain {
		o.Patience = patience
	}
	name := job.Name
	p := r.Run(ctx, job, b, o)
	if p.Outcome == testproc.StoodStill && ctx.Err() == nil {
		pkg.noAlarm, o.NoAlarm = true, true
		if isPlain {
			o.Limit = p.Elapsed + stillPatience
		}
		job.Name = name + "-without-alarm"
		p = r.Run(ctx, job, b, o)
	}
	switch {
	case p.Outcome == testproc.Waited, p.Outcome == CutShort && isPlain:
		if !r.Program.awaitsTimer(p) {
			p.Outcome = Hung
			return p
		}
		// A timer will end the wait, or the timeout of the tests.
		o.NoAlarm, o.Limit, o.Patience = true, 0, 0
		job.Name = name + "-with-patience"
		return r.Run(ctx, job, b, o)
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
func (p Program) awaitsTimer(of *testproc.Process) bool {
	inHTTP, isServed := false, false
	for _, g := range dump.Goroutines(string(of.Output)) {
		b, ok := blocked.Read(p.Workspace, &evidence.LeakedGoroutine{Hang: true, Stack: g.Text})
		inner := ""
		if len(b.Goroutine.Stack) > 0 {
			inner = b.Goroutine.Stack[0].Function
		}
		switch {
		case !blocked.OfTest(&b.Goroutine):
			isServed = isServed || ok && !g.Wakes() && b.At.State != "select"
			continue
		case strings.HasPrefix(inner, "testing."): // waits for a test, or for its turn
			continue
		case !ok:
			return true
		case strings.HasPrefix(inner, "net/http."):
			inHTTP = true
			continue
		}
		if _, _, op := b.Access(p.Workspace.Module.Packages); op.AwaitsTimer(b.At.State) {
			return true
		}
	}
	return inHTTP && !isServed // the server is elsewhere, and may be slow
}

// mostWaiting is how many places are printed of a hang.
const mostWaiting = 4

// WaitsOf lists where the tests that hang in a process wait, and then the goroutines that these have started, each
// place once.
func (p Program) WaitsOf(of *testproc.Process) (places []string) {
	if of.Outcome != Hung {
		return nil
	}
	var all []blocked.Goroutine
	for _, g := range dump.Goroutines(string(of.Output)) {
		b, ok := blocked.Read(p.Workspace, &evidence.LeakedGoroutine{Hang: true, Stack: g.Text})
		if ok && !g.Wakes() && !strings.HasPrefix(b.Goroutine.Stack[0].Function, "testing.") {
			all = append(all, b)
		}
	}
	for _, members := range blocked.Leaks(all) {
		if !members[0].Hang {
			continue
		}
		// The test is named first.
		for _, wantsTest := range []bool{true, false} {
			for i := range members {
				b := &members[i]
				if blocked.OfTest(&b.Goroutine) != wantsTest {
					continue
				}
				_, _, op := b.Access(p.Workspace.Module.Packages)
				place := fmt.Sprintf("in %s at %s:%d", op.Text(b.At.State), b.At.File, b.At.Line)
				if !slices.Contains(places, place) && len(places) < mostWaiting {
					places = append(places, place)
				}
			}
		}
	}
	return places
}
