package racesuite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	reports "github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/dynamic"
)

const root = "../../../.."

// TestNoCauseIsLost: whatever the race detector finds in the corpora is still
// monitored, pruned package by package and pruned by the whole program. Of an
// object that is published too early, the accesses that come before the
// publication may be pruned, if the publication is not.
func TestNoCauseIsLost(t *testing.T) {
	if os.Getenv("INTERLOCK_TEST_LONG") == "" {
		t.Skip("make long has it: it builds programs with the race detector")
	}
	dir, atLeast := corpora(t)
	var races []race
	// A race may end a whole program of the corpora ("concurrent map writes"),
	// and with it what comes after; then another run finds the rest.
	for run := 0; run < 5 && len(races) < atLeast; run++ {
		races = union(races, findRaces(t, dir))
	}
	if len(races) < atLeast {
		t.Fatalf("only %d races found in the corpora, want %d", len(races), atLeast)
	}
	tool := filepath.Join(t.TempDir(), "interlock")
	must(t, root, "go", "build", "-o", tool, "./cmd/interlock")
	for _, flags := range [][]string{nil, {"-whole"}} {
		t.Run(strings.Join(append([]string{"plan"}, flags...), " "), func(t *testing.T) {
			noneLost(t, races, makePlan(t, dir, tool, flags...))
		})
	}
	t.Run("check -leads", func(t *testing.T) { halfKnown(t, races, findingsOf(t, dir, tool)) })
}

func union(a, b []race) []race {
	for _, r := range b {
		if !slices.Contains(a, r) {
			a = append(a, r)
		}
	}
	return a
}

// corpora makes one module of all racy programs that there are here, in which
// so many races must be found.
func corpora(t *testing.T) (dir string, races int) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), string(command.GoMod("corpora"))+
		"\nrequire interlock.invalid/rt v0.0.0\n\nreplace interlock.invalid/rt => ./rt\n")
	for from, to := range map[string]string{
		"testdata/detect": "detect", "testdata/bank": "bank", "testdata/hidden": "hidden",
		"dynamic/predict/testdata/hidden": "predict", "dynamic/hb/testdata/races": "engine",
		"dynamic/rt/testdata/watch": "watch",
	} {
		copyFiles(t, filepath.Join(root, from), filepath.Join(dir, to), "*.go", nil)
	}
	sections(t, dir)
	write(t, filepath.Join(dir, "watch", "all_test.go"), watchTest)
	caught, err := os.ReadFile(filepath.Join(root, "dynamic/instrument/testdata/caught.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "caught", "main.go"), string(caught))
	write(t, filepath.Join(dir, "caught", "all_test.go"), caughtTest)
	if err := dynamic.WriteMonitor(filepath.Join(dir, "rt")); err != nil {
		t.Fatal(err)
	}
	if !suite(t, dir) {
		return dir, 60
	}
	return dir, 280
}

// watchTest runs the programs whose monitor calls are written in by hand.
const watchTest = `package main

import (
	"strings"
	"testing"
)

func TestRace(t *testing.T) {
	for name, program := range programs {
		if strings.HasPrefix(name, "race") {
			t.Run(name, func(*testing.T) { program() })
		}
	}
}
`

const caughtTest = `package main

import "testing"

func TestRace(t *testing.T) {
	for name, program := range racy {
		t.Run(name, func(*testing.T) { program(fresh()) })
	}
}
`

// sections copies the programs whose atomic sections are split, some of which race as well.
func sections(t *testing.T, dir string) {
	t.Helper()
	from := filepath.Join(root, "testdata", "sections")
	own := strings.NewReplacer(`"example.com/sections/`, `"corpora/sections/`)
	// Each program is a test binary, and most have no race. Two that have one are the sample; make long takes all.
	every := []string{"*/violating", "*/violating/*"}
	if os.Getenv("INTERLOCK_TEST_LONG") == "" {
		every = []string{"load-store-goroutines/violating", "test-use-lazy/violating"}
	}
	for _, depth := range every {
		folders, err := filepath.Glob(filepath.Join(from, depth, "*.go"))
		if err != nil || len(folders) == 0 {
			t.Fatal("no programs in", from, err)
		}
		for _, file := range folders {
			rel, err := filepath.Rel(from, filepath.Dir(file))
			if err != nil {
				t.Fatal(err)
			}
			copyFiles(t, filepath.Dir(file), filepath.Join(dir, "sections", rel), filepath.Base(file), own)
		}
	}
}

// suite copies the race detector's own suite, if this Go installation has it.
func suite(t *testing.T, dir string) bool {
	t.Helper()
	from, err := suiteFolder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := copySuite(from, filepath.Join(dir, "suite")); err != nil {
		t.Log(err)
		return false
	}
	os.Remove(filepath.Join(dir, "suite", "go.mod")) // it belongs to the module of the corpora
	return true
}

func copyFiles(t *testing.T, from, to, pattern string, adapt *strings.Replacer) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(from, pattern))
	if err != nil || len(names) == 0 {
		t.Fatal("no files in", from, err)
	}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(src)
		if adapt != nil {
			text = adapt.Replace(text)
		}
		write(t, filepath.Join(to, filepath.Base(name)), text)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, stderr.Bytes())
	}
	return out
}

