package judge

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/blocked"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

func leakedStack(id, state, function, line, by string) string {
	return "goroutine " + id + " [" + state + "]:\n" + function + "(...)\n\t/src/m/a.go:" + line + " +0x1\n" + by
}

func TestBlockedIn(t *testing.T) {
	cfg := &run.Settings{Program: run.Program{
		Workspace: &build.Workspace{Module: &build.Module{Path: "m", Root: "/src/m"}},
	}}
	started := "created by m.Start in goroutine 5\n\t/src/m/a.go:3 +0x2\n"
	for _, test := range []struct {
		name, stack string
		want        blocked.Place
	}{
		{"send", leakedStack("7", "chan send (leaked)", "m.f", "9", started),
			blocked.Place{State: "chan send", Function: "m.f", File: "a.go", Line: 9, Started: "a.go:3"}},
		{"minutes", leakedStack("7", "select (leaked), 2 minutes", "m.f", "9", ""),
			blocked.Place{State: "select", Function: "m.f", File: "a.go", Line: 9, Started: ""}},
		{"asleep", leakedStack("7", "chan send, 2 minutes", "m.f", "9", started),
			blocked.Place{State: "chan send", Function: "m.f", File: "a.go", Line: 9, Started: "a.go:3"}},
		{"on purpose", leakedStack("7", "select (no cases) (leaked)", "m.f", "9", started), blocked.Place{}},
		{"nil channel", leakedStack("7", "chan send (nil chan) (leaked)", "m.f", "9", started),
			blocked.Place{State: "chan send (nil chan)", Function: "m.f", File: "a.go", Line: 9, Started: "a.go:3"}},
		{"cut", "goroutine 7 [chan send (leaked)]:\n", blocked.Place{}},
		{"library", "goroutine 7 [select (leaked)]:\ndatabase/sql.f()\n\t/go/src/database/sql/sql.go:1 +0x1\n",
			blocked.Place{}},
	} {
		b, ok := blocked.Read(cfg.Workspace, &evidence.LeakedGoroutine{Stack: test.stack})
		if b.At != test.want && ok || ok != (test.want != blocked.Place{}) {
			t.Errorf("%s: %+v, %v", test.name, b.At, ok)
		}
		if ok && len(b.Goroutine.Created) > 0 && b.Parent != 5 {
			t.Errorf("%s: started by goroutine %d", test.name, b.Parent)
		}
	}
}

// A test that waits for nothing hangs, while another goroutine may be parked there.
func TestBlockedInTest(t *testing.T) {
	cfg := &run.Settings{Program: run.Program{
		Workspace: &build.Workspace{Module: &build.Module{Path: "m", Root: "/src/m"}},
	}}
	stack := leakedStack("7", "select (no cases) (leaked)", "m.f", "9",
		"testing.tRunner(...)\n\t/go/src/testing/testing.go:1 +0x1\n")
	for _, hang := range []bool{true, false} {
		if _, ok := blocked.Read(cfg.Workspace, &evidence.LeakedGoroutine{Stack: stack, Hang: hang}); ok != hang {
			t.Errorf("hang %v: ok is %v", hang, ok)
		}
	}
}

func TestLeaksOf(t *testing.T) {
	member := func(id, parent int64, line int, hang, test bool) blocked.Goroutine {
		b := blocked.Goroutine{At: blocked.Place{File: "a.go", Line: line}, Parent: parent, Hang: hang}
		b.Goroutine = finding.Goroutine{ID: id, Stack: []finding.Frame{{Function: "m.f"}}}
		if test {
			b.Goroutine.Stack = append(b.Goroutine.Stack, finding.Frame{Function: "testing.tRunner"})
		}
		return b
	}
	leaks := blocked.Leaks([]blocked.Goroutine{
		member(10, 9, 30, true, false),  // started by what the test started
		member(8, 1, 10, true, true),    // the test
		member(9, 8, 20, true, false),   // started by the test
		member(4, 2, 5, true, false),    // left by an earlier test, found with the others
		member(11, 3, 40, false, false), // found after the tests
		member(12, 3, 40, false, false), // the same place
	})
	var got [][]int64
	for _, l := range leaks {
		var ids []int64
		for _, b := range l {
			ids = append(ids, b.Goroutine.ID)
		}
		got = append(got, ids)
	}
	if want := [][]int64{{4}, {8, 9, 10}, {11}}; !reflect.DeepEqual(got, want) {
		t.Errorf("leaks %v, want %v", got, want)
	}
	if leaks[0][0].Hang || !leaks[1][0].Hang {
		t.Error("the hang is that of the test's family alone")
	}
}

