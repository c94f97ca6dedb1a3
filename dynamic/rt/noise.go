//go:build (amd64 || arm64) && !plan9

package rt

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/interlock-go/interlock/dynamic/rt/policy"
)

// heuristic is where noise is made. The last three are those of AtomRace
// (3.3): at each site that is due, with probability prob/1000, a window of
// about strength.
type heuristic uint8

const (
	// guided makes noise where races are likely: at suspicious sites and at
	// variables that two goroutines were seen to come to. In a focused run, three
	// of four where the table names suspicious sites, there is hardly any noise
	// elsewhere: it would only drive the two sides of a race apart.
	guided     heuristic = iota
	everywhere           // AtomRace's random
	byVariable           // all sites of the groups chosen
	byLocation           // the sites chosen
)

var noise struct {
	noiseSettings
	spent atomic.Int64 // union of all windows that ended; stored under windowTable.mu
	since atomic.Int64 // start of the union that goes on now, or 0; stored under windowTable.mu
}

// noiseSettings are set at start.
type noiseSettings struct {
	prob     uint64 // of 1000
	strength int64  // nanoseconds
	percent  int64  // of the plain time that windows may take in all
	floor    int64  // nanoseconds that they may take in any case
	plain    int64  // nanoseconds that the process takes without noise, where that is known, or 0
	where    heuristic
	focused  bool
	turns    policy.Turns
	planned  bool // the site table says where windows are held; elsewhere there are hardly any
}

var defaultNoise = noiseSettings{prob: 1000, strength: 1_000_000, percent: 200, floor: 200_000_000}

// probFor returns the probability, of 1000, of a window at a site that is due.
func (n *noiseSettings) probFor(state siteState, worthy bool) uint64 {
	switch {
	case n.where >= byVariable && !state.is(siteChosen):
		return 0
	case n.where != guided:
		return n.prob
	case n.planned, n.focused && !worthy:
		return n.prob / 16
	}
	return n.prob
}

// start is when the process began to watch, by nanotime.
var start int64

// sites is indexed by site id, groups by group number. Only the words change.
var (
	sites  []site
	shared []atomic.Bool // groups that two goroutines were seen to access, one writing
)

type site struct {
	state atomic.Uint64 // a siteState
	group uint32
	hold  int64        // nanoseconds of the windows that the plan of this run has here, or 0
	holds atomic.Int32 // of them that are left
}

func (s *site) load() siteState { return siteState(s.state.Load()) }

// caught reports whether the site is in a pair that was caught.
func caught(id uint32) bool { return known(id) && sites[id].load().is(siteCaught) }

// known reports whether the site table has the site.
func known(id uint32) bool { return uint64(id) < uint64(len(sites)) && sites[id].load().is(siteKnown) }

// worthy reports whether the site is worth more noise than others.
func (s *site) worthy() bool { return s.load().is(siteSuspicious|siteChosen) || shared[s.group].Load() }

// update sets the state to f of it.
func (s *site) update(f func(siteState) siteState) {
	for {
		old := s.load()
		if s.state.CompareAndSwap(uint64(old), uint64(f(old))) {
			return
		}
	}
}

// consider decides whether a window is held here, and returns its length, or 0,
// and the time. The caller that gets a length must settle the site. n is random.
func consider(g unsafe.Pointer, a *access, n uint64) (ns, now int64) {
	if !known(a.site) {
		counters.badSite.Add(1)
		return 0, 0
	}
	s := &sites[a.site]
	if !s.load().is(siteReached) {
		s.update(func(st siteState) siteState { return st | siteReached })
	}
	now = nanotime()
	if a.goid != 0 {
		notice(s, a, now, n)
	}
	if schedule.policy != nil {
		if ns = holdBySchedule(g, a.goid, now, n); ns > 0 {
			s.update(func(st siteState) siteState { return st | siteArmed })
		}
		return ns, now
	}
	state := s.load()
	// Where the plan has a window, somebody came in another run: a timer's function needs no goroutine until then.
	if state.due() > ticks(now-start) || s.hold == 0 && alone(g) {
		return 0, now
	}
	if ns = s.chooseWindow(a.site, state, now, n); ns == 0 {
		return 0, now
	}
	// Until it is settled, the site is due to nobody else.
	claimed := state.withDue(inWindow) | siteArmed
	if !s.state.CompareAndSwap(uint64(state), uint64(claimed)) {
		return 0, now
	}
	s.holds.Add(-1)
	return ns, now
}

