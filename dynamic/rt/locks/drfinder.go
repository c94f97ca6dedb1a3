package locks

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/interlock-go/interlock/dynamic/rt"
	"github.com/interlock-go/interlock/dynamic/rt/dump"
)

// finder is DrFinder (Cai and Cao, "Effective and precise dynamic detection of hidden races for Java programs",
// ESEC/FSE 2015): two acquisitions of a lock in one order hide a race of an access before the first and one behind the
// second, so the order is reversed. A may-trigger relation is a function and a class of locks: the function was among
// the first depth functions of the user's on the stack when a lock of the class was acquired.
//
// The first phase notes relations (noteTriggers, the paper's Algorithm 1). In the second phase, a goroutine that is
// about to acquire a lock is held if the current function of another one may trigger the class of that lock; the other
// one is escorted, so that it alone acquires locks, until it has acquired one of the class (Algorithms 2 and 3).
//
// Unlike in the paper, the scheduler does not choose each step: goroutines that acquire nothing go on. The current
// function is read from the goroutine's stack at that moment, so no entry of a function is instrumented, and the one
// that has been held is not escorted itself afterwards. As there is no list of blocked threads, a hold thrashes where
// no goroutine but those that are held can go on, by the runtime's own states; a random one is released then. It
// thrashes as well where the other one has ended or returned without an acquisition, and after longestHold.
var finder struct {
	on        bool
	depth     int
	classes   map[uint64]string          // of the lock that is acquired at a site
	functions map[string]map[string]bool // that may trigger a class
	standard  string                     // how the names of the standard library's files begin
	monitor   string                     // and those of the monitor's functions
	// The fields so far are written at start only.

	escorted atomic.Int64 // goroutine that alone acquires locks, or 0
	draws    atomic.Uint64

	// No map is stored to, and no lock of package sync taken: the happens-before engine, in the same process, would
	// report the store as unordered, and take the lock for the program's.

	noted [mostNoted]atomic.Uint64 // acquisitions with their stacks that were written, by a hash

	mu       spinlock
	class    string // that the escorted one is to acquire; guarded by mu, as all below
	asker    int64  // the goroutine that is held for it
	held     [mostWaiting]waiting
	nextLook int64 // when to look for thrashing, by rt.Now
	looking  int64 // nanoseconds that looks at all stacks have taken
	began    int64
}

// waiting is a goroutine that is held.
type waiting struct {
	goid     int64 // 0 is none
	released bool
}

// place returns where a goroutine is held, or for 0 a free place, or nil. requires: finder.mu.
func place(goid int64) *waiting {
	for i := range finder.held {
		if w := &finder.held[i]; w.goid == goid {
			return w
		}
	}
	return nil
}

const (
	longestHold = int64(50 * time.Millisecond)
	mostWaiting = 64
	mostNoted   = 1 << 12
	// lookShare is the share of the time that may be spent on the stacks of all goroutines, one part in so many.
	lookShare = 4
)

// readRelations reads the file that has the depth and, a line each, the class of the lock that is acquired at a site
// and the functions that may trigger one:
//
//	depth 12
//	lock 4711 3
//	trigger 3 example.com/m.(*Cache).Get
func readRelations(file string) {
	if file == "" {
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		rt.Warn("INTERLOCK_DRFINDER cannot be read: " + err.Error())
		return
	}
	// A bad line leaves the schedule off, with a warning.
	finder.classes, finder.functions = map[uint64]string{}, map[string]map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		first, second, _ := strings.Cut(rest, " ")
		n, err := strconv.ParseUint(first, 10, 64)
		switch {
		case err == nil && kind == "depth" && n > 0:
			finder.depth = int(n)
		case err == nil && kind == "lock" && second != "":
			finder.classes[n] = second
		case err == nil && kind == "trigger" && second != "":
			if finder.functions[first] == nil {
				finder.functions[first] = map[string]bool{}
			}
			finder.functions[first][second] = true
		default:
			rt.Warn("INTERLOCK_DRFINDER has a bad line " + strconv.Quote(line))
			return
		}
	}
	finder.began = rt.Now()
	findOrigins()
	finder.on = finder.depth > 0
}

// findOrigins finds how names of the standard library and of the monitor begin. It is called at start.
func findOrigins() {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if own, _, ok := strings.Cut(f.Function, "/locks."); ok && finder.monitor == "" {
			finder.monitor = own
		}
		if i := strings.LastIndex(f.File, "runtime/"); strings.HasPrefix(f.Function, "runtime.") && i > 0 {
			finder.standard = f.File[:i]
		}
	}
}

// isUsers reports whether a function is none of the standard library, of the monitor or of go test. In a build with
// -trimpath, the packages of the standard library have no dot in the first part of their path.
func isUsers(function, file string) bool {
	if strings.HasPrefix(function, finder.monitor) || strings.HasPrefix(function, "runtime.") ||
		strings.HasPrefix(file, "_testmain.go") {
		return false
	}
	if finder.standard != "" {
		return !strings.HasPrefix(file, finder.standard)
	}
	first, _, _ := strings.Cut(file, "/")
	return strings.Contains(first, ".")
}

// reverse holds the running goroutine before it acquires a lock, where another one's current function may trigger an
// acquisition of the same class.
func reverse(id int64, site uint64) {
	noteTriggers(site)
	class, known := finder.classes[site]
	if !known || rt.InBubble() {
		return
	}
	holdUntil(id, func() bool { e := finder.escorted.Load(); return e == 0 || e == id })
	if finder.escorted.Load() != 0 || len(finder.functions[class]) == 0 {
		return
	}
	other := whoMayTrigger(id, class)
	if other == 0 || !finder.escorted.CompareAndSwap(0, other) {
		return
	}
	finder.mu.lock()
	finder.class, finder.asker = class, id
	finder.mu.unlock()
	holdUntil(id, func() bool { return finder.escorted.Load() != other })
	finder.escorted.CompareAndSwap(other, 0)
}

