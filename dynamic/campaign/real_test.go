package campaign

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/build"
)

// bank is a module with a race in each of two packages, one clean package, a
// failing test, a panicking one, and every kind of test file.
const bank = `
-- go.mod --
module example.com/bank

go 1.22
-- account/account.go --
// Package account has an unguarded read.
package account

import "sync"

type Account struct {
	mu      sync.Mutex
	balance int
}

func (a *Account) Deposit(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance += n
}

func (a *Account) Balance() int { return a.balance }
-- account/account_test.go --
package account

import (
	"sync"
	"testing"
)

func TestBalance(t *testing.T) {
	var a Account
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 300 {
				a.Deposit(1)
				a.Balance()
			}
		}()
	}
	wg.Wait()
}
-- ledger/ledger.go --
// Package ledger writes a map without a lock.
package ledger

var Entries = map[string]int{}

var Count int
-- ledger/ledger_test.go --
package ledger_test

import (
	"os"
	"sync"
	"testing"

	"example.com/bank/ledger"
)

func TestMain(m *testing.M) { os.Exit(m.Run()) }

func TestCount(t *testing.T) {
	data, err := os.ReadFile("testdata/n.txt")
	if err != nil || len(data) == 0 {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 100 {
				ledger.Count++
			}
		}()
	}
	wg.Wait()
}
-- ledger/testdata/n.txt --
100
-- clean/clean.go --
// Package clean is guarded throughout.
package clean

import "sync"

type Counter struct {
	mu sync.RWMutex
	n  map[string]int
	ch chan int
}

func New() *Counter { return &Counter{n: map[string]int{}, ch: make(chan int)} }

func (c *Counter) Add(k string) {
	c.mu.Lock()
	c.n[k]++
	c.mu.Unlock()
}

func (c *Counter) Get(k string) int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.n[k]
}
-- clean/clean_test.go --
package clean

import (
	"sync"
	"testing"
)

type message struct{ n int }

func TestClean(t *testing.T) {
	c := New()
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 100 {
				c.Add("x")
				c.Get("x")
			}
		}()
	}
	wg.Wait()
	box, ch := &message{}, make(chan *message)
	go func() {
		box.n++
		ch <- box
	}()
	m := <-ch
	m.n++
	if m.n != 2 || c.Get("x") != 400 {
		t.Error(m.n, c.Get("x"))
	}
}
-- broken/broken_test.go --
package broken

import "testing"

func TestBroken(t *testing.T) { t.Fatal("broken as ever") }
-- panics/panics_test.go --
package panics

import "testing"

func TestPanics(t *testing.T) {
	var p *struct{ n int }
	p.n++
}
-- none/none.go --
package none
`

func TestBank(t *testing.T) {
	cfg := config(t, bank, nil)
	for i, b := range cfg.Tests.Binaries {
		// config sets it for scripted modules.
		cfg.Tests.Binaries[i].Monitored = b.Path != "" && !strings.HasSuffix(b.Package, "/broken")
	}
	cfg.Runs, cfg.Noise.Repeat, cfg.Seed = 10, true, 1
	var out bytes.Buffer
	cfg.Tests.Stdout = &out
	r := campaignOf(t, cfg)

	caught := map[string]*finding.Finding{}
	for _, f := range r.Findings {
		if err := f.Validate(); err != nil {
			t.Error(err)
		}
		caught[f.Variable.String()] = f
	}
	balance := caught["example.com/bank/account.Account.balance"]
	count := caught["example.com/bank/ledger.Count"]
	if balance == nil || count == nil || len(caught) != 2 {
		t.Fatalf("caught: %v", caught)
	}
	const replay = " example.com/bank/ledger -- '-run=^TestCount$'"
	if e := count.Evidence; e.Test != "example.com/bank/ledger" || e.Runs != 10 || !strings.HasSuffix(e.Replay, replay) {
		t.Errorf("%+v", e)
	}
	a := balance.Accesses[0]
	if a.File != "account/account.go" || a.Source == "" || a.Goroutine == nil || len(a.Goroutine.Stack) == 0 {
		t.Fatalf("access %+v", a)
	}
	top := a.Goroutine.Stack[0]
	const method = "example.com/bank/account.(*Account)."
	if top.File != a.File || top.Line != a.Line || !strings.HasPrefix(top.Function, method) {
		t.Errorf("the stack begins at %+v, the access is at %v", top, a.Position)
	}
	if a.Role != "goroutine started at account/account_test.go:13" {
		t.Errorf("role %q", a.Role)
	}
	for _, p := range r.Packages {
		fails := strings.HasSuffix(p.Package, "/broken") || strings.HasSuffix(p.Package, "/panics")
		if (p.Failures > 0) != fails || fails && p.UnderNoise > 0 {
			t.Errorf("%+v", p)
		}
	}
	for _, words := range []string{
		"ok  \texample.com/bank/clean\t", "--- FAIL: TestBroken", "broken as ever", "FAIL\texample.com/bank/broken\t",
		"panic: runtime error: invalid memory address", "?   \texample.com/bank/none\t[no test files]",
	} {
		if strings.Count(out.String(), words) != 1 {
			t.Errorf("%q is to be shown once:\n%s", words, out.String())
		}
	}
	if len(r.Problems) > 0 {
		t.Errorf("problems: %q", r.Problems)
	}
	reached := map[string]bool{}
	for _, id := range r.Coverage.Reached {
		reached[cfg.Plan.Site(id).File] = true
	}
	if !reached["clean/clean.go"] || !reached["account/account.go"] {
		t.Errorf("reached %v", reached)
	}
}

