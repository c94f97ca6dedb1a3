package locks

import (
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/interlock-go/interlock/dynamic/rt"
	"github.com/interlock-go/interlock/dynamic/rt/dump"
)

// link is one goroutine of a cycle: it waits for a lock that the next one holds.
type link struct {
	goid  int64
	wants request
	holds request // the lock that the goroutine before it in the cycle waits for
}

// lookForCycle looks whether the holders of the lock that the goroutine is about to wait for wait
// as well, and so on round to itself, and has that confirmed once they are all blocked.
func lookForCycle(me self, want request) {
	if cycleFrom(me.id, want) == nil || rt.InBubble() {
		return
	}
	time.AfterFunc(settling, func() { confirm(me, want, tries) })
}

const (
	settling   = 20 * time.Millisecond // until those that are about to block have
	tries      = 50
	pause      = 300 * time.Millisecond // between looks at the tests
	stillLooks = 10

	mainGoroutine = 1 // the runtime's number of the one that calls function main
)

// cycleFrom returns the cycle of waits that a goroutine closes, or nil.
func cycleFrom(id int64, want request) []link {
	w := waits{start: id, visited: map[int64]bool{}}
	if !w.follow(id, want, request{}) {
		return nil
	}
	return w.path
}

// waits is a search for a cycle of waits.
type waits struct {
	start   int64
	visited map[int64]bool
	path    []link
}

// follow reports whether goroutine id, which waits for want and has the lock that the one before it
// waits for, waits for the start of the search. The path leads there then.
func (w *waits) follow(id int64, want, holds request) bool {
	w.visited[id] = true
	w.path = append(w.path, link{id, want, holds})
	for _, b := range blockers(id, want) {
		if b.state.goid == w.start {
			w.path[0].holds = b.holds
			return true
		}
		if b.state.wants.addr != 0 && !w.visited[b.state.goid] && w.follow(b.state.goid, b.state.wants, b.holds) {
			return true
		}
	}
	w.path = w.path[:len(w.path)-1]
	return false
}

// blocker is a goroutine that keeps another from acquiring a lock.
type blocker struct {
	state state
	holds request // that lock, or the same where it waits for it to write
}

// blockers returns the goroutines that keep id from acquiring want: its holders or, if they
// only read and so does id, those that wait to write. If the notes contradict each other,
// since code that is not instrumented has released a lock, it returns none.
func blockers(id int64, want request) (holders []blocker) {
	var writers []blocker
	readers, exclusive := 0, 0
	// The holders of the lock, and the goroutines that wait to write.
	for i := range owners {
		if owners[i].goid.Load() == 0 {
			continue
		}
		var buf [mostHeld]request
		s := owners[i].look(&buf)
		for _, h := range s.held {
			switch {
			case h.addr != want.addr:
				continue
			case h.reads:
				readers++
			default:
				exclusive++
			}
			if h.blocks(want) {
				holders = append(holders, blocker{s, h})
			}
		}
		if s.wants.addr == want.addr && !s.wants.reads && s.goid != id {
			writers = append(writers, blocker{s, s.wants})
		}
	}
	// A reader is blocked by a waiting writer only while others hold read locks.
	switch {
	case exclusive > 1 || exclusive == 1 && readers > 0:
		return nil
	case want.reads && readers > 0:
		return writers
	}
	return holders
}

// reported are the deadlocks of this process that are known.
var reported struct {
	mu      sync.Mutex
	cycles  map[uint64]bool // by a hash of the sites; guarded by mu, as all below
	blocked map[string]bool // goroutines, by number
	still   int             // looks in a row at which no goroutine was at work
}

// confirm writes a record once all goroutines of a cycle are blocked, by the runtime's word, and
// has the process end if tests wait for them.
func confirm(me self, want request, tries int) {
	cycle := cycleFrom(me.id, want)
	var buf [mostHeld]request
	if s := me.look(&buf); s.goid != me.id || s.wants != want || cycle == nil {
		return // it went on
	}
	all := dump.Goroutines(dump.Stacks())
	if stacks := blockedStacks(cycle, all); stacks == nil {
		if tries > 0 {
			time.AfterFunc(settling, func() { confirm(me, want, tries-1) })
		}
		return
	} else if again := cycleFrom(me.id, want); len(again) == len(cycle) {
		report(cycle, stacks)
	}
}

