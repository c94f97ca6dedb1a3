package hb

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// here is the installation of Go that runs the tests; others are skipped.
func here(t *testing.T) Installation {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	in := Installation{strings.TrimSpace(string(out)), runtime.Version(), runtime.GOOS, runtime.GOARCH}
	if why := in.unsupported(); why != "" {
		t.Skip(why)
	}
	if strings.Contains(in.Root, filepath.Join("golang.org", "toolchain@")) {
		t.Skip("the installation lies in the module cache")
	}
	return in
}

// overlay prepares the engine and returns the flags of a build under it.
func overlay(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	replaced, err := Prepare(here(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return append([]string{"-overlay=" + file}, Flags(nil, "-s -w")...)
}

// goCommand runs the go command in dir, without cgo.
func goCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// The self-test passes where the engine is in the build, and fails where it is not.
func TestSelfTest(t *testing.T) {
	flags := overlay(t)
	dir := t.TempDir()
	for name, text := range SelfTest() {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	with, without := filepath.Join(dir, "with"), filepath.Join(dir, "without")
	goCommand(t, dir, slices.Concat([]string{"build", "-o", with}, flags, []string{"."})...)
	goCommand(t, dir, "build", "-o", without, ".")
	if err := Try(context.Background(), with); err != nil {
		t.Error(err)
	}
	if err := Try(context.Background(), without); err == nil || !strings.Contains(err.Error(), "-engine=watch") {
		t.Errorf("without the engine: %v, want an error that names the other one", err)
	}
}

// build builds what is in a folder of testdata under the engine, by these commands of go, and returns the binary.
func build(t *testing.T, folder string, args ...string) (binary string) {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", folder))
	if err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(t.TempDir(), folder)
	goCommand(t, dir, slices.Concat(args, []string{"-o", binary}, overlay(t), []string{"."})...)
	return binary
}

// The functions of testdata/races are named after what they are: each TestRace… makes the engine report,
// no TestNoRace… does.
func TestRaces(t *testing.T) {
	binary := build(t, "races", "test", "-c", "-vet=off")
	modes := map[string]string{"GOMAXPROCS=1": "repeats", "GOMAXPROCS=2": "", "GOMAXPROCS=4": "repeats"}
	for procs, repeats := range modes {
		cmd := exec.Command(binary, "-test.v")
		cmd.Env = append(os.Environ(), procs, "INTERLOCK_OUT=", "INTERLOCK_HB="+repeats)
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%s: no test failed", procs)
		}
		judge(t, procs, string(out))
	}
}

// Sampling misses races, and reports none that is not there.
func TestSampledRaces(t *testing.T) {
	binary := build(t, "races", "test", "-c", "-vet=off")
	for _, s := range samplings {
		cmd := exec.Command(binary, "-test.v")
		cmd.Env = append(append(os.Environ(), "INTERLOCK_OUT=", "INTERLOCK_HB=repeats"), s.Env()...)
		out, _ := cmd.CombinedOutput()
		ran := 0
		for _, part := range strings.Split(string(out), "=== RUN   ")[1:] {
			name, text, _ := strings.Cut(part, "\n")
			if ran++; !strings.HasPrefix(name, "TestRace") && strings.Contains(text, "WARNING: DATA RACE\n") {
				t.Errorf("%v: %s: false report\n%s", s, name, text)
			}
		}
		if ran < 40 {
			t.Errorf("%v: %d functions ran, want all", s, ran)
		}
	}
}

var samplings = []Sampling{
	{Rate: 1}, {Rate: 50}, {Stationary: true}, {Loops: true}, {Bursts: true},
	{Rate: 50, Stationary: true, Loops: true, Bursts: true},
}

// A race is found with the probability that is asked for. The program has a thousand that are found once or not.
func TestRate(t *testing.T) {
	binary := build(t, "sampling", "build")
	for percent, want := range map[string][2]int{"1": {1, 30}, "30": {230, 370}, "100": {1000, 1000}} {
		s, err := ParseSampling(percent, "")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(binary)
		cmd.Env = append(append(os.Environ(), "INTERLOCK_OUT=", "INTERLOCK_HB=repeats", "INTERLOCK_SEED=1"), s.Env()...)
		out, _ := cmd.CombinedOutput()
		if n := strings.Count(string(out), "WARNING: DATA RACE\n"); n < want[0] || n > want[1] {
			t.Errorf("%s %%: %d of 1000 races were found, want %d to %d", percent, n, want[0], want[1])
		}
	}
}

func TestParseSampling(t *testing.T) {
	for _, bad := range []string{"", "many", "0", "-1", "100.5", "NaN", "0.00001"} {
		if _, err := ParseSampling(bad, ""); err == nil || !strings.Contains(err.Error(), "want percent") {
			t.Errorf("rate %q: %v", bad, err)
		}
	}
	if s, err := ParseSampling("2.5", ""); err != nil || s.String() != "2.5 % of the accesses" ||
		!slices.Contains(s.Env(), "INTERLOCK_HB_RATE=25000") {
		t.Errorf("2.5: %v %v %v", s, s.Env(), err)
	}
}

// places are what some reports must name.
var places = map[string][]string{
	"TestRacePlace":        {"races.setFirst()"},
	"TestRaceDeferred":     {"races.TestRaceDeferred.func1()"},
	"TestRaceBesideAtomic": {"races.load()"},
	"TestRaceAddAndWait":   {"WaitGroup).Add()", "races.addOne()", "WaitGroup).Wait()", "races.waitForAll()"},
	"TestRaceMiddleOfCopy": {"races.copyAll()"},
	"TestRaceCopyOfAtomic": {"sync/atomic.(*Int64).Add()", "races.addTo()"},
}

// judge compares what each function printed with its name.
func judge(t *testing.T, procs, out string) {
	racy, clean := 0, 0
	for _, part := range strings.Split(out, "=== RUN   ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		reported := strings.Contains(text, "WARNING: DATA RACE\n")
		switch {
		case strings.HasPrefix(name, "TestRace"):
			if racy++; !reported {
				t.Errorf("%s: %s: no race reported", procs, name)
			}
			if !strings.Contains(text, "--- FAIL: "+name) {
				t.Errorf("%s: %s did not fail", procs, name)
			}
			if strings.Contains(text, "no longer in the history") {
				t.Errorf("%s: %s: an earlier access has no stack", procs, name)
			}
			for _, place := range places[name] {
				if !strings.Contains(text, place) {
					t.Errorf("%s: %s: the report does not name %s:\n%s", procs, name, place, text)
				}
			}
		default:
			if clean++; reported {
				t.Errorf("%s: %s: false report\n%s", procs, name, text)
			}
		}
	}
	if racy < 10 || clean < 10 {
		t.Errorf("%s: %d racy and %d clean functions ran:\n%s", procs, racy, clean, out)
	}
}

// Memory at its bound: what is forgotten is counted, nothing is reported falsely, and the race of what is
// accessed last is found.
func TestMemory(t *testing.T) {
	if os.Getenv("INTERLOCK_TEST_LONG") == "" {
		t.Skip("only in make long")
	}
	binary := build(t, "memory", "build")
	peak, pages := map[string]int{}, regexp.MustCompile(`[1-9]\d* pages forgotten\n`)
	for _, megabytes := range []string{"16", "1000"} {
		cmd := exec.Command(binary)
		cmd.Env = append(os.Environ(), "INTERLOCK_OUT=", "INTERLOCK_HB_MEMORY="+megabytes)
		text, _ := cmd.CombinedOutput()
		out := string(text)
		if n := strings.Count(out, "WARNING: DATA RACE"); n != 1 {
			t.Errorf("%s MB: %d races, want the one at the end\n%s", megabytes, n, out)
		}
		if got, want := pages.MatchString(out), megabytes == "16"; got != want {
			t.Errorf("%s MB: pages forgotten: %v, want %v", megabytes, got, want)
		}
		m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("%s MB: no peak of memory\n%s", megabytes, out)
		}
		peak[megabytes], _ = strconv.Atoi(m[1])
	}
	if less := peak["1000"] - peak["16"]; less < 100_000 {
		t.Errorf("the bound saves %d kB of %d, want most of the 128 MB that 64 MB of heap take", less, peak["1000"])
	}
}

// A process that the engine ends learns the next step, which names no setting that nothing reads.
func TestNextSteps(t *testing.T) {
	ours, err := injected()
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`hbDie\((.*)\)\n`)
	step := regexp.MustCompile(`^"[^:]+: (" \+ (hbFewerTests|hbTraceRoom)|(lift|lower|make|use) [^:]+")$`)
	calls := 0
	for name, text := range ours {
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			if calls++; !step.MatchString(m[1]) || strings.Contains(m[1], "INTERLOCK_") {
				t.Errorf("%s: %s: want a next step behind the colon", name, m[1])
			}
		}
	}
	if calls < 6 {
		t.Errorf("%d calls of hbDie were found, want more", calls)
	}
}