// The language version of a module decides whether helper calls compile.
func TestOldLanguageVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	archive := strings.ReplaceAll(strings.Replace(bank, "go 1.22", "go 1.12", 1), "for range ", "for i := 0; i < ")
	for _, n := range []string{"2", "4", "100", "300"} {
		archive = strings.ReplaceAll(archive, "i < "+n+" {", "i < "+n+"; i++ {")
	}
	cfg := config(t, archive, nil)
	cfg.Runs = 10
	cfg.Tests.Binaries = slices.DeleteFunc(cfg.Tests.Binaries, func(b build.Binary) bool {
		return !strings.HasSuffix(b.Package, "/ledger")
	})
	if r := campaignOf(t, cfg); len(r.Findings) == 0 {
		t.Errorf("nothing caught; coverage %+v", r.Coverage)
	}
}

// The monitored tests pass as the plain ones do, package by package.
func TestSameOutcomeAsGoTest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	cfg := config(t, bank, nil)
	r := campaignOf(t, cfg)
	for _, p := range r.Packages {
		cmd := exec.Command("go", "test", p.Package)
		cmd.Dir = filepath.Clean(cfg.Workspace.Module.Root)
		if plain := cmd.Run() == nil; plain != (p.Failures == 0) {
			t.Errorf("%s: plain tests pass: %v, monitored: %+v", p.Package, plain, p)
		}
	}
}

// A test that is over at once still says what it reached, and a package that
// has a TestMain keeps it.
func TestShortTestsSayWhatTheyReached(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	for _, tt := range []struct{ name, file string }{
		{"inside", "package m\n\nimport \"testing\"\n\nfunc TestX(*testing.T) { Inc() }\n"},
		{"outside", "package m_test\n\nimport (\n\t\"testing\"\n\n\t\"m\"\n)\n\nfunc TestX(*testing.T) { m.Inc() }\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const module = "-- go.mod --\nmodule m\n\ngo 1.22\n" +
				"-- m.go --\npackage m\n\nvar n int\n\nfunc Inc() { n++ }\n-- m_test.go --\n"
			cfg := config(t, module+tt.file, nil)
			r := campaignOf(t, cfg)
			if len(r.Coverage.Reached) != 1 || r.Failed() || len(r.Problems) > 0 {
				t.Errorf("%+v, failures %v, problems %q", r.Coverage, r.Failed(), r.Problems)
			}
		})
	}
}

// Goroutines that the tests leave behind race after the last test has returned, in a
// package with a TestMain and in one without.
func TestStragglersRace(t *testing.T) {
	const lib = `
import "time"

var n int

func Start() {
	for range 2 {
		go func() {
			time.Sleep(5 * time.Millisecond)
			n++
		}()
	}
}
`
	const test = "import \"testing\"\n\nfunc TestStart(*testing.T) { Start() }\n"
	const main = "import (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n"
	cfg := config(t, "-- go.mod --\nmodule m\n\ngo 1.22\n"+
		"-- own/own.go --\npackage own\n"+lib+"-- own/own_test.go --\npackage own\n"+test+
		"-- own/main_test.go --\npackage own\n"+main+
		"-- none/none.go --\npackage none\n"+lib+"-- none/none_test.go --\npackage none\n"+test, nil)
	cfg.Runs, cfg.Seed = 10, 1
	r := campaignOf(t, cfg)
	caught := map[string]bool{}
	for _, f := range r.Findings {
		caught[f.Variable.String()] = f.Status == finding.Confirmed
	}
	if !caught["m/own.n"] || !caught["m/none.n"] || r.Failed() {
		t.Errorf("caught %v, failed: %v, problems %q", caught, r.Failed(), r.Problems)
	}
}
