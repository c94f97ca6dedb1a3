package stacktext

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/maruel/panicparse/v2/stack"
)

// machineState are the lines on the processor that stand around the goroutines.
var machineState = regexp.MustCompile(`(?m)^(PC=0x.*|[a-z]+\d*\s+0x[0-9a-f]+)?\n`)

// Goroutines reads the dump of all goroutines that a process has printed, and returns
// the output before it too.
func Goroutines(output []byte) (before []byte, all []*stack.Goroutine, dump *stack.Snapshot) {
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

// HangingTests returns the top-level tests that a dump of all goroutines shows
// at work; one that waits for its turn is not.
func HangingTests(dump []byte) []string {
	var tests []string
	_, all, _ := Goroutines(dump)
	for _, g := range all {
		if test := runs(&g.Signature); test != "" && !slices.Contains(tests, test) {
			tests = append(tests, test)
		}
	}
	return tests
}

// StandStill reports whether a dump of all goroutines shows a test at work and no goroutine that could go on by itself,
// except by a timer or a message from outside: none computes, sleeps or is in a call of the system.
func StandStill(dump []byte) bool {
	_, all, _ := Goroutines(dump)
	tests := 0
	for _, g := range all {
		if slices.Contains([]string{"running", "runnable", "syscall", "sleep"}, g.State) && hasUserFrame(&g.Signature) {
			return false
		}
		if runs(&g.Signature) != "" {
			tests++
		}
	}
	return tests > 0
}

// hasUserFrame reports whether a goroutine has calls beside those of the runtime, of signals and of the monitor.
func hasUserFrame(g *stack.Signature) bool {
	return slices.ContainsFunc(g.Stack.Calls, func(c stack.Call) bool {
		name := c.Func.Complete
		return !IsRuntime(name) && !strings.HasPrefix(name, "os/signal.") && !strings.HasPrefix(name, MonitorFrames) &&
			!strings.HasPrefix(name, LockFrames)
	})
}

// runs returns the test that this goroutine runs, or "".
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

// mostLines is how many lines are shown of goroutines that wait at one place.
const mostLines = 10

// Waiting returns which goroutines of a process wait where, those that look alike together:
// without the frames of the runtime, of package testing and of the monitor, and
// without goroutines that are at work or held by the monitor's noise. nameFile returns a file
// as the user knows it, or "" for one of the tool's own: its frames are not shown.
func Waiting(dump *stack.Snapshot, nameFile func(string) string) []byte {
	var shown []string          // the text of each, without its number, in order
	alike := map[string][]int{} // their numbers
	for _, bucket := range dump.Aggregate(stack.AnyValue).Buckets {
		frames := shownFrames(nameFile, &bucket.Signature)
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
		if room := mostLines - 1; len(frames) > room {
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

// notShown are packages with frames that are no part of the program.
var notShown = []string{"runtime", "testing", "internal/sync", "internal/runtime", "internal/poll"}

// shownFrames returns a line for each frame of the goroutine that a reader wants. It returns
// none for a goroutine that the monitor holds, or that does not belong to the program.
func shownFrames(nameFile func(string) string, g *stack.Signature) (frames []string) {
	for _, c := range g.Stack.Calls {
		name := c.Func.Complete
		if strings.HasPrefix(name, MonitorFrames) {
			return nil
		}
		file := nameFile(c.RemoteSrcPath)
		if file == "" || strings.HasPrefix(name, LockFrames) {
			continue
		}
		if !slices.Contains(notShown, c.ImportPath) && name != "main.main" {
			frames = append(frames, fmt.Sprintf("%s  %s:%d", name, file, c.Line))
		}
	}
	for _, c := range g.CreatedBy.Calls {
		if name := createdBy(c.Func.Complete); len(frames) > 0 && !strings.HasPrefix(name, "testing.") {
			frames = append(frames, fmt.Sprintf("started by %s  %s:%d", name, nameFile(c.RemoteSrcPath), c.Line))
		}
	}
	return frames
}

func createdBy(name string) string {
	name, _, _ = strings.Cut(name, " in goroutine ")
	return name
}
