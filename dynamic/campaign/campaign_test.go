package campaign

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/internal/testmodule"
)

func TestMain(m *testing.M) { testmodule.Main(m) }

// Config builds a module for a campaign. A nil plan means that of its sites.
func config(t *testing.T, archive string, p *plan.Plan) Config {
	t.Helper()
	dir := testmodule.Unpack(t, archive)
	m, err := build.Load(context.Background(), build.Options{Dir: dir, Patterns: []string{"./..."}})
	if err != nil {
		t.Fatal(err)
	}
	if p == nil {
		if p, err = atomicsets.Build(m.Path, sites.All(m.Packages), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := build.Prepare(context.Background(), m, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	bins, err := ws.BuildTests(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range ws.LeftAlone() {
		t.Errorf("%s is not monitored: %s", l.File, l.Why)
	}
	for i := range bins {
		bins[i].Monitored = true // or plays it, see scripted
	}
	return Config{Program: run.Program{Workspace: ws, Plan: p}, Tests: run.Tests{Binaries: bins}}
}

func campaignOf(t *testing.T, cfg Config) *Result {
	t.Helper()
	r, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// scripted is a module without sites whose test plays the monitor: what it
// writes as evidence is decided by the line of `script` for its run.
func scripted(script string) string {
	return `
-- go.mod --
module example.com/m

go 1.22
-- m.go --
package m
-- script.txt --
` + script + `
-- m_test.go --
package m

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func Test(t *testing.T) {
	for _, name := range []string{"PWD", "INTERLOCK_SEED"} {
		fmt.Println(name, os.Getenv(name))
	}
	out := os.Getenv("INTERLOCK_OUT")
	if out == "" {
		if _, err := os.Stat("breaks"); err == nil {
			t.Error("fails without the monitor")
		}
		if _, err := os.Stat("hangs"); err == nil {
			select {}
		}
		return
	}
	data, err := os.ReadFile("script.txt")
	if err != nil {
		t.Fatal(err)
	}
	run, _ := strconv.Atoi(os.Getenv("INTERLOCK_RUN"))
	f, err := os.OpenFile(out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	head := fmt.Sprintf("{\"v\":1,\"run\":%d,\"seed\":%s,\"pid\":%d,", run, os.Getenv("INTERLOCK_SEED"), os.Getpid())
	fmt.Fprintf(f, "%s\"kind\":\"start\"}\n", head)
	for _, word := range strings.Fields(strings.Split(string(data), "\n")[run-1]) {
		switch word {
		case "fail":
			t.Error("as the script says")
		case "panic":
			panic("as the script says")
		case "exit":
			os.Exit(7)
		case "hang":
			select {}
		case "garbage":
			fmt.Fprintln(f, "{garbage")
		case "gone":
			os.Remove(out)
		case "known?":
			fmt.Println("known?")
			os.WriteFile("known", []byte(os.Getenv("INTERLOCK_KNOWN")), 0o644)
		case "noise?":
			// Runs that look for the pause a test fails by come behind a run of that number, and do not count.
			file, noise := fmt.Sprintf("noise-%d", run), os.Getenv("INTERLOCK_NOISE")
			if _, err := os.Stat(file); err != nil || !strings.HasSuffix(noise, "prob=0") {
				os.WriteFile(file, []byte(noise), 0o644)
			}
		case "breaks":
			os.WriteFile("breaks", nil, 0o644)
		case "seen?":
			fmt.Println("seen?")
			for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
				if _, err := os.Stat("seen"); err == nil {
					break
				} else if time.Now().After(deadline) {
					t.Fatal("nobody has seen the output")
				}
			}
		case "wait":
			os.WriteFile("waiting", nil, 0o644)
			time.Sleep(time.Hour)
		default: // a pair of sites that collide, or with a gap of 2 ms
			gap := strings.HasPrefix(word, "gap")
			a, b, _ := strings.Cut(strings.TrimPrefix(word, "gap"), "-")
			if gap {
				lengths := "\"least_ns\":2000000,\"most_ns\":4000000"
				fmt.Fprintf(f, "%s\"kind\":\"gaps\",\"gaps\":[{\"first\":%s,\"then\":%s,%s}]}\n", head, a, b, lengths)
				break
			}
			side := "{\"site\":%s,\"write\":true,\"addr\":1,\"size\":8,\"gid\":%d," +
				"\"stack\":\"goroutine %d [running]:\\nexample.com/m.F()\\n\\t" + dir() + "/m.go:3 +0x1\\n\"}"
			fmt.Fprintf(f, "%s\"kind\":\"race\",\"count\":1,\"a\":"+side+",\"b\":"+side+"}\n", head, a, 7, 7, b, 8, 8)
		}
	}
	fmt.Fprintf(f, "%s\"kind\":\"stats\",\"counters\":{\"slow\":10},\"reached\":[1],\"armed\":[1],\"near\":[2]}\n", head)
}

func dir() string {
	dir, _ := os.Getwd()
	return dir
}
`
}

// threeSites is a plan for modules of scripted.
func threeSites(t *testing.T) *plan.Plan {
	t.Helper()
	var sites []plan.Site
	for i := range 3 {
		sites = append(sites, plan.Site{
			Package: "example.com/m", Function: "F",
			Variable: plan.Variable{Package: "example.com/m", Name: "n", Kind: plan.KindGlobal},
			Mode:     plan.Write, File: "m.go", Line: i + 3, Column: 1, EndLine: i + 3, EndCol: 2, Expr: "n", Source: "n++",
		})
	}
	p, err := atomicsets.Build("example.com/m", sites, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCountsKOfN(t *testing.T) {
	// Pair 1-2 shows in every run, armed or not; 2-3 in the fourth only. The first run
	// and every fourth one arm all; no plan names a site, as no run has left a gap.
	cfg := config(t, scripted("1-2\n2-1\n1-2\n1-2 3-2\n1-2"), threeSites(t))
	cfg.Runs, cfg.Seed = 5, 40
	r := campaignOf(t, cfg)
	if len(r.Findings) != 2 || r.Runs != 5 || len(r.Problems) > 0 {
		t.Fatalf("%d findings in %d runs, problems %q", len(r.Findings), r.Runs, r.Problems)
	}
	for _, f := range r.Findings {
		if err := f.Validate(); err != nil {
			t.Error(err)
		}
	}
	// Runs that do not arm what is known do not count.
	first, second := r.Findings[0].Evidence, r.Findings[1].Evidence
	if first.Hits != 2 || first.Runs != 2 || first.Count != 5 || first.Run != 1 || first.Seed != 40 {
		t.Errorf("pair 1-2: %+v", first)
	}
	if second.Hits != 1 || second.Runs != 1 || second.Count != 1 || second.Run != 4 || second.Seed != 43 {
		t.Errorf("pair 2-3: %+v", second)
	}
	if second.Replay != "interlock test -runs=1 -seed=43 -strength=100 example.com/m" {
		t.Errorf("replay: %s", second.Replay)
	}
	never, armed := r.Coverage.Never, r.Coverage.Armed
	if r.Counters.Slow != 50 || !slices.Equal(never, []uint32{2, 3}) || !slices.Equal(armed, []uint32{1}) {
		t.Errorf("%+v %+v", r.Counters, r.Coverage)
	}
	stack := r.Findings[0].Accesses[0].Goroutine.Stack
	if len(stack) != 1 || stack[0] != (finding.Frame{Function: "example.com/m.F", File: "m.go", Line: 3}) {
		t.Errorf("stack %v", stack)
	}
}

func TestRepeatArmsInEveryRun(t *testing.T) {
	cfg := config(t, scripted("1-2 known?\n1-2 known?\nknown?"), threeSites(t))
	cfg.Runs, cfg.Noise.Repeat = 3, true
	r := campaignOf(t, cfg)
	if len(r.Findings) != 1 {
		t.Fatalf("%d findings", len(r.Findings))
	}
	if f := r.Findings[0]; f.Evidence.Hits != 2 || f.Evidence.Runs != 3 || len(f.Notes) > 0 {
		t.Errorf("%+v", r.Findings)
	}
}

func TestKnownPairsArePassedOn(t *testing.T) {
	cfg := config(t, scripted("known? 3-1 fail\nknown? fail"), threeSites(t))
	cfg.Runs = 2
	var events []string
	cfg.Progress = func(e Event) { events = append(events, fmt.Sprintf("%s %d %v%s", e.Kind, e.Run, e.Pair, e.Outcome)) }
	cfg.Tests.Flags = []string{"-test.v"}
	var all bytes.Buffer
	cfg.Tests.Stdout = &all
	r := campaignOf(t, cfg)
	want := []string{
		"run 1 [0 0]", "measuring 1 [0 0]", "measured 1 [0 0]passed", "caught 1 [1 3]", "package 1 [0 0]failed",
		"run 2 [0 0]", "package 2 [0 0]failed",
	}
	if !slices.Equal(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
	if out := all.String(); strings.Count(out, "known?") != 1 {
		t.Errorf("the first run is to be shown, and no second failure:\n%s", out)
	}
	known, err := os.ReadFile(filepath.Join(cfg.Tests.Binaries[0].Dir, "known"))
	if err != nil || string(known) != "1-3" {
		t.Errorf("known to the second run: %q, %v", known, err)
	}
	if r.Packages[0].Failures != 2 {
		t.Errorf("%+v", r.Packages)
	}
}

func TestOutcomesAreToldApart(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	for _, tt := range []struct {
		script  string
		outcome run.Outcome
		shown   string
	}{
		{"fail 1-2", run.Failed, "as the script says"},
		{"panic", run.Panicked, "panic: as the script says"},
		{"exit", run.Failed, "FAIL\texample.com/m\t"},
		{"hang", run.CutShort, "panic: test timed out after 1.4s"},
		{"wait", run.CutShort, "*** Interlock has ended the tests after"},
	} {
		t.Run(tt.script, func(t *testing.T) {
			cfg := config(t, scripted(tt.script), threeSites(t))
			switch tt.script {
			case "hang":
				cfg.Tests.Timeout = 400 * time.Millisecond // stretched by 3.5
			case "wait":
				cfg.Tests.Timeout, cfg.Tests.Floor = -1, time.Second
			}
			var out bytes.Buffer
			cfg.Tests.Stdout = &out
			r := campaignOf(t, cfg)
			p := r.Packages[0]
			if tt.outcome == run.CutShort {
				if r.Failed() || p.NotCompleted != 1 || p.FirstCut.Outcome != run.CutShort {
					t.Errorf("%+v", p)
				}
				got := out.String()
				if !strings.Contains(got, tt.shown) || !strings.Contains(got, "\texample.com/m.Test  m_test.go:") ||
					!strings.Contains(got, "[not completed]") {
					t.Errorf("shown:\n%s", got)
				}
				return
			}
			if !r.Failed() || p.Failures != 1 || p.First == nil || p.First.Outcome != tt.outcome {
				t.Fatalf("%+v", p)
			}
			if p.Plain != run.Passed || p.UnderNoise != 1 {
				t.Errorf("without the monitor: %q", p.Plain)
			}
			if !strings.Contains(out.String(), tt.shown) || !strings.Contains(out.String(), "FAIL\texample.com/m\t") {
				t.Errorf("shown:\n%s", out.String())
			}
			if tt.outcome == run.Failed && len(r.Findings) == 1 && !r.Findings[0].Evidence.Harmful {
				t.Error("a race in a run that failed, and fails only then, is harmful")
			}
		})
	}
}

func TestLostEvidenceIsSaid(t *testing.T) {
	cfg := config(t, scripted("garbage 1-2\ngone\n1-9"), threeSites(t))
	cfg.Runs = 3
	r := campaignOf(t, cfg)
	if len(r.Findings) != 1 || len(r.Problems) != 3 {
		t.Fatalf("%d findings, problems %q", len(r.Findings), r.Problems)
	}
	for i, words := range []string{
		"run 1 of example.com/m: 1 line of evidence", "run 2 of example.com/m: the process left no evidence",
		"run 3 of example.com/m: 1 records name sites",
	} {
		if !strings.Contains(r.Problems[i], words) {
			t.Errorf("problem %q lacks %q", r.Problems[i], words)
		}
	}
}

// The run that is interrupted counts in all figures or in none, as it has left evidence or not.
func TestInterruptKeepsWhatWasFound(t *testing.T) {
	for script, counted := range map[string]int{"1-2\n1-2 2-3 wait": 2, "1-2\ngone wait": 1} {
		cfg := config(t, scripted(script), threeSites(t))
		cfg.Runs, cfg.Noise.Repeat, cfg.Tests.Dir = 5, true, t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			// The test says by a file that it has written its evidence.
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				if _, err := os.Stat(filepath.Join(cfg.Tests.Binaries[0].Dir, "waiting")); err == nil {
					break
				}
			}
			cancel()
		}()
		r, err := Run(ctx, cfg)
		if err != nil || !r.Interrupted || r.Runs != 1 || r.Counted != counted || len(r.Findings) != counted {
			t.Fatalf("%q: %v, %+v", script, err, r)
		}
		if hits := r.Findings[0].Evidence; hits.Hits != counted || hits.Runs != counted {
			t.Errorf("%q: %+v", script, hits)
		}
		if _, err := os.Stat(filepath.Join(cfg.Tests.Dir, "run-0002-001.jsonl")); (err == nil) != (counted == 2) {
			t.Errorf("%q: %v", script, err)
		}
	}
}

func TestReplayArmsTheSitesAsked(t *testing.T) {
	cfg := config(t, scripted("1-3"), threeSites(t))
	cfg.Replay.OnlyFlag = "-only"
	f := campaignOf(t, cfg).Findings[0]
	_, places, _ := strings.Cut(f.Evidence.Replay, "-only=")
	places, _, _ = strings.Cut(places, " ")
	only, err := arm.SitesAt(cfg.Plan, places)
	if err != nil || places != "m.go:5:1,m.go:3:1" {
		t.Fatalf("places %q of %q: %v", places, f.Evidence.Replay, err)
	}
	cfg.Noise.Only = only
	r := campaignOf(t, cfg)
	data, err := os.ReadFile(filepath.Join(r.Dir, "run-0001-001-sites.txt"))
	if err != nil || string(data) != "1 1 s\n3 1 s\n" {
		t.Errorf("site table %q, %v", data, err)
	}
	if _, err := arm.SitesAt(cfg.Plan, "m.go:3,m.go:99"); err == nil {
		t.Error("a place without a site was accepted")
	}
}

func TestNearMissesAreArmedFirst(t *testing.T) {
	cfg := config(t, scripted("\n"), threeSites(t))
	cfg.Runs = 2
	r := campaignOf(t, cfg)
	for run, want := range []string{"1 1 -\n2 1 -\n3 1 -\n", "1 1 -\n2 1 s\n3 1 -\n"} {
		data, err := os.ReadFile(filepath.Join(r.Dir, fmt.Sprintf("run-%04d-001-sites.txt", run+1)))
		if err != nil || string(data) != want {
			t.Errorf("site table of run %d: %q, %v", run+1, data, err)
		}
	}
}

// What a run has shown to be a gap apart is held for as long in the next one, and
// longer in the one after that; every fourth run looks around.
func TestGapsAreHeld(t *testing.T) {
	cfg := config(t, scripted("gap1-3\n\n\n\n"), threeSites(t))
	cfg.Runs = 4
	r := campaignOf(t, cfg)
	for run, want := range []string{
		"1 1 -\n2 1 -\n3 1 -\n", "1 1 - 4000\n2 1 s\n3 1 -\n", "1 1 - 6242\n2 1 s\n3 1 -\n", "1 1 -\n2 1 s\n3 1 -\n",
	} {
		data, err := os.ReadFile(filepath.Join(r.Dir, fmt.Sprintf("run-%04d-001-sites.txt", run+1)))
		if err != nil || string(data) != want {
			t.Errorf("site table of run %d: %q, %v, want %q", run+1, data, err, want)
		}
	}
}

func TestTimeoutIsStretched(t *testing.T) {
	for _, tt := range []struct {
		timeout time.Duration
		budget  int
		want    time.Duration
	}{{0, 0, 35 * time.Minute}, {-1, 0, 0}, {time.Minute, 50, 2 * time.Minute}} {
		if got := child.Stretch(run.PlainTimeout(tt.timeout), tt.budget); got != tt.want {
			t.Errorf("%v with budget %d: %v, want %v", tt.timeout, tt.budget, got, tt.want)
		}
	}
}

// Campaigns of one build do not read each other's evidence, whether they name a folder or not.
func TestCampaignsShareNoEvidence(t *testing.T) {
	cfg := config(t, scripted("1-2"), threeSites(t))
	for _, dir := range []string{"", t.TempDir()} {
		cfg.Tests.Dir = dir
		first := campaignOf(t, cfg)
		second := campaignOf(t, cfg)
		if len(first.Findings) != 1 || len(second.Findings) != 1 || first.Dir == second.Dir {
			t.Fatalf("%d and %d findings in %s and %s", len(first.Findings), len(second.Findings), first.Dir, second.Dir)
		}
		if hits := second.Findings[0].Evidence.Count; hits != first.Findings[0].Evidence.Count {
			t.Errorf("the second campaign has counted %d collisions, the first %d", hits, first.Findings[0].Evidence.Count)
		}
	}
}