// chooseWindow returns how long a window at a site that is due is to last, or 0. n is
// random.
func (s *site) chooseWindow(id uint32, state siteState, now int64, n uint64) (ns int64) {
	worthy, spread := s.worthy(), n>>12&0xfffff
	switch {
	case s.hold != 0:
		if s.holds.Load() <= 0 {
			return 0
		}
		ns, worthy, spread = s.hold, true, 0 // the plan is within the budget
	case n>>32*1000>>32 >= noise.probFor(state, worthy):
		return 0
	default:
		// The length is that of the seed, for a replay to have the same one.
		ns = windowLength(uint32(mix(random^uint64(id)<<8+uint64(state.level()))), state)
	}
	if !affordable(now, ns, spread, worthy) {
		counters.overBudget.Add(1)
		return 0
	}
	return ns
}

// comeNear makes the site near, if it is not.
func (s *site) comeNear() {
	if s.load().is(siteNear) {
		return
	}
	shared[s.group].Store(true)
	s.update(func(st siteState) siteState {
		if st.due() != inWindow && !st.is(siteCaught) {
			st = st.withLevel(min(st.level(), 2)).withDue(0)
		}
		return st | siteNear
	})
}

// settle returns when the site is due again after a window: the more of them
// stayed quiet the later, and still later if nothing shows that its variable
// is shared (LiteRace: hot code is sampled less).
func settle(id uint32, hit bool, now int64) {
	s := &sites[id]
	quiet := uint(1)
	if !s.worthy() {
		quiet = 2
	}
	s.update(func(st siteState) siteState {
		if !hit {
			st = st.withLevel(st.level() + quiet)
		}
		return st.resting(now)
	})
}

// settlePair makes the sites of a pair that was caught rarely due: only another
// partner would be news. Sites that the table does not know are left out: a
// campaign may narrow it down.
func settlePair(a, b uint32, now int64) {
	const rarely = 7 // at least 64 ms until the next window
	for i, id := range [2]uint32{a, b} {
		if i == 1 && b == a || !known(id) {
			continue
		}
		sites[id].update(func(st siteState) siteState {
			st |= siteCaught
			if sites[id].hold != 0 { // the plan is after another partner
				return st
			}
			st = st.withLevel(st.level() + rarely)
			if st.due() == inWindow {
				return st
			}
			return st.resting(now)
		})
	}
}

// resting returns st, due after a time that doubles with each level; while that is
// low, now and then at once, as the access that comes first need not be the one
// that races.
func (st siteState) resting(now int64) siteState {
	const low = 3
	n := mix(uint64(now) + random)
	if st.level() <= low && n>>62 == 0 {
		return st.withDue(0)
	}
	gap := uint64(1) << st.level()
	return st.withDue(ticks(now-start) + uint32(gap/2+n%gap))
}

// alone reports whether no other goroutine can arrive: there is none, or this
// is a sequential test, and the main goroutine only waits for it.
func alone(g unsafe.Pointer) bool {
	n := runtime.NumGoroutine()
	return n <= 1 || n == 2 && testBinary && goid(g) != 1
}

// testBinary is whether this is the binary of a `go test`. Set at start.
var testBinary bool

// windowLength draws how long a window is held: mostly about the strength,
// sometimes longer, since the other access may be far away.
func windowLength(random uint32, state siteState) int64 {
	ns := noise.strength
	part := int64(random >> 4 & 0xff)
	if kind := random & 15; kind < 2 || kind < 8 && state.is(siteSuspicious|siteChosen) {
		return 2*ns + ns*part/32
	}
	return ns/2 + ns*part/128
}

// affordable reports whether ns more of noise keep the union of all windows
// within the budget. Part of the budget is kept for sites that two goroutines
// came to and for those that a finding names. A budget that is nearly used up is
// given out at random, so that the first sites do not take all of it. random
// has 20 bits.
func affordable(now, ns int64, random uint64, worthy bool) bool {
	allowed, spent := budget(now)
	left := allowed - spent
	if !worthy {
		left -= noise.floor / 2
	}
	return left >= ns && left*4 >= noise.floor*int64(random)>>20
}

// budget returns how long all windows may take together until now, and have taken.
func budget(now int64) (allowed, spent int64) {
	spent = noise.spent.Load()
	if since := noise.since.Load(); since != 0 {
		spent += now - since
	}
	return noise.floor + max(now-start-spent, noise.plain)*noise.percent/100, spent
}

// never is a flag that nobody sets.
var never atomic.Bool

// delay lets ns nanoseconds pass and others run, or fewer once over is set. stack is
// the text of the goroutine's stack.
func delay(ns int64, stack []byte, over *atomic.Bool) {
	// A sleep frees the processor but may take a millisecond more, and in a
	// testing/synctest bubble it moves the clock. Short delays and those in a
	// bubble spin: the clock of a bubble stands still while one of its goroutines runs.
	const sleepFrom, nap = 500_000, 1_000_000
	sleeps := ns >= sleepFrom && !bubbled(stack)
	end := nanotime() + ns
	for left := ns; left > 0 && !over.Load(); left = end - nanotime() {
		if sleeps {
			time.Sleep(time.Duration(min(left, nap)))
		} else {
			runtime.Gosched()
		}
	}
}