// acquired ends the escort of the running goroutine if that has acquired its lock.
func acquired(id int64, site uint64) {
	if finder.escorted.Load() != id {
		return
	}
	finder.mu.lock()
	defer finder.mu.unlock()
	if finder.classes[site] == finder.class {
		finder.escorted.CompareAndSwap(id, 0)
	}
}

// holdUntil holds the running goroutine until isOver, or until it thrashes.
func holdUntil(id int64, isOver func() bool) {
	if isOver() {
		return
	}
	finder.mu.lock()
	w := place(0)
	if w != nil {
		*w = waiting{goid: id}
	}
	finder.mu.unlock()
	if w == nil {
		return
	}
	released := false
	rt.HoldUntil(longestHold, func() bool {
		released = isReleased(w)
		return released || isOver()
	}, func() bool { return released })
	finder.mu.lock()
	*w = waiting{}
	finder.mu.unlock()
}

// isReleased looks for thrashing now and then, and reports whether the goroutine is to go on for that.
func isReleased(w *waiting) bool {
	finder.mu.lock()
	released, due := w.released, rt.Now() >= finder.nextLook
	finder.mu.unlock()
	if released || !due {
		return released
	}
	all, took := look()
	finder.mu.lock()
	defer finder.mu.unlock()
	finder.nextLook = rt.Now() + max(int64(time.Millisecond), 8*took)
	if all != nil {
		releaseIdle(all)
	}
	return w.released
}

// releaseIdle releases the goroutines that wait for an escorted one that has ended or left the function, and one held
// goroutine if no other goroutine can go on. requires: finder.mu.
func releaseIdle(all []dump.Goroutine) {
	escorted, goesOn, triggers := finder.escorted.Load(), false, false
	var held []*waiting
	for i := range all {
		g := &all[i]
		goid, _ := strconv.ParseInt(g.ID, 10, 64)
		triggers = triggers || goid == escorted && finder.functions[finder.class][currentFunction(g.Stack())]
		if w := place(goid); w != nil && !w.released {
			held = append(held, w)
			continue
		}
		goesOn = goesOn || g.Wakes() && !g.AwaitsSignals()
	}
	if w := place(finder.asker); w != nil && escorted != 0 && !triggers {
		w.released = true
	}
	if !goesOn && len(held) > 0 {
		held[draw(len(held))].released = true
	}
}

// draw returns a random number below n.
func draw(n int) int { return int(rt.Random(finder.draws.Add(1)) % uint64(n)) }

// whoMayTrigger returns a goroutine that may trigger an acquisition of the class by its current function, or 0.
func whoMayTrigger(id int64, class string) int64 {
	all, _ := look()
	var others []int64
	for i := range all {
		gid, err := strconv.ParseInt(all[i].ID, 10, 64)
		if err == nil && gid != id && finder.functions[class][currentFunction(all[i].Stack())] {
			others = append(others, gid)
		}
	}
	if len(others) == 0 {
		return 0
	}
	return others[draw(len(others))]
}

// look returns all goroutines and how long that took, or none where looks have taken their share of the time.
func look() (all []dump.Goroutine, took int64) {
	const inAnyCase = int64(20 * time.Millisecond)
	start := rt.Now()
	finder.mu.lock()
	spent := finder.looking
	finder.mu.unlock()
	if spent > inAnyCase+(start-finder.began)/lookShare {
		return nil, 0
	}
	all = dump.Goroutines(dump.Stacks())
	took = rt.Now() - start
	finder.mu.lock()
	finder.looking += took
	finder.mu.unlock()
	return all, took
}

// currentFunction returns the first function of the user's in the text of a stack, or "".
func currentFunction(stack string) string {
	for stack != "" {
		var function, place string
		function, stack, _ = strings.Cut(stack, "\n")
		place, stack, _ = strings.Cut(stack, "\n")
		if strings.HasPrefix(function, "created by ") {
			return ""
		}
		if i := strings.LastIndexByte(function, '('); i > 0 {
			function = function[:i]
		}
		if isUsers(function, strings.TrimPrefix(place, "\t")) {
			return function
		}
	}
	return ""
}

// noteTriggers writes which functions lead to the acquisition, once for each stack.
func noteTriggers(site uint64) {
	var pcs [64]uintptr
	stack := pcs[:runtime.Callers(3, pcs[:])]
	key := site
	for _, pc := range stack {
		const prime = 0x100000001b3 // of FNV-1a
		key = (key ^ uint64(pc)) * prime
	}
	if !note(key) {
		return
	}
	b := strconv.AppendUint([]byte(`,"trigger":{"lock":`), site, 10)
	b = append(b, `,"functions":[`...)
	frames, n := runtime.CallersFrames(stack), 0
	for more := len(stack) > 0; more && n < finder.depth; {
		var f runtime.Frame
		if f, more = frames.Next(); isUsers(f.Function, f.File) {
			if n > 0 {
				b = append(b, ',')
			}
			b = rt.AppendText(b, []byte(f.Function))
			n++
		}
	}
	if n > 0 {
		rt.Write("trigger", append(b, "]}"...))
	}
}

// note takes up an acquisition, and reports whether it is a new one. One that finds no room is not new.
func note(key uint64) bool {
	for i := uint64(0); i < near; i++ {
		p := &finder.noted[(key+i)%mostNoted]
		if p.CompareAndSwap(0, key) {
			return true
		}
		if p.Load() == key {
			return false
		}
	}
	return false
}