// place is one side of a race: what reads or writes in a line.
type place struct {
	file string // relative to the corpora
	line int
	mode plan.Mode
}

// race is what the race detector has found in a test function. A side is zero
// where code outside of the corpora makes the access.
type race struct {
	function string
	sides    [2]place
}

// findRaces runs the corpora under the race detector.
func findRaces(t *testing.T, dir string) []race {
	t.Helper()
	// The tests of sections are named after what they do, those of all others after what is wrong.
	cmd := exec.Command("go", "test", "-race", "-v", "-p=1", "-vet=off", "-count=1", "-timeout=5m",
		"-run=Race|Transfers|^Test[A-Z][a-z]+$", "-skip=Clean|NoRace|Nothing|Deadlock", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GORACE=suppress_equal_addresses=0 atexit_sleep_ms=100", "CGO_ENABLED=1",
		"GOFLAGS=-mod=mod", "GOWORK=off")
	out, _ := cmd.CombinedOutput() // fails with a race
	if !bytes.Contains(out, []byte("WARNING: DATA RACE")) {
		t.Skipf("the race detector cannot be built here, it needs cgo and a C compiler:\n%.2000s", out)
	}
	return parseRaces(string(out), dir)
}

var (
	running = regexp.MustCompile(`(?m)^=== RUN +(\S+)`)
	side    = regexp.MustCompile(`(?m)^(?:Previous )?(?i:(read|write)) at 0x\w+ by .*\n((?:  .*\n)+)`)
	frame   = regexp.MustCompile(`(?m)^  (\S.*)\n +(\S+):(\d+)`)
)

// parseRaces reads what a test binary prints under the race detector.
func parseRaces(out, dir string) []race {
	var races []race
	function := ""
	for report := range strings.SplitSeq(out, "==================") {
		if _, text, ok := strings.Cut(report, "WARNING: DATA RACE"); ok {
			r := race{function: function}
			for i, s := range side.FindAllStringSubmatch(text, 2) {
				r.sides[i] = accessOf(s[2], plan.Mode(strings.ToLower(s[1])), dir)
			}
			if !slices.Contains(races, r) {
				races = append(races, r)
			}
		}
		if all := running.FindAllStringSubmatch(report, -1); all != nil {
			function = all[len(all)-1][1]
		}
	}
	return races
}

// accessOf finds what made the access: the first frame, but of an atomic
// operation its caller.
func accessOf(stack string, mode plan.Mode, dir string) place {
	for _, f := range frame.FindAllStringSubmatch(stack, -1) {
		if strings.HasPrefix(f[1], "sync/atomic.") {
			mode = map[plan.Mode]plan.Mode{plan.Read: plan.AtomicRead, plan.Write: plan.AtomicWrite}[mode]
			continue
		}
		rel, ok := strings.CutPrefix(f[2], dir+string(filepath.Separator))
		if !ok {
			return place{}
		}
		line, _ := strconv.Atoi(f[3])
		return place{filepath.ToSlash(rel), line, mode}
	}
	return place{}
}

func makePlan(t *testing.T, dir, tool string, flags ...string) *plan.Plan {
	t.Helper()
	args := append(append([]string{"plan", "-format=json"}, flags...), "./...")
	cmd := exec.Command(tool, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	p := new(plan.Plan)
	if err != nil || json.Unmarshal(out, p) != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, stderr.Bytes())
	}
	return p
}

// findingsOf returns what check says before anything has run, leads among it.
func findingsOf(t *testing.T, dir, tool string) []*finding.Finding {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.jsonl")
	cmd := exec.Command(tool, "check", "-leads", "-o", "jsonl:"+out, "./...")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	said, _ := cmd.CombinedOutput() // fails with findings
	list, _, err := reports.ReadFindings(out)
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, said)
	}
	return list
}