// schedule is the policy of the run, by its name in the environment: it decides at each event, in place of other
// noise. Set at start; policy is nil if there is none.
var schedule struct {
	name     string
	settings policy.Settings
	policy   policy.Policy
}

// startSchedule makes the policy, once the environment is read.
func startSchedule() {
	schedule.settings.Seed, schedule.settings.Strength = random, noise.strength
	schedule.policy = policy.New(schedule.name, schedule.settings)
	perturbs = isolation.on || schedule.policy != nil || noise.where == guided && noise.prob > 0 && schedule.name == ""
}

// drFinder is the name of the schedule that holds goroutines before locks (package locks): at accesses, noise is
// guided.
const drFinder = "drfinder"

// holdBySchedule returns for how long the policy holds the goroutine at an event, as far as the budget goes. n is
// random.
func holdBySchedule(g unsafe.Pointer, goid, now int64, n uint64) (ns int64) {
	if alone(g) {
		return 0
	}
	if ns = schedule.policy.Decide(goid, now, n); ns == policy.Yield {
		runtime.Gosched()
		return 0
	}
	if ns > 0 && !affordable(now, ns, 0, true) {
		counters.overBudget.Add(1)
		return 0
	}
	return ns
}

// perturbed counts how often goroutines were held at places that make no access, by a hash of their numbers, and for
// how long in all.
var perturbed struct {
	times [256]atomic.Int32
	spent atomic.Int64 // nanoseconds
}

// wakeup is about how long a goroutine takes to begin on another processor, and the least for which one is held at an
// event.
const wakeup = 50_000 // nanoseconds

// perturb holds the running goroutine at an event that is no access if the policy of the run says so or, without one,
// if it is the place's turn. It reads the goroutine's stack last, which takes microseconds: a loop may acquire a lock
// at every place all the time.
func perturb(e policy.Event, place uint64) {
	if isolation.on {
		switch e {
		case policy.Acquiring:
			isolate(isolated{true, place}, goid(getg()))
		case policy.Started, policy.Forked:
			comeLate(e, place)
		}
		return
	}
	times := &perturbed.times[place%256]
	if schedule.policy == nil && (!noise.turns.Has(e, place) || times.Load() >= holdsAtSite) {
		return
	}
	g, now := getg(), nanotime()
	ns := pauseAt(place, times.Load())
	if schedule.policy != nil {
		ns = holdBySchedule(g, goid(g), now, mix(random+uint64(now)))
	} else if alone(g) || !perturbable(now, ns) || times.Add(1) > holdsAtSite {
		return
	}
	if ns > 0 && !InBubble() {
		delay(ns, nil, &never)
		spent := nanotime() - now
		perturbed.spent.Add(spent)
		noise.spent.Add(spent)
		counters.delayNS.Add(uint64(spent))
	}
}

// pauseAt returns how long a goroutine is held at a place that has held goroutines so many times before. It depends on
// the seed alone, so that a replay makes the same pauses. A replay of another strength makes all of them longer in
// proportion, so that the same one of two goroutines goes on first.
func pauseAt(place uint64, times int32) int64 {
	return max(windowLength(uint32(mix(random^place+uint64(times))), 0), wakeup)
}

// perturbable reports whether a goroutine may be held for so long where it makes no access: most of the budget is for
// windows. A refusal does not count as over budget, since that makes plans of windows shorter.
func perturbable(now, ns int64) bool {
	const share = 4 // one part in so many
	allowed, _ := budget(now)
	return (perturbed.spent.Load()+ns)*share <= allowed && affordable(now, ns, 0, false)
}

// HoldUntil holds the running goroutine until isOver, which is called now and then, reports true. It ends after most
// nanoseconds, or when the budget is used up. The hold counts as thrashed if isOver has not ended it, or if thrashed
// reports true then.
func HoldUntil(most int64, isOver, thrashed func() bool) {
	const nap = 100_000
	g, now := getg(), nanotime()
	allowed, spent := budget(now)
	if most = min(most, allowed-spent); alone(g) || most < nap || InBubble() {
		return
	}
	counters.held.Add(1)
	over := false
	for end := now + most; !over && nanotime() < end; over = isOver() {
		time.Sleep(nap)
	}
	if !over || thrashed() {
		counters.thrashed.Add(1)
	}
	took := nanotime() - now
	noise.spent.Add(took)
	counters.delayNS.Add(uint64(took))
}

// Random returns a number that looks random, another one for each n and each seed of a run.
func Random(n uint64) uint64 { return mix(random + n) }
