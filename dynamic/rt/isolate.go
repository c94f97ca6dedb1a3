//go:build (amd64 || arm64) && !plan9

package rt

import (
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/interlock-go/interlock/dynamic/rt/policy"
)

// A run may isolate places, to find out why a test fails: it holds each goroutine that comes to one of them, keeps the
// others away from further places until the goroutine that was held has come to another one, and writes the steps that
// goroutines make around a hold. There is no other noise then.

const (
	// keepLost is how long, in nanoseconds and beyond the hold, a goroutine is kept away: the one that was held may wait
	// for it.
	keepLost = 150_000_000
	// keepShort is how long one is kept away that comes before the other one is held.
	keepShort = 3_000_000
	// keepMore is how much longer it is kept away, since the access that ends this is noted before it is made.
	keepMore = 1_000_000
	keepNap  = 50_000
	// latest is by about how much, in nanoseconds, goroutines begin later, or go on behind the start of another one, so
	// that runs have different orders.
	latest = 600_000

	stepsBefore = 1024 // steps before the first hold that are written, at most,
	stepsAfter  = 3000 // and from there on
	stepCalls   = 24   // calls of a step's stack that is kept
)

// isolated is a place that a goroutine comes to: the acquisition of a lock, or a site of an access.
type isolated struct {
	isLock bool
	id     uint64
}

// pause is a place at which goroutines are held.
type pause struct {
	isolated
	ns   int64
	nth  uint64 // visit of a goroutine, from 1; 0 is each
	left atomic.Int32

	mu     spinlock
	visits map[int64]uint64 // by goroutine, where nth counts; guarded by mu
}

// isolation is the plan of the run. Fields that are not atomic are set at start; the steps are guarded by out.mu.
var isolation struct {
	on, writes bool
	pauses     []pause
	out        []isolated // places that others come to, to be noted
	keeps      bool       // and that they are kept away from
	from       isolated   // where a goroutine begins to keep others away; unset, where it is held
	until      isolated

	owner   atomic.Int64 // goroutine that is or was held, until it has come to the place that ends that; or 0
	since   atomic.Int64
	holds   atomic.Bool // the owner is held
	resumed atomic.Bool // and no longer

	begun bool // a goroutine has been held
	steps []step
	made  int
}

// lateness is which goroutines begin late in the run.
var lateness struct {
	seed   uint64        // set at start
	starts atomic.Uint64 // of goroutines, so far
}

// step is one of a goroutine, as evidence.Step.
type step struct {
	what  string
	place isolated
	a     access
	value uint64 // of the variable before the access, if that is known
	known bool
	calls [stepCalls]uintptr // before the first hold, where a stack's text would take too long
	n     int                // of them, or bytes of text
	text  []byte
}

// readIsolation reads INTERLOCK_ISOLATE: "pause=a12:5000,out=l7,until=a15,steps=1", where a is the site of an access
// and l the use of a lock. A pause is in microseconds; behind another colon may stand the number of the goroutine's
// visit at which it is made, else it is made at each. Pauses and out may come several times. With near in place of
// out, goroutines that come there are noted, and not kept away. A goroutine that comes to the place from keeps others
// away from there on.
func readIsolation() (problem string) {
	for rest := env("INTERLOCK_ISOLATE"); rest != ""; {
		var part string
		part, rest = cut(rest, ',')
		key, value := cut(part, '=')
		value, length := cut(value, ':')
		p, ok := isolatedPlace(value)
		length, visit := cut(length, ':')
		us, err := strconv.ParseUint(length, 10, 31)
		nth, _ := strconv.ParseUint(visit, 10, 31)
		switch { // by the beginning of the part
		case key == "steps":
			isolation.writes = true
			isolation.steps = make([]step, 0, stepsBefore)
		case ok && key == "pause" && err == nil:
			isolation.pauses = append(isolation.pauses, pause{isolated: p, ns: int64(us) * 1000, nth: nth})
		case ok && (key == "out" || key == "near"):
			isolation.out = append(isolation.out, p)
			isolation.keeps = key == "out"
		case ok && key == "from":
			isolation.from = p
		case ok && key == "until":
			isolation.until = p
		default:
			return "INTERLOCK_ISOLATE has a bad part " + strconv.Quote(part)
		}
		isolation.on = true
	}
	for i := range isolation.pauses {
		isolation.pauses[i].left.Store(holdsAtSite)
		isolation.pauses[i].visits = map[int64]uint64{}
	}
	return ""
}