// What is not known to work is refused, with the other engine named.
func TestUnsupported(t *testing.T) {
	in := Installation{"/nowhere", "go1.26.3", "linux", "amd64"}
	for _, c := range []struct {
		change func(*Installation)
		want   string
	}{
		{func(in *Installation) { in.Version = "go1.24.11" }, "it was tried with"},
		{func(in *Installation) { in.Version = "go1.260" }, "it was tried with"},
		{func(in *Installation) { in.OS = "darwin" }, "it needs linux/amd64"},
		{func(in *Installation) { in.Arch = "arm64" }, "it needs linux/amd64"},
		{func(*Installation) {}, "race.go"}, // no sources there
	} {
		in := in
		c.change(&in)
		_, err := Prepare(in, t.TempDir())
		var unsupported *UnsupportedError
		if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "use -engine=watch") {
			t.Errorf("%+v: %v, want %q", in, err, c.want)
		}
	}
}

// A runtime that calls a hook which the engine does not have, one whose sync.Cond waits in another way, and a new
// operation of sync/atomic are refused before anything is built.
func TestNewHook(t *testing.T) {
	parse := func(text string) *source {
		s, err := parseSource("x.go", []byte("package p\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ours, err := injected()
	if err != nil {
		t.Fatal(err)
	}
	s := &sources{
		with:    parse("func RaceAcquire() {}\nfunc racecall(fn int)"),
		without: parse("func racemalloc()\nfunc raceteleport()"),
	}
	if _, err := s.race(ours); err == nil || !strings.Contains(err.Error(), "(raceteleport)") {
		t.Errorf("unknown hook: %v", err)
	}
	s.without = parse("func racemalloc()")
	text, err := s.race(ours)
	kept := regexp.MustCompile(`(?s)const raceenabled = true.*func RaceAcquire\(\)`)
	if err != nil || !kept.Match(text) || strings.Contains(string(text), "racecall") {
		t.Errorf("%v:\n%s", err, text)
	}
	s.conds = parse("func notifyListWait(l *notifyList, t uint64) {}")
	if _, err := s.semaphores(); err == nil || !strings.Contains(err.Error(), "notifyListWait") {
		t.Errorf("unknown parameters: %v", err)
	}
	s.conds = parse("func notifyListWait(l *notifyList, t uint32) {}\nfunc notifyListNotifyAll(l *notifyList) {}")
	if _, err := s.semaphores(); err == nil || !strings.Contains(err.Error(), "notifyListNotifyAll does not call") {
		t.Errorf("unknown body: %v", err)
	}
	s.pointers, s.atomic = parse(""), []*source{parse("func NandInt32(addr *int32)")}
	if _, err := s.atomics(); err == nil || !strings.Contains(err.Error(), "(NandInt32)") {
		t.Errorf("unknown operation: %v", err)
	}
}
