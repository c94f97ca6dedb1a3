package campaign

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/maruel/panicparse/v2/stack"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
)

// leaveOutHanging leaves out of the monitored runs the tests that hang in p, a run
// without noise: there they would hang as well, and hide those behind them. A test
// may hide another one that hangs, so the rest is run again until nothing does.
func (c *campaign) leaveOutHanging(
	ctx context.Context, b build.Binary, pkg *PackageResult, p *process, leaks string,
) error {
	for p.outcome == TimedOut || p.outcome == Hung {
		hang := hangingTests(p.output)
		if len(hang) == 0 || slices.ContainsFunc(hang, func(t string) bool { return slices.Contains(pkg.LeftOut, t) }) {
			pkg.hangs = true
			c.problem("the tests of %s hang without noise: there are no monitored runs of them", pkg.Package)
			return nil
		}
		pkg.LeftOut = append(pkg.LeftOut, hang...)
		p = c.execute(ctx, b, processOptions{leaks: leaks, timeout: PlainTimeout(c.cfg.Timeout), leaveOut: pkg.LeftOut})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if p.err != nil {
			return fmt.Errorf("starting the tests of %s: %w", b.Package, p.err)
		}
		pkg.plainTests = append(pkg.plainTests, p.failedTests()...)
		c.takeLeaks(0, pkg, leaks)
	}
	slices.Sort(pkg.LeftOut)
	verb, them := "hangs", "it"
	if len(pkg.LeftOut) > 1 {
		verb, them = "hang", "them"
	}
	c.problem("%s of %s %s without noise: the monitored runs leave %s out", strings.Join(pkg.LeftOut, ", "), pkg.Package, verb, them)
	return nil
}

// enoughHangs is in how many monitored runs a test may wait for ever: the tests
// behind it do not run then, and the finding is made.
const enoughHangs = 2

// hungAgain takes up a monitored run in which a test waited for ever.
func (c *campaign) hungAgain(pkg *PackageResult, p *process) {
	tests := p.failedTests()
	if pkg.hung++; pkg.hung < enoughHangs || len(tests) == 0 {
		return
	}
	pkg.hung = 0
	pkg.LeftOut = append(pkg.LeftOut, tests...)
	c.problem("%s of %s waited for ever in %d runs: later runs leave it out",
		strings.Join(tests, ", "), pkg.Package, enoughHangs)
}

func (c *campaign) problem(format string, args ...any) {
	c.result.Problems = append(c.result.Problems, fmt.Sprintf(format, args...))
}

// machineState are the lines on the processor that stand around the goroutines.
var machineState = regexp.MustCompile(`(?m)^(PC=0x.*|[a-z]+\d*\s+0x[0-9a-f]+)?\n`)

// goroutinesIn reads the dump of all goroutines that a process has printed, and what
// it printed before.
func goroutinesIn(output []byte) (before []byte, all []*stack.Goroutine, dump *stack.Snapshot) {
	var prefix bytes.Buffer
	opts := stack.DefaultOpts()
	opts.GuessPaths, opts.AnalyzeSources = false, false
	rest := io.Reader(bytes.NewReader(output))
	for {
		s, suffix, err := stack.ScanSnapshot(rest, &prefix, opts)
		if s != nil && (dump == nil || len(s.Goroutines) > len(dump.Goroutines)) {
			dump = s
		}
		if err != nil || s == nil {
			break
		}
		rest = io.MultiReader(bytes.NewReader(suffix), rest)
	}
	if dump != nil {
		all = dump.Goroutines
	}
	before, state, _ := bytes.Cut(prefix.Bytes(), []byte("SIGQUIT: quit\n"))
	return append(before, machineState.ReplaceAll(state, nil)...), all, dump
}

// hangingTests returns the top-level tests that a dump of all goroutines shows
// at work; one that waits for its turn is not.
func hangingTests(dump []byte) []string {
	var tests []string
	_, all, _ := goroutinesIn(dump)
	for _, g := range all {
		if test := runs(&g.Signature); test != "" && !slices.Contains(tests, test) {
			tests = append(tests, test)
		}
	}
	return tests
}