func isolatedPlace(text string) (p isolated, ok bool) {
	if text == "" || text[0] != 'a' && text[0] != 'l' {
		return p, false
	}
	id, err := strconv.ParseUint(text[1:], 10, 64)
	return isolated{text[0] == 'l', id}, err == nil
}

// isolateAccess pauses or keeps away the goroutine g before an access, in place of other noise.
func isolateAccess(a *access, g unsafe.Pointer) {
	if !known(a.site) {
		return
	}
	a.goid = goid(g)
	if s := &sites[a.site]; !s.load().is(siteReached) {
		s.update(func(st siteState) siteState { return st | siteReached })
	}
	isolate(isolated{false, uint64(a.site)}, a.goid)
	if isolation.writes {
		noteAccess(a)
	}
}

// isolate is called where a goroutine is about to make an access or to acquire a lock.
func isolate(p isolated, me int64) {
	if isolation.owner.Load() != me {
		keepAway(p, me)
	} else if p == isolation.until && isolation.resumed.Load() {
		isolation.owner.Store(0)
	}
	if p == isolation.from && (isolated{}) != p && isolation.owner.CompareAndSwap(0, me) {
		isolation.resumed.Store(false)
		isolation.since.Store(nanotime() - keepLost + keepShort)
	}
	for i := range isolation.pauses {
		if h := &isolation.pauses[i]; h.isolated == p && h.isVisit(me) && h.left.Add(-1) >= 0 && !InBubble() {
			holdAt(p, me, h.ns)
			return
		}
	}
}

// isVisit reports whether the running goroutine is held at this visit of the place, and counts it.
func (p *pause) isVisit(me int64) bool {
	if p.nth == 0 {
		return true
	}
	p.mu.lock()
	defer p.mu.unlock()
	p.visits[me]++
	return p.visits[me] == p.nth
}

// holdAt holds the running goroutine at the place. Of several that are held at a time, the first keeps others away.
func holdAt(p isolated, me, ns int64) {
	owns := isolation.owner.CompareAndSwap(0, me) || isolation.owner.Load() == me
	if owns {
		isolation.resumed.Store(false)
		isolation.since.Store(nanotime() + ns)
		isolation.holds.Store(true)
	}
	noteStep("held", p, &access{goid: me})
	time.Sleep(time.Duration(ns))
	noteStep("resumed", p, &access{goid: me})
	if !owns {
		return
	}
	isolation.holds.Store(false)
	if isolation.resumed.Store(true); isolation.until == (isolated{}) || isolation.until == p {
		isolation.owner.CompareAndSwap(me, 0)
	}
}

// keepAway has the running goroutine wait where it is to be kept away.
func keepAway(p isolated, me int64) {
	isOut := false
	for _, o := range isolation.out {
		isOut = isOut || o == p
	}
	if !isOut || isolation.owner.Load() == 0 || InBubble() {
		return
	}
	came := false
	for {
		owner := isolation.owner.Load()
		if owner == 0 || owner == me {
			break
		}
		if isolation.holds.Load() && !came {
			came = true
			noteStep("came", p, &access{goid: me})
		}
		if !isolation.keeps {
			return
		}
		if since := isolation.since.Load(); nanotime()-since > keepLost && isolation.owner.CompareAndSwap(owner, 0) {
			if isolation.resumed.Load() || isolation.holds.Load() { // else it has not come to the pause, and goes elsewhere
				noteStep("late", p, &access{goid: me})
				return
			}
			break
		}
		time.Sleep(keepNap)
	}
	if isolation.keeps {
		time.Sleep(keepMore)
	}
}

