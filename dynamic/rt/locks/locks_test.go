package locks

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/rt"
)

// locks of the scenarios: of a goroutine's program, "a" is Lock of the first one, "A" its Unlock,
// "1" and "!" RLock and RUnlock of the first RWMutex, "r" and "R" those by its RLocker.
type world struct {
	mutexes [3]sync.Mutex
	shared  [2]sync.RWMutex
	signal  sync.Mutex
	turn    atomic.Int32
}

// do runs a goroutine's program. A digit behind "@" has it wait for its turn, a dot ends that.
func (w *world) do(program string) {
	const lock, unlock, rlock, runlock, wlock, wunlock = "abc", "ABC", "12", "!?", "xy", "XY"
	at := func(set string, c byte) int { return slices.Index([]byte(set), c) }
	for i := 0; i < len(program); i++ {
		c := program[i]
		site := uint64(c)
		for j := 0; j < len(program); j++ { // a program has one site for each letter
			site = site*31 + uint64(program[j])
		}
		site *= 2
		switch {
		case c == 'z': // a signal: the source shows that it is handed over
			OfMutex(&w.signal, 1).Lock()
		case c == 'Z':
			OfMutex(&w.signal, 3).Unlock()
		case at(lock, c) >= 0:
			OfMutex(&w.mutexes[at(lock, c)], site).Lock()
		case at(unlock, c) >= 0:
			OfMutex(&w.mutexes[at(unlock, c)], site).Unlock()
		case at(rlock, c) >= 0:
			OfRWMutex(&w.shared[at(rlock, c)], site).RLock()
		case at(runlock, c) >= 0:
			OfRWMutex(&w.shared[at(runlock, c)], site).RUnlock()
		case at(wlock, c) >= 0:
			OfRWMutex(&w.shared[at(wlock, c)], site).Lock()
		case at(wunlock, c) >= 0:
			OfRWMutex(&w.shared[at(wunlock, c)], site).Unlock()
		case c == 'r':
			OfLocker(w.shared[0].RLocker(), site).Lock()
		case c == 'R':
			OfLocker(w.shared[0].RLocker(), site).Unlock()
		case c == '@':
			for i++; w.turn.Load() < int32(program[i]-'0'); {
				time.Sleep(time.Millisecond)
			}
		case c == '.':
			w.turn.Add(1)
		case c == '~':
			time.Sleep(20 * time.Millisecond)
		default:
			panic("unknown step " + string(c))
		}
	}
}

// scenarios are programs of goroutines. Those that deadlock are left behind.
var scenarios = []struct {
	name       string
	goroutines []string
	deadlock   int  // goroutines in the circle that is reported; 0 is none
	circle     bool // orders lead round
	met        bool // and nothing that is seen orders the goroutines
}{
	{"opposite orders block", []string{"a.@2b", "b.@2a"}, 2, true, false},
	{"a ring of three", []string{"a.@3b", "b.@3c", "c.@3a"}, 3, true, false},
	{"locked twice", []string{"aa"}, 1, false, false},
	{"read-locked by RLocker", []string{"r.@2a", "a.@2x"}, 2, true, false},
	{"two by RLocker at once", []string{"r.@2R", "@1r.R"}, 0, false, false},
	{"an upgrade", []string{"1x"}, 1, false, false},
	{"read again behind a writer", []string{"1.@2~1", "@1.x"}, 2, true, false},
	{"a mutex and a lock for reading", []string{"a.@2x", "1.@2a"}, 2, true, false},
	{"opposite orders in turns", []string{"cC.@2abBA.@4abBA", "@1cC.@3baAB."}, 0, true, true},
	{"opposite orders under a gate", []string{"cC.@2cabBAC.@4cabBAC", "@1cC.@3cbaABC."}, 0, false, false},
	{"opposite orders, all read", []string{"cC.@212?!.@412?!", "@1cC.@321!?."}, 0, false, false},
	{"opposite orders of one goroutine", []string{"abBAbaABabBA"}, 0, false, false},
	{"opposite orders, one before the other starts", []string{"abBA.", "@1baAB"}, 0, true, false},
	{"one order of many", []string{"abBAabBA", "abBAabBA", "abBAabBA"}, 0, false, false},
	{"handed over without a release seen", []string{"z.@1z", ".~~~~~Z"}, 0, false, false},
	{"handed over", []string{"a.@3b@4", "@1A.@2b.~aAB.", "@2."}, 0, false, false},
}

// The test binary itself is the program under test.
func TestMain(m *testing.M) {
	if name := os.Getenv("LOCKS_SCENARIO"); name != "" {
		runScenario(name)
		return
	}
	os.Exit(m.Run())
}

func runScenario(name string) {
	for _, s := range scenarios {
		if s.name != name {
			continue
		}
		var w world
		var done sync.WaitGroup
		for _, g := range s.goroutines {
			done.Add(1)
			go func() { defer done.Done(); w.do(g) }()
		}
		ended := make(chan bool)
		go func() { done.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(2 * time.Second):
		}
	}
}

func TestScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			deadlock, circle, met, queued := 0, false, false, 0
			for _, r := range records(t, s.name, "") {
				switch r.Kind {
				case evidence.Deadlock:
					deadlock = len(r.Locks)
					for _, l := range r.Locks {
						queued += btoi(l.Queued)
					}
				case evidence.Order:
					circle, met = true, met || r.Met
				}
			}
			if deadlock != s.deadlock || circle != s.circle || met != s.met {
				t.Errorf("deadlock of %d, circle %t, met %t; want %d, %t, %t", deadlock, circle, met, s.deadlock, s.circle, s.met)
			}
			if want := btoi(strings.Contains(s.name, "behind a writer")); queued != want {
				t.Errorf("%d writers that wait are part of the deadlock, want %d", queued, want)
			}
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// records runs a scenario in a process of its own and returns what that writes.
func records(t *testing.T, scenario, holds string) []evidence.Record {
	t.Helper()
	dir := t.TempDir()
	file, table := filepath.Join(dir, "out"), filepath.Join(dir, "sites")
	if err := os.WriteFile(table, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LOCKS_SCENARIO="+scenario, "INTERLOCK_OUT="+file, "INTERLOCK_SITES="+table,
		"INTERLOCK_RUN=1", "INTERLOCK_SEED=1", "INTERLOCK_HOLD="+holds)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, bad, err := evidence.Read(f)
	if err != nil || bad.Lines > 0 {
		t.Fatalf("%d unreadable lines, %v", bad.Lines, err)
	}
	return all
}

// Goroutines that came one after the other are held until both have one of the locks.
func TestHoldsDriveIntoTheDeadlock(t *testing.T) {
	const scenario = "opposite orders in turns"
	holds := ""
	for _, r := range records(t, scenario, "") {
		if r.Kind == evidence.Order {
			for _, l := range r.Locks {
				holds += fmt.Sprintf("%d>%d:500000,", l.Holds.Site, l.Wants.Site)
			}
		}
	}
	held := false
	for _, r := range records(t, scenario, holds) {
		held = held || r.Kind == evidence.Held
	}
	if holds == "" || !held {
		t.Errorf("holds %q, held %t", holds, held)
	}
}

func TestNothingIsNotedWhereNothingIsWatched(t *testing.T) {
	if rt.Watching() {
		t.Skip("the tests themselves are watched")
	}
	var w world
	w.do("abBA1!xX")
	for i := range owners {
		if owners[i].goid.Load() != 0 {
			t.Fatal("a goroutine has a place although nothing is watched")
		}
	}
}

// What a goroutine held before a pause, whose releases nobody notes, says nothing in it or behind it.
func TestNothingIsKnownBehindAPause(t *testing.T) {
	watching.Store(true)
	defer watching.Store(false)
	held := func() int {
		var buf [mostHeld]request
		s := mine().look(&buf)
		return len(s.held)
	}
	var w world
	w.do("ab")
	if n := held(); n != 2 {
		t.Errorf("%d locks are noted, want 2", n)
	}
	epoch.Add(1)
	w.do("c")
	if n := held(); n != 0 {
		t.Errorf("in a pause %d locks are noted", n)
	}
	epoch.Add(1)
	if n := held(); n != 0 {
		t.Errorf("behind a pause %d locks are noted", n)
	}
	w.do("CBAa")
	if n := held(); n != 1 {
		t.Errorf("%d locks are noted again, want 1", n)
	}
	w.do("A")
}

// A program pauses that acquires many locks in a short time, and no other.
func TestAcquisitionsOverflow(t *testing.T) {
	after := func(pace int64) (n int64) { // how many acquisitions
		var b bucket
		for n = 1; n < 10*room && !b.overflows(1, n*pace); n++ {
		}
		return n
	}
	if n := after(leisure / 10); n < room || n > room/9*10+10 {
		t.Errorf("at ten times the pace of leisure the bucket overflows after %d acquisitions, room is for %d", n, room)
	}
	if n := after(leisure); n < 10*room {
		t.Errorf("at leisure the bucket overflows after %d acquisitions", n)
	}
	var b bucket
	b.overflows(1000*room, 0)
	if rested := int64(rest); b.overflows(1, rested) {
		t.Error("a pause does not drain what has run over")
	}
	if !b.overflows(room, int64(rest)) {
		t.Error("behind a pause there is all the room again")
	}
}

// That goroutines end before each of them has acquired many locks makes the locks no cheaper.
func TestShortGoroutinesBringPauses(t *testing.T) {
	watching.Store(true)
	before := epoch.Load()
	spent.at = rt.Now() + int64(time.Hour) // it overflows
	defer func() {
		for !watching.Load() { // until the pause has ended
			time.Sleep(rest)
		}
		watching.Store(false)
		spent.full, spent.at = 0, 0
	}()
	for range 2 * len(owners) {
		done := make(chan bool)
		go func() {
			var w world
			w.do(strings.Repeat("aA", batch-1))
			done <- true
		}()
		if <-done; epoch.Load() != before {
			return
		}
	}
	t.Error("locks are watched without a pause")
}