// Of the goroutines that the runtime prints when none can go on, those of tests and what these have started are the
// hang. The goroutine of TestMain runs tests as well, and has started what stands idle beside them.
func TestAsleep(t *testing.T) {
	cfg := &run.Settings{Program: run.Program{
		Workspace: &build.Workspace{Module: &build.Module{Path: "m", Root: "/src/m"}},
	}}
	frame := func(function, file string) string { return function + "(...)\n\t" + file + ":9 +0x1\n" }
	runner := frame("testing.tRunner", "/go/src/testing/testing.go")
	for _, system := range []string{"", frame("runtime.gopark", "/go/src/runtime/proc.go")} {
		seen := NewTally(&plan.Plan{}, nil)
		seen.Asleep(cfg, "m", 0, "\ngoroutine 1 [chan receive]:\n"+system+
			frame("testing.(*T).Run", "/go/src/testing/testing.go")+runner+frame("m.TestMain", "/src/m/a_test.go")+
			"\ngoroutine 18 [chan receive]:\n"+system+frame("m.init.0.func1", "/src/m/a.go")+
			"created by m.init.0 in goroutine 1\n\t/src/m/a.go:3 +0x2\n"+
			"\ngoroutine 7 [chan receive, 2 minutes]:\n"+system+frame("m.TestA", "/src/m/a_test.go")+runner+
			"\ngoroutine 8 [sync.Mutex.Lock]:\n"+system+frame("m.lock", "/src/m/a.go")+
			"created by m.TestA in goroutine 7\n\t/src/m/a_test.go:5 +0x2\n")
		if len(seen.leaks) != 1 {
			t.Fatalf("%d leaks, want 1: %+v", len(seen.leaks), seen.leaks)
		}
		for _, leak := range seen.leaks {
			if n := len(leak.members); n != 2 || !leak.members[0].Asleep || !leak.members[0].Hang {
				t.Errorf("%d goroutines: %+v", n, leak.members)
			}
		}
	}
}

// A lock that stays locked is one bug, be it the test itself that comes to it or a goroutine that the test waits for.
func TestPartOfAHang(t *testing.T) {
	waiting := func(hits int, lines ...int) *finding.Finding {
		f := &finding.Finding{Code: finding.BlockedForEver, Evidence: &finding.Evidence{Test: "m", Hits: hits, Runs: 9}}
		for _, line := range lines {
			a := finding.Access{Position: finding.Position{File: "a.go", Line: line}, Mode: finding.Lock}
			if line > 10 {
				a.Mode = finding.Receive
			}
			f.Accesses = append(f.Accesses, a)
		}
		return f
	}
	for _, tt := range []struct {
		all  []*finding.Finding
		want int
	}{
		{[]*finding.Finding{waiting(1, 5), waiting(3, 5, 20)}, 1},
		{[]*finding.Finding{waiting(3, 5, 20), waiting(1, 5)}, 1},
		{[]*finding.Finding{waiting(1, 5), waiting(3, 5)}, 1},
		{[]*finding.Finding{waiting(1, 20), waiting(3, 5, 20)}, 2}, // a helper's receive says nothing of the bug
		{[]*finding.Finding{waiting(1, 5), waiting(3, 6, 20)}, 2},
	} {
		if got := withoutParts(tt.all); len(got) != tt.want {
			t.Errorf("%d findings, want %d", len(got), tt.want)
		}
	}
}

// What waits for the goroutines of a deadlock is brought about by it: for a lock that one of them holds, or in the
// function that has started them. What waits elsewhere, or in the tests of another package, is not.
func TestBringsAbout(t *testing.T) {
	at := func(mode finding.Mode, line int, function, startedIn string) finding.Access {
		return finding.Access{
			Position: finding.Position{File: "a.go", Line: line}, Mode: mode,
			Goroutine: &finding.Goroutine{
				Stack: []finding.Frame{{Function: function, File: "a.go"}}, Created: []finding.Frame{{Function: startedIn}},
			},
		}
	}
	d := &finding.Finding{
		Status: finding.Confirmed, Evidence: &finding.Evidence{Test: "m"},
		Accesses: []finding.Access{at(finding.Lock, 11, "m.ab", "m.Start"), at(finding.ReadLock, 21, "m.ba", "m.Start")},
		Cycle: []finding.Edge{
			{Since: &finding.Position{File: "a.go", Line: 10}}, {Since: &finding.Position{File: "a.go", Line: 20}},
		},
	}
	for _, tt := range []struct {
		name, test string
		access     finding.Access
		want       bool
	}{
		{"the lock that one holds", "m", at(finding.ReadLock, 20, "m.ba", "m.other"), true},
		{"another lock", "m", at(finding.Lock, 30, "m.ba", "m.Start"), false},
		{"the function that has started them", "m", at(finding.Wait, 40, "m.Start", "m.main"), true},
		{"another function", "m", at(finding.Wait, 40, "m.Stop", "m.Start"), false},
		{"another package", "n", at(finding.Wait, 40, "m.Start", "m.main"), false},
	} {
		f := &finding.Finding{Evidence: &finding.Evidence{Test: tt.test}, Accesses: []finding.Access{tt.access}}
		if got := bringsAbout(d, f); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		f.Accesses = append(f.Accesses, at(finding.Receive, 50, "m.Stop", ""))
		if bringsAbout(d, f) {
			t.Errorf("%s: a further goroutine waits elsewhere", tt.name)
		}
	}
}