// comeLate has a goroutine begin, or go on behind the start of another one, later or not: by the remainder of the seed
// by 4, none does, those that begin, those that go on, or any.
func comeLate(e policy.Event, statement uint64) {
	n := mix(random + lateness.starts.Add(1)<<32 + statement)
	late := [4]bool{false, e == policy.Started, e == policy.Forked, n&1 == 0}
	if late[lateness.seed%4] && !InBubble() {
		delay(int64(latest/2+n>>1%latest), nil, &never)
	}
}

// Acquired stands behind the acquisition of a lock at a use, Released before its release.
func Acquired(use uint64, lock uintptr) { noteLock("lock", use, lock) }

// Released stands before the release of a lock.
func Released(use uint64, lock uintptr) { noteLock("unlock", use, lock) }

func noteLock(what string, use uint64, lock uintptr) {
	if isolation.writes {
		noteStep(what, isolated{true, use}, &access{goid: goid(getg()), addr: lock})
	}
}

// noteAccess notes an access that follows.
func noteAccess(a *access) {
	what := "read"
	if a.mode&writes != 0 {
		what = "write"
	}
	noteStep(what, isolated{false, uint64(a.site)}, a)
}

// noteStep takes up a step. Those before the first hold are kept, as many as there is room for.
func noteStep(what string, p isolated, a *access) {
	isHold := what != "read" && what != "write" && what != "lock" && what != "unlock"
	if !isolation.writes && !isHold {
		return
	}
	out.mu.lock()
	defer out.mu.unlock()
	isolation.begun = isolation.begun || what == "held"
	if !isolation.begun {
		if len(isolation.steps) < cap(isolation.steps) {
			isolation.steps = isolation.steps[:len(isolation.steps)+1]
		}
		isolation.steps[isolation.made%len(isolation.steps)].take(what, p, a)
		isolation.made++
		return
	}
	// The kept steps come first, the oldest in front.
	for i := range isolation.steps {
		(&isolation.steps[(isolation.made+i)%len(isolation.steps)]).write()
	}
	if len(isolation.steps) > 0 {
		isolation.steps, isolation.made = isolation.steps[:0], 0
	}
	if isolation.made++; isHold || isolation.made < stepsAfter {
		var s step
		s.text = out.own[:runtime.Stack(out.own[:], false)]
		s.take(what, p, a)
		s.write()
	}
}

func (s *step) take(what string, p isolated, a *access) {
	s.what, s.place, s.a = what, p, *a
	if s.known = false; !p.isLock && a.size != 0 && !a.inMap && a.size <= 8 {
		s.value, s.known = a.value()
	}
	if s.text == nil {
		s.n = runtime.Callers(1, s.calls[:])
	}
}

// stack returns the text of the step's stack, as runtime.Stack prints it. requires: out.mu.
func (s *step) stack() []byte {
	if s.text != nil {
		return s.text
	}
	b := append(strconv.AppendInt(append(out.own[:0], "goroutine "...), s.a.goid, 10), " [running]:\n"...)
	frames := runtime.CallersFrames(s.calls[:s.n])
	for {
		f, more := frames.Next()
		b = append(append(append(b, f.Function...), "()\n\t"...), f.File...)
		b = append(strconv.AppendInt(append(b, ':'), int64(f.Line), 10), '\n')
		if !more {
			return b
		}
	}
}

// write appends the step to the file. requires: out.mu.
func (s *step) write() {
	b := append(beginRecord("step"), `,"step":{"what":"`...)
	b = append(append(b, s.what...), '"')
	b = appendField(b, `,"gid":`, uint64(s.a.goid))
	name := `,"site":`
	if s.place.isLock {
		name = `,"use":`
	}
	b = appendField(b, name, s.place.id)
	b = appendField(b, `,"addr":`, uint64(s.a.addr))
	b = appendField(b, `,"size":`, uint64(s.a.size))
	b = appendField(b, `,"key":`, s.a.key)
	if s.known {
		b = appendField(b, `,"value":`, s.value)
	}
	b = append(b, `,"stack":`...)
	b = appendString(b, s.stack())
	endRecord(append(b, "}}"...))
}