// blockedStacks returns the stacks of the goroutines of a cycle, or nil unless all of them are
// blocked in a lock.
func blockedStacks(cycle []link, all []dump.Goroutine) []string {
	stacks := make([]string, len(cycle))
	for i := range cycle {
		for j := range all {
			if g := &all[j]; g.ID == strconv.FormatInt(cycle[i].goid, 10) && g.InLock() {
				stacks[i] = g.Text
			}
		}
		if stacks[i] == "" {
			return nil
		}
	}
	return stacks
}

// report writes the record of a deadlock, once for the sites at which goroutines wait.
func report(cycle []link, stacks []string) {
	key := uint64(len(cycle))
	for i := range cycle {
		//interlock:ignore IL1001 the links of a cycle are copies, which look makes under the lock
		key += cycle[i].wants.site * (2*cycle[i].holds.site + 1)
	}
	reported.mu.Lock()
	defer reported.mu.Unlock()
	if reported.cycles == nil {
		reported.cycles, reported.blocked = map[uint64]bool{}, map[string]bool{}
		if isOurs() && dump.InTests() {
			time.AfterFunc(pause, endIfTestsStand)
		}
	}
	for i := range cycle {
		reported.blocked[strconv.FormatInt(cycle[i].goid, 10)] = true
	}
	if reported.cycles[key] {
		return
	}
	reported.cycles[key] = true
	b := []byte(`,"locks":[`)
	for i, l := range cycle {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, `{"gid":`...), l.goid, 10)
		b = appendRequest(append(b, `,"wants":`...), l.wants)
		b = appendRequest(append(b, `,"holds":`...), l.holds)
		// As blockers returns a writer that waits. A function that calls itself read-locks again at one place.
		if len(cycle) > 1 && l.holds == l.wants && !l.wants.reads {
			b = append(b, `,"queued":true`...)
		}
		b = append(rt.AppendText(append(b, `,"stack":`...), []byte(stacks[i])), '}')
	}
	rt.Write("deadlock", append(b, ']'))
	if isOurs() && !dump.InTests() { // behind the record: the user may interrupt the program at once
		inProgram(cycle)
	}
}

func appendRequest(b []byte, r request) []byte {
	b = strconv.AppendUint(append(b, `{"site":`...), r.site, 10)
	if r.reads {
		b = append(b, `,"reads":true`...)
	}
	return append(b, '}')
}

// inProgram prints that goroutines of a program without tests wait, and ends it where function main is among them.
// Else it may go on without these goroutines, or the runtime finds that none can: a timer would keep it from that.
func inProgram(cycle []link) {
	says := "a goroutine waits for ever for a lock that it holds itself"
	if len(cycle) > 1 {
		says = strconv.Itoa(len(cycle)) + " goroutines wait for each other's locks for ever"
	}
	for i := range cycle {
		if cycle[i].goid == mainGoroutine {
			rt.Warn(says + ", and function main is among them")
			time.AfterFunc(pause, dump.End)
			return
		}
	}
	rt.Warn(says + "; interrupt the program if it does not end")
}

// isOurs reports whether a campaign or interlock run has started this process: a child of this process
// may wait until this process ends it.
func isOurs() bool { return strconv.Itoa(os.Getppid()) == rt.Setting("INTERLOCK_PARENT") }

// endIfTestsStand ends the process where no test and no TestMain can go on: each one is blocked in a
// deadlock, or has stood still for a while in which no goroutine was at work.
func endIfTestsStand() {
	reported.mu.Lock()
	defer reported.mu.Unlock()
	all := dump.Goroutines(dump.Stacks())
	tests, blocked, busy := 0, 0, -1 // this goroutine is at work
	for i := range all {
		g := &all[i]
		if g.IsTest() || g.IsMain() {
			tests++
			if reported.blocked[g.ID] {
				blocked++
			}
		}
		if g.Wakes() && !g.AwaitsSignals() {
			busy++
		}
	}
	if busy == 0 {
		reported.still++
	} else {
		reported.still = 0
	}
	if tests > 0 && (blocked == tests || reported.still >= stillLooks) {
		dump.End()
	}
	time.AfterFunc(pause, endIfTestsStand)
}
