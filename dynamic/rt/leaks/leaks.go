// Package leaks finds, in a test binary, the goroutines that nothing can wake any
// more. It asks the garbage collector, which marks a blocked goroutine as leaked if no
// goroutine that can run reaches the channel or lock that it waits for: the profile
// "goroutineleak" of runtime/pprof, in Go 1.26 with
// the experiment goroutineleakprofile, and in Go 1.27. So it needs no
// instrumentation and watches no operation.
//
// It asks when the tests have ended ([Ended]), and earlier if a test stands still, in
// the process that INTERLOCK_PARENT has started alone: a process that a test starts may wait
// until the test kills it. It is injected beside the monitor.
//
// If all goroutines are blocked and the collector proves nothing, since a global variable reaches their
// channels or locks, only timers keep the runtime from finding the deadlock by itself. The alarm
// of package testing is one: then the process ends and says so ([dump.Still]), to be run again without
// a time limit of its own. There this package leaves no timer behind, and the runtime ends
// the process unless the program has one that could wake somebody.
// With INTERLOCK_PATIENCE, the process ends as well if the tests and all goroutines that they have started are blocked,
// have been for so many milliseconds longer than all took before, and all other goroutines wait for timers and
// the network ([dump.Waits]).
//
// Without INTERLOCK_LEAKS, or with a Go that has no such profile, it does nothing.
//
// When the tests have ended, it also finds those goroutines that wait for a lock which a goroutine has kept that has
// ended: by the notes of package locks, and not by the collector.
//
// Missed: goroutines that wait for something that a global variable still reaches while any goroutine can run or
// the program has a timer, be it stopped. Reported falsely: a goroutine that only a pointer hidden from the collector
// can wake. Weak pointers are such, so that package build has the collector left alone in programs that use them
// ([Abandoned]).
package leaks

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/interlock-go/interlock/dynamic/rt/dump"
)

// most is how many goroutines there may be: of a chain of blocked ones the
// collector takes time that grows with the square of its length.
const most = 2000

const (
	tick      = 500 * time.Millisecond // between looks at the tests
	firstLook = 1500 * time.Millisecond
	// stillLooks is at how many looks in a row no goroutine has moved until all of them stand still.
	stillLooks = 3
)

// pauses are those between questions after the tests: a goroutine may not have
// blocked yet, and one that waits for a bare mutex may be found later only.
var pauses = []time.Duration{0, 20 * time.Millisecond, 80 * time.Millisecond}

// state is that of the process; path, head and profile are set at start.
var state struct {
	path    string         // of the evidence, opened for append
	head    string         // the beginning of each record
	profile *pprof.Profile // nil where there is nothing to do

	mu      sync.Mutex
	ended   bool            // the tests have; guarded by mu
	written map[string]bool // goroutines, by number; guarded by mu
	stood   stand           // at the last look; guarded by mu
	still   int             // looks in a row at which no goroutine had moved; guarded by mu
	next    time.Time       // when the collector may be asked again; guarded by mu
	pause   time.Duration   // until then; guarded by mu

	// noCollector: the collector is not asked, see [Abandoned]; guarded by mu
	noCollector bool

	began    time.Time     // of the process
	patience time.Duration // how long tests may wait beside others; 0 is for ever
	waited   waiting       // guarded by mu
}

// waiting is how long the tests have been where they are.
type waiting struct {
	since       time.Time
	looks, idle int // since then, and at how many of them the goroutines that tests have started were blocked too
}

func init() {
	state.path, _ = syscall.Getenv("INTERLOCK_LEAKS")
	if state.path == "" {
		return
	}
	if state.profile = pprof.Lookup("goroutineleak"); state.profile == nil {
		return
	}
	state.head = "\n" + `{"v":1,"kind":"leak","run":` + number("INTERLOCK_RUN") + `,"seed":` + number("INTERLOCK_SEED") +
		`,"pid":` + strconv.Itoa(os.Getpid()) + `,"leak":{"hang":`
	state.written, state.pause = map[string]bool{}, tick
	state.began = time.Now()
	if ms, err := strconv.Atoi(os.Getenv("INTERLOCK_PATIENCE")); err == nil {
		state.patience = time.Duration(ms) * time.Millisecond
	}
	if strconv.Itoa(os.Getppid()) == os.Getenv("INTERLOCK_PARENT") {
		time.AfterFunc(firstLook, look)
	}
}

