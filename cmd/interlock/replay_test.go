package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// replayed has one bug of each kind that has a replay command: a race, a section
// that is split by a write elsewhere, and a panic that is its own proof.
const replayed = `
-- go.mod --
module example.com/replayed

go 1.22
-- race/race.go --
package race

import "sync"

type Counter struct {
	mu sync.Mutex
	n  int
}

func (c *Counter) Add() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
}

func (c *Counter) Get() int { return c.n }
-- race/race_test.go --
package race

import (
	"sync"
	"testing"
)

func TestOther(t *testing.T) {}

func TestCount(t *testing.T) {
	var c Counter
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 20 {
				c.Add()
				c.Get()
			}
		}()
	}
	wg.Wait()
}
-- split/split.go --
package split

import "sync"

type Account struct {
	mu      sync.Mutex
	balance int
}

func (a *Account) Balance() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.balance
}

func (a *Account) Withdraw(n int) {
	if a.Balance() < n {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance -= n
}

// Drain takes all there is.
func (a *Account) Drain() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance = 0
}
-- split/split_test.go --
package split

import (
	"sync"
	"testing"
)

func TestWithdraw(t *testing.T) {
	for range 20 {
		a := &Account{balance: 10}
		var wg sync.WaitGroup
		wg.Add(2)
		go func() { defer wg.Done(); a.Drain() }()
		go func() { defer wg.Done(); a.Withdraw(10) }() // is mostly first
		wg.Wait()
	}
}
-- closed/closed.go --
package closed

import "sync"

type Server struct {
	mu   sync.Mutex
	n    int
	done chan int
}

func (s *Server) Stop() {
	s.mu.Lock()
	s.n++
	s.mu.Unlock()
	close(s.done)
}
-- closed/closed_test.go --
package closed

import "testing"

func TestStop(t *testing.T) {
	s := &Server{done: make(chan int)}
	for range 2 {
		s.Stop()
	}
}
`

// The replay command of a finding shows it again, at about the rate that the finding
// states.
func TestReplayCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(replayed)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(command string) map[string]*finding.Finding {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), goEnvironment(t)...)
		cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"), "PWD="+dir)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		cmd.Run() // findings end in 1
		found := map[string]*finding.Finding{}
		for line := range strings.Lines(stdout.String()) {
			f := new(finding.Finding)
			if err := json.Unmarshal([]byte(line), f); err != nil {
				t.Fatalf("%s: %v\n%s%s", command, err, line, &stderr)
			}
			if f.ID != "" { // not the end
				found[f.ID] = f
			}
		}
		return found
	}
	kinds := map[string]bool{}
	for id, f := range run("interlock test -runs 4 -seed 1 -format jsonl ./...") {
		e := f.Evidence
		if f.Status != finding.Confirmed {
			t.Errorf("%s is %s", f.Title, f.Status)
			continue
		}
		if e.ReplayRuns == 0 || e.ReplayHits == 0 {
			t.Errorf("%s: seen again in %d of %d tries of %s", f.Title, e.ReplayHits, e.ReplayRuns, e.Replay)
			continue
		}
		kinds[f.Variable.Package+" "+string(f.Code)] = true
		words := strings.Replace(e.Replay, "interlock test ", "interlock test -replays=0 -format=jsonl ", 1)
		// Half as often as stated is within reason.
		wanted, seen, tries := max(1, 2*e.ReplayHits/e.ReplayRuns), 0, 0
		for ; tries < 4 && seen < wanted; tries++ {
			if run(words)[id] != nil {
				seen++
			}
		}
		if seen < wanted {
			t.Errorf("%s: seen again in %d of %d runs, and is to be in %d of %d: %s", f.Title, seen, tries, e.ReplayHits,
				e.ReplayRuns, e.Replay)
		}
	}
	for _, want := range []string{"race IL1008", "split IL2002", "closed IL4002"} {
		if !kinds["example.com/replayed/"+want] {
			t.Errorf("no finding %s among %s", want, fmt.Sprint(kinds))
		}
	}
}