// runs returns the test whose own goroutine this is, or "".
func runs(g *stack.Signature) (test string) {
	runner := false
	for _, c := range g.Stack.Calls {
		switch name := c.Func.Complete; {
		case name == "testing.(*T).Parallel":
			return ""
		case name == "testing.tRunner":
			runner = true
		case testOfFrame(name) != "":
			test = testOfFrame(name)
		}
	}
	if !runner || test == "TestMain" { // the goroutine of TestMain only waits for the tests
		return ""
	}
	return test
}

var testFrame = regexp.MustCompile(`^[^()]*\.(Test[^.()]*)(\.|$)`)

func testOfFrame(name string) string {
	if m := testFrame.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// most is how many lines are shown of goroutines that wait at one place.
const most = 10

// waiting returns which goroutines of a process wait where, those that look alike together:
// without the frames of the runtime, of package testing and of the monitor, and
// without goroutines that are at work or held by the monitor's noise.
func waiting(cfg *Config, dump *stack.Snapshot) []byte {
	var shown []string          // what each is shown as, without its number, in order
	alike := map[string][]int{} // their numbers
	for _, bucket := range dump.Aggregate(stack.AnyValue).Buckets {
		frames := shownFrames(cfg, &bucket.Signature)
		if len(frames) == 0 || slices.Contains([]string{"running", "runnable", "syscall", "idle"}, bucket.State) {
			continue
		}
		test := runs(&bucket.Signature)
		for _, c := range bucket.CreatedBy.Calls {
			if test == "" {
				test = testOfFrame(createdBy(c.Func.Complete))
			}
		}
		if test != "" {
			test = " of " + test
		}
		text := fmt.Sprintf("%s [%s]:\n", test, bucket.State)
		if room := most - 1; len(frames) > room {
			frames = append(frames[:room-1], fmt.Sprintf("... %d more frames", len(frames)-room+1))
		}
		for _, f := range frames {
			text += "\t" + f + "\n"
		}
		// Stacks may differ in frames alone that are not shown.
		if alike[text] == nil {
			shown = append(shown, text)
		}
		alike[text] = append(alike[text], bucket.IDs...)
	}
	var b bytes.Buffer
	for _, text := range shown {
		who := fmt.Sprintf("goroutine %d", alike[text][0])
		if n := len(alike[text]); n > 1 {
			who = fmt.Sprintf("%d goroutines", n)
		}
		b.WriteString(who + text)
	}
	return b.Bytes()
}

// shownFrames returns a line for each frame of the goroutine that a reader wants; none
// for a goroutine that the monitor holds or that is none of the program's.
func shownFrames(cfg *Config, g *stack.Signature) (frames []string) {
	for _, c := range g.Stack.Calls {
		name := c.Func.Complete
		if strings.HasPrefix(name, stacktext.MonitorFrames) {
			return nil
		}
		if path.Base(c.RemoteSrcPath) == build.EndName {
			continue
		}
		if !slices.Contains([]string{"runtime", "testing", "internal/sync", "internal/runtime", "internal/poll"}, c.ImportPath) && name != "main.main" {
			frames = append(frames, fmt.Sprintf("%s  %s:%d", name, userPath(cfg, c.RemoteSrcPath), c.Line))
		}
	}
	for _, c := range g.CreatedBy.Calls {
		if name := createdBy(c.Func.Complete); len(frames) > 0 && !strings.HasPrefix(name, "testing.") {
			frames = append(frames, fmt.Sprintf("started by %s  %s:%d", name, userPath(cfg, c.RemoteSrcPath), c.Line))
		}
	}
	return frames
}

func createdBy(name string) string {
	name, _, _ = strings.Cut(name, " in goroutine ")
	return name
}

// without returns the test flags, with those left out that hang.
func (c *campaign) without(tests []string) []string {
	if len(tests) == 0 {
		return c.cfg.TestFlags
	}
	skip := "^(" + strings.Join(tests, "|") + ")$"
	var flags []string
	for _, f := range c.cfg.TestFlags {
		if value, ok := strings.CutPrefix(f, "-test.skip="); ok {
			skip = value + "|" + skip
		} else {
			flags = append(flags, f)
		}
	}
	return append([]string{"-test.skip=" + skip}, flags...)
}