// halfKnown looks for races of which a finding or lead names a side. At least half of them have to be known before
// they are seen, so that runs aim there first.
func halfKnown(t *testing.T, races []race, list []*finding.Finding) {
	t.Helper()
	type line struct {
		file string
		line int
	}
	named := map[line]bool{}
	for _, f := range list {
		for _, p := range f.Places() {
			named[line{p.File, p.Line}] = true
		}
	}
	known, folders := 0, map[string][2]int{}
	for _, r := range races {
		n := folders[path.Dir(r.sides[0].file)]
		n[1]++
		if slices.ContainsFunc(r.sides[:], func(s place) bool { return named[line{s.file, s.line}] }) {
			known++
			n[0]++
		}
		folders[path.Dir(r.sides[0].file)] = n
	}
	t.Logf("%d of %d races are findings or leads before they run, by folder %v", known, len(races), folders)
	if 2*known < len(races) {
		t.Errorf("%d of %d races are findings or leads before they run, want half", known, len(races))
	}
}

// noneLost looks for sides of races at whose line nothing is monitored that has
// its mode. (The detector prints no columns.)
func noneLost(t *testing.T, races []race, p *plan.Plan) {
	t.Helper()
	sites := map[place][]*plan.Site{}
	pruned := 0
	for i := range p.Sites {
		s := &p.Sites[i]
		at := place{s.File, s.Line, s.Mode}
		sites[at] = append(sites[at], s)
		if provenBy[s.Reason] {
			pruned++
		}
	}
	kept := map[string]bool{} // functions with a race all of whose sides are monitored
	for _, r := range races {
		if watched(sites[r.sides[0]]) && watched(sites[r.sides[1]]) {
			kept[r.function] = true
		}
	}
	judged := 0
	for _, r := range races {
		for _, side := range r.sides {
			all := sites[side]
			if len(all) == 0 {
				continue // not an access that has a site
			}
			judged++
			if why := lost(all); why != "" && !(beforeSharing[why] && kept[r.function]) {
				t.Errorf("%s: the %s at %s:%d races and is not monitored: %s", r.function, side.mode, side.file, side.line, why)
			}
		}
	}
	if judged < len(races) {
		t.Errorf("of %d races only %d sides were judged", len(races), judged)
	}
	t.Logf("%d races, %d sides judged; of %d sites %d are pruned", len(races), judged, len(p.Sites), pruned)
}

// provenBy are the reasons that need a proof; the rewriter has others.
var provenBy = map[plan.Reason]bool{
	plan.Fresh: true, plan.Stationary: true, plan.WholeLocal: true,
	plan.WholeNotParallel: true, plan.WholeStationary: true,
	plan.Guarded: true,
}

// beforeSharing are those that hold for accesses before the object is shared,
// whether or not it is shared as it should be.
var beforeSharing = map[plan.Reason]bool{plan.Fresh: true, plan.Stationary: true, plan.WholeStationary: true}

func watched(all []*plan.Site) bool { return len(all) > 0 && lost(all) == "" }

// lost returns the reason for which none of the sites is monitored, or "".
func lost(all []*plan.Site) plan.Reason {
	for _, s := range all {
		if !provenBy[s.Reason] {
			return ""
		}
	}
	return all[0].Reason
}

// A race of each kind is read from what the detector prints.
func TestParseRaces(t *testing.T) {
	const out = `=== RUN   TestRaceA
==================
WARNING: DATA RACE
Write at 0x00c000018268 by goroutine 11:
  sync/atomic.AddInt64()
      /go/src/runtime/race_amd64.s:289 +0xb
  m.TestRaceA.func1()
      /m/a_test.go:44 +0x4e

Previous read at 0x00c000018268 by goroutine 12:
  bytes.(*Buffer).Write()
      /go/src/bytes/buffer.go:1 +0x1
  m.TestRaceA.func2()
      /m/a_test.go:53 +0x75

Goroutine 11 (running) created at:
  m.TestRaceA()
      /m/a_test.go:43 +0x1d9
==================
`
	want := []race{{"TestRaceA", [2]place{{"a_test.go", 44, plan.AtomicWrite}, {}}}}
	if got := parseRaces(out, "/m"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", fmt.Sprint(got), want)
	}
}