// What a test has started itself may be left behind because the test failed early, by noise alone.
func TestLeftByUpsetTest(t *testing.T) {
	leftBy := func(starter string, upset ...string) finding.Status {
		tl := NewTally(&plan.Plan{}, nil)
		for run, failed := range [][]string{upset, {"TestOther"}} {
			if tl.Runs = run + 1; run > 0 && !slices.Contains(upset, "TestOther") {
				break // seen once more where another test failed
			}
			tl.blocked("m", 1, []blocked.Goroutine{{
				At: blocked.Place{State: "chan send", Function: "m.f", File: "a.go", Line: 9},
				Goroutine: finding.Goroutine{ID: 7, Stack: []finding.Frame{{Function: "m.f", File: "a.go", Line: 9}},
					Created: []finding.Frame{{Function: starter, File: "a.go", Line: 3}}}}}, failed...)
		}
		cfg := &run.Settings{Program: run.Program{
			Workspace: &build.Workspace{Module: &build.Module{Path: "m", Root: "/src/m"}},
		}}
		for at := range tl.leaks {
			return tl.leakFinding(cfg, at).Status
		}
		return ""
	}
	for _, test := range []struct {
		name, starter string
		upset         []string
		want          finding.Status
	}{
		{"passed", "m.TestSlow", nil, finding.Confirmed},
		{"another test failed", "m.TestSlow", []string{"TestOther"}, finding.Confirmed},
		{"its test failed", "m.TestSlow", []string{"TestSlow"}, finding.Suspected},
		{"a literal of its test", "m.TestSlow.func1", []string{"TestSlow"}, finding.Suspected},
		{"a method of its suite", "m.(*Suite).TestSlow.func2", []string{"TestAll", "TestAll/TestSlow"}, finding.Suspected},
		{"another method of its suite", "m.(*Suite).TestSlow", []string{"TestAll", "TestAll/TestFast"}, finding.Confirmed},
		{"the module's own code", "m.Start", []string{"TestSlow"}, finding.Confirmed},
		{"also where its test passed", "m.TestSlow", []string{"TestSlow", "TestOther"}, finding.Confirmed},
	} {
		if got := leftBy(test.starter, test.upset...); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// What is left behind where a test waits for ever is not said to be so when the tests had ended, and a panic whose
// deferred calls wait is named.
func TestWordsOfLeaks(t *testing.T) {
	cfg := &run.Settings{Program: run.Program{
		Workspace: &build.Workspace{Module: &build.Module{Path: "m", Root: "/src/m"}},
	}}
	const waits = "sync.(*WaitGroup).Wait(...)\n\t/go/src/sync/waitgroup.go:206 +0x1\npanic(...)\n\t" +
		"/go/src/runtime/panic.go:860 +0x1\nruntime.sigpanic(...)\n\t/go/src/runtime/signal.go:900 +0x1\n"
	for _, test := range []struct {
		hang        bool
		inner, want string
	}{
		{false, "", "When the tests had ended, goroutine 7 was blocked in f (chan send). "},
		{true, "", "While a test waited for ever, goroutine 7 was blocked in f (chan send). "},
		{false, waits, " Goroutine 7 has panicked at a.go:9 in m.f and waits in a deferred call: "},
	} {
		tl := NewTally(&plan.Plan{}, nil)
		stack := "goroutine 7 [chan send (leaked)]:\n" + test.inner + "m.f(...)\n\t/src/m/a.go:9 +0x1\n"
		tl.Leaked(cfg, "m", 1, []evidence.Record{
			{Kind: evidence.Leak, Leak: &evidence.LeakedGoroutine{Stack: stack, Hang: test.hang}},
		})
		for at := range tl.leaks {
			if got := tl.leakFinding(cfg, at).Message; !strings.Contains(got, test.want) {
				t.Errorf("message %q, want %q in it", got, test.want)
			}
		}
		if len(tl.leaks) != 1 {
			t.Errorf("%d leaks, want 1", len(tl.leaks))
		}
	}
}
