package campaign

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/internal/testmodule"
)

// In each test two goroutines do much that the monitor hears of, one after the other. If what it synchronises ordered
// them, the race detector would take the first access for one before the second.
const apart = `
-- go.mod --
module m

go 1.22
-- m.go --
package m

type object struct{ plain, counted, ordered int64 }
-- m_test.go --
package m

import (
	"sync/atomic"
	"testing"
	"time"
)

func busy() {
	own := new(object)
	for range 200 {
		own.plain++
	}
}

func both(first, then func()) {
	done := make(chan bool)
	go func() { first(); busy(); done <- true }()
	go func() { time.Sleep(10 * time.Millisecond); busy(); then(); done <- true }()
	<-done
	<-done
}

func TestPlain(*testing.T) {
	o := new(object)
	both(func() { o.plain = 1 }, func() { o.plain = 2 })
}

func TestCounted(*testing.T) {
	o := new(object)
	both(func() { atomic.AddInt64(&o.counted, 1) }, func() { o.counted = 2 })
}

func TestOrdered(*testing.T) {
	o, first := new(object), make(chan bool, 1)
	both(func() { o.ordered = 1; first <- true }, func() { <-first; o.ordered = 2 })
}
`

// Schedules have the race detector of the Go distribution behind them, which sees what it sees without the monitor.
func TestRaceDetectorScheduled(t *testing.T) {
	if os.Getenv("INTERLOCK_TEST_LONG") == "" {
		t.Skip("make long has it: it builds the standard library with the race detector")
	}
	if out, err := exec.Command("go", "env", "CGO_ENABLED", "CC").Output(); err != nil || out[0] != '1' {
		t.Skip("the race detector needs cgo")
	}
	dir := testmodule.Unpack(t, apart)
	m, err := build.Load(context.Background(), build.Options{Dir: dir, Patterns: []string{"./..."}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := atomicsets.Build(m.Path, sites.All(m.Packages), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := build.PrepareRace(context.Background(), m, p)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	bins, err := ws.BuildTests(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, schedule := range []string{"contest", "pct", "drfinder"} {
		where, err := arm.ParseHeuristic(p, schedule, nil)
		if err != nil {
			t.Fatal(err)
		}
		const runs = 3
		r, err := Exact(context.Background(), ExactConfig{
			Program: run.Program{Workspace: ws, Plan: p}, Tests: run.Tests{Binaries: bins, Dir: t.TempDir()},
			Engine: run.Engine{Race: true},
			Where:  where, Series: Series{Runs: runs, Seed: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		found := map[finding.Mode]string{} // by the mode of the earlier one
		for _, f := range r.Findings {
			found[f.Accesses[1].Mode] = f.Accesses[0].Expr
			if err := f.Validate(); err != nil || f.Evidence.Engine != "race" || f.Evidence.Hits != runs {
				t.Errorf("%s: %v: %s by %+v", schedule, err, f.Title, f.Evidence)
			}
		}
		// Of an atomic access the race detector knows the caller's line alone, which has no variable.
		isCaller := strings.HasPrefix(found[finding.AtomicWrite], "memory accessed at ")
		if len(r.Findings) != 2 || found[finding.Write] != "o.plain" || !isCaller {
			t.Errorf("%s: %d findings, want those on plain and counted: %v", schedule, len(r.Findings), found)
		}
	}
}