// Ended asks for leaked goroutines after the tests, and writes their records.
func Ended() {
	if state.profile == nil {
		return
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	state.ended = true
	holders := map[string]int64{}
	for _, pause := range pauses {
		time.Sleep(pause)
		if n := runtime.NumGoroutine(); n == 1 || n > most {
			return
		}
		if !state.noCollector {
			write(leaked(), false)
		}
		write(abandoned(holders), false)
	}
}

// look finds out whether a test stands still. If it did so at the last look too,
// the collector is asked. Where nothing can wake it, and no other test is at work,
// the tests would never end: the process ends, and prints its goroutines as at a
// test's time limit.
func look() {
	state.mu.Lock()
	defer state.mu.Unlock()
	if state.ended || state.noCollector || asleep() {
		return
	}
	time.AfterFunc(tick, look)
	if runtime.NumGoroutine() > most {
		return
	}
	before := state.stood
	state.stood = standing()
	if waitBeside(before.tests) {
		dump.Waits()
	}
	if state.still++; state.stood.busy || !maps.Equal(before.all, state.stood.all) {
		state.still = 0
	}
	if !same(before.tests, state.stood.tests) || time.Now().Before(state.next) {
		return
	}
	marked := leaked()
	if !blocksTest(marked) {
		state.pause *= 2 // a test that waits for something else may do so for long
		state.next = time.Now().Add(state.pause)
		return
	}
	write(marked, true)
	if atWork(marked) {
		return
	}
	dump.End()
}

// asleep reports whether tests and all other goroutines stand still, so that no further look is of
// use. With an alarm, by which package testing would wake, the process ends. requires: state.mu.
func asleep() bool {
	if state.still < stillLooks || len(state.stood.tests) == 0 {
		return false
	}
	if f := flag.Lookup("test.timeout"); f == nil || f.Value.String() != "0s" {
		dump.Still()
	}
	return true
}

// mostAwake is one of how many looks may show a goroutine at work that the tests have started, as a ticker wakes it.
const mostAwake = 8

// waitBeside reports whether the tests have been where they were before, with all that they have started, for
// longer than is patient. requires: state.mu.
func waitBeside(before map[string]string) bool {
	w, now := &state.waited, time.Now()
	if len(state.stood.tests) == 0 || !maps.Equal(before, state.stood.tests) {
		*w = waiting{since: now}
	}
	if w.looks++; state.stood.idle {
		w.idle++
	}
	return state.patience > 0 && w.looks-w.idle <= w.looks/mostAwake &&
		now.Sub(w.since) > state.patience+w.since.Sub(state.began)
}

// stand is where goroutines wait, by their numbers.
type stand struct {
	tests map[string]string // those that run a test
	all   map[string]string
	busy  bool // one that does not wait is at work, besides the one that looks
	idle  bool // the tests are blocked, and so are all goroutines that they have started, except listeners
}

// standing returns where goroutines wait now.
func standing() stand {
	s := stand{tests: map[string]string{}, all: map[string]string{}}
	goroutines := dump.Goroutines(dump.Stacks())
	awake := 0
	for _, g := range goroutines {
		if g.Wakes() {
			awake++
			continue
		}
		s.all[g.ID] = g.Stack()
		if g.IsTest() {
			s.tests[g.ID] = g.Stack()
		}
	}
	s.busy, s.idle = awake > 1, areIdle(goroutines)
	return s
}

// areIdle reports whether there are tests, and each of them and all that they have started is blocked, or listens to
// the network.
func areIdle(all []dump.Goroutine) bool {
	family := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for i := range all {
			g := &all[i]
			if family[g.ID] || !g.IsTest() && !family[g.Parent()] {
				continue
			}
			if g.Wakes() && !g.Listens() {
				return false
			}
			family[g.ID], grown = true, true
		}
	}
	return len(family) > 0
}

// same reports whether a test stands where it stood.
func same(before, now map[string]string) bool {
	for id, stack := range now {
		if before[id] == stack {
			return true
		}
	}
	return false
}

// leaked returns the goroutines that the collector marks, without those of package
// testing, which wait for a test.
func leaked() (marked []dump.Goroutine) {
	var b bytes.Buffer
	if state.profile.WriteTo(&b, 2) != nil {
		return nil
	}
	for _, g := range dump.Goroutines(b.String()) {
		if strings.Contains(g.State, "(leaked)") && !strings.HasPrefix(g.Stack(), "testing.") {
			marked = append(marked, g)
		}
	}
	return marked
}

func blocksTest(marked []dump.Goroutine) bool {
	for i := range marked {
		if marked[i].IsTest() {
			return true
		}
	}
	return false
}

// atWork reports whether a test still runs that is none of the marked goroutines.
// One that waits for its turn does not.
func atWork(marked []dump.Goroutine) bool {
	for _, g := range dump.Goroutines(dump.Stacks()) {
		if !g.IsTest() {
			continue
		}
		known := false
		for i := range marked {
			known = known || marked[i].ID == g.ID
		}
		if !known {
			return true
		}
	}
	return false
}

// write appends a record for each goroutine that has none yet. requires: state.mu.
func write(marked []dump.Goroutine, hang bool) {
	var b []byte
	for i := range marked {
		g := &marked[i]
		if state.written[g.ID] {
			continue
		}
		state.written[g.ID] = true
		b = strconv.AppendBool(append(b, state.head...), hang)
		b = append(b, `,"stack":`...)
		b = appendHolder(quote(b, g.Text), g)
		b = append(b, "}}"...)
	}
	if len(b) == 0 {
		return
	}
	f, err := os.OpenFile(state.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err == nil {
		_, err = f.Write(b)
		f.Close()
	}
	if err != nil {
		os.Stderr.WriteString("interlock: leaked goroutines could not be written: " + err.Error() + "\n")
	}
}

// appendHolder appends the holder of the lock that a goroutine waits for, with the holder's present stack, if any.
func appendHolder(b []byte, g *dump.Goroutine) []byte {
	id, err := strconv.ParseInt(g.ID, 10, 64)
	if dump.Holder == nil || err != nil || !g.InLock() {
		return b
	}
	holder, site, ok := dump.Holder(id)
	if !ok {
		return b
	}
	b = strconv.AppendInt(append(b, `,"holder":{"gid":`...), holder, 10)
	b = strconv.AppendUint(append(b, `,"site":`...), site, 10)
	for _, other := range dump.Goroutines(dump.Stacks()) {
		if other.ID == strconv.FormatInt(holder, 10) {
			b = quote(append(b, `,"stack":`...), other.Text)
		}
	}
	return append(b, '}')
}

// number returns a variable of the environment that is a decimal number, or "0".
func number(name string) string {
	n, _ := strconv.ParseUint(os.Getenv(name), 10, 64)
	return strconv.FormatUint(n, 10)
}

// quote appends s as JSON writes it. (Package encoding/json would be one more
// import in the program under test.)
func quote(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
