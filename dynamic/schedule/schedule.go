// Package schedule decides where a monitored run holds goroutines, and for how long,
// so that two accesses meet that are far apart in time or that come once each.
//
// [Auto] learns from the gaps that the monitor leaves (evidence.Gap): how long after a
// goroutine has come to one site another one comes to a second, at the same address,
// one of them to write. A later run holds the first at its site for about that gap, so
// that the second comes while it is there: the delay is as long as the observed gap,
// as in Waffle (Stoica and others, EuroSys 2023), and a pair that was tried without
// success is tried less (TSVD, Li and others, SOSP 2019). Pairs that the program
// orders leave gaps too, and hold nobody up for longer than their tries.
//
// A schedule depends on its seed and its evidence alone, so that a campaign
// with the same seed and the same evidence plans the same runs. It is not safe for
// concurrent use.
package schedule

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Site is the data of a site that a schedule asks for.
type Site struct {
	Variable   int    // a number that the sites of one variable share
	Function   string // the declared function that it is in, or in a closure of
	Suspicious bool   // a static finding names it
	Section    uint32 // the entry of an atomic section that runs open, and that begins or ends at the site, or 0
}

// Auto is the schedule by gaps. Make one with [NewAuto].
type Auto struct {
	random *rand.Rand
	site   func(id uint32) Site
	pairs  map[pair]*chance
	caught map[pair]bool // in both orders
	proven map[int]bool  // variables of caught pairs
	// scale is how long all windows of a plan may take together, as a share of the
	// budget: those of goroutines that run at the same time overlap, and on a busy
	// machine each takes longer than it is planned to.
	scale float64

	moved   bool   // the turn of the run that goes on was chosen, see Turn
	plans   int    // made so far
	planned []pair // in the run that goes on
	holds   int    // places at which it holds goroutines
}

// pair is an ordered pair of sites: a goroutine came to the first before another one
// came to the second.
type pair [2]uint32

func (p pair) reversed() pair { return pair{p[1], p[0]} }

// chance is the record of a pair.
type chance struct {
	least, most time.Duration // the gap, see evidence.Gap
	tries       int           // runs that held the first site for it, without success
	predicted   bool          // see Predict
	turn        Turn          // in which it has come
}

// Turn is which goroutines the monitor holds in a run at other places than accesses (rt/policy/turns.go): the one
// that starts another, or that one, or those about to acquire a lock. It is that of all runs with seeds that leave the
// same remainder.
type Turn int

// AnyTurn is that of a pair that comes without such noise.
const AnyTurn Turn = -1

const turns = 3 // as in the monitor

// TurnOf returns the turn of a run with noise, by its seed.
func TurnOf(seed uint64) Turn { return Turn(seed % turns) }

// SeedOf returns the seed next to this one that has the turn.
func SeedOf(seed uint64, turn Turn) uint64 { return seed - seed%turns + uint64(turn) }

// NewAuto returns a schedule that has seen nothing yet. site describes a site of the
// plan.
func NewAuto(seed uint64, site func(id uint32) Site) *Auto {
	return &Auto{
		random: rand.New(rand.NewPCG(seed, 0)), site: site, scale: 1,
		pairs: map[pair]*chance{}, caught: map[pair]bool{}, proven: map[int]bool{},
	}
}

// Observe takes up gaps that a run has shown, in its turn.
func (a *Auto) Observe(gaps []evidence.Gap, turn Turn) {
	for _, g := range gaps {
		c := a.pairs[pair{g.First, g.Then}]
		if c == nil {
			c = &chance{least: time.Duration(g.LeastNS), turn: turn}
			a.pairs[pair{g.First, g.Then}] = c
		}
		c.least = min(c.least, time.Duration(g.LeastNS))
		c.most = max(c.most, time.Duration(g.MostNS))
	}
}

// Predict takes up that another order of a run would have brought the first site and then
// the second together. Where no run has shown the gap between them, it is looked for.
func (a *Auto) Predict(first, then uint32) {
	c := a.pairs[pair{first, then}]
	if c == nil {
		c = &chance{least: time.Millisecond, most: 100 * time.Millisecond, turn: AnyTurn}
		a.pairs[pair{first, then}] = c
	}
	c.predicted = true
}

// Tries returns how many runs have held the first site for the second, without success.
func (a *Auto) Tries(first, then uint32) int {
	if c := a.pairs[pair{first, then}]; c != nil {
		return c.tries
	}
	return 0
}

// Caught takes up that two goroutines were at these sites at the same moment: no
// further run has to show it.
func (a *Auto) Caught(first, second uint32) {
	p := pair{first, second}
	a.caught[p], a.caught[p.reversed()] = true, true
	a.proven[a.site(first).Variable] = true
}

// Ran takes up a run that was made by the plan: the sites at which it has held a
// goroutine, or opened a section, and how many windows its budget did not suffice for. A plan that was too
// long leaves out the sites that come late in a run, the same in each: the next one is shorter.
func (a *Auto) Ran(held []uint32, overBudget uint64) {
	done := map[uint32]bool{}
	for _, p := range a.planned {
		if slices.Contains(held, p[0]) || slices.Contains(held, a.site(p[0]).Section) {
			done[p[0]] = true
			a.pairs[p].tries++
		}
	}
	if a.planned = nil; overBudget == 0 {
		a.scale = min(a.scale*1.5, 16)
	} else if a.holds > 0 {
		a.scale *= max(min(float64(len(done))/float64(a.holds), 0.9), 0.25)
		a.scale = max(a.scale, 1./32)
	}
}

// Turn returns the turn that the next planned run, with the seed, is to have: in every other one that of the best pair
// that comes in one turn alone and was not tried yet. Elsewhere, and where there is none, it is that of the seed, since
// other turns may show other pairs.
func (a *Auto) Turn(seed uint64) Turn {
	turn, best := TurnOf(seed), 0.
	if a.moved = !a.moved; !a.moved {
		return turn
	}
	for p, c := range a.pairs {
		if c.turn == AnyTurn || c.tries > 0 || a.caught[p] {
			continue
		}
		if w := a.weight(p, c.turn); w > best || w == best && c.turn < turn {
			turn, best = c.turn, w
		}
	}
	return turn
}

// Holds are how long a run is to hold a goroutine directly at a site, and inside the atomic sections that
// begin at a site. A site is in one of the two.
type Holds struct{ At, Within map[uint32]time.Duration }

// Plan returns for how long the next run, which has the turn, is to hold goroutines, and whether that takes the budget
// up.
//
// The first plan has as many pairs as fit. But a goroutine that is held on its way to
// one site of a pair comes too late for the other, so all further plans have one pair in
// a function, which stands for goroutines that go the same way.
//
// A pair with a first site that begins or ends a section is tried inside the section first: where a lock is held at
// both sites, they can meet only there.
func (a *Auto) Plan(budget time.Duration, turn Turn) (holds Holds, full bool) {
	holds = Holds{map[uint32]time.Duration{}, map[uint32]time.Duration{}}
	left := time.Duration(float64(budget) * a.scale)
	a.planned = nil
	a.plans++
	busy := map[string]bool{}
	for _, p := range a.shuffled(turn) {
		first, then := a.site(p[0]).Function, a.site(p[1]).Function
		if a.plans > 1 && (busy[first] || busy[then]) {
			continue
		}
		// In the section or at the site, unless another pair has chosen otherwise.
		chosen, place, other := holds.At, p[0], holds.Within
		if s := a.site(p[0]).Section; s != 0 && a.pairs[p].tries%2 == 0 {
			chosen, place, other = holds.Within, s, holds.At
		}
		if other[place] > 0 {
			continue
		}
		// As long as the pair asks for, where the budget suffices.
		length := min(a.pairs[p].window(), budget/2)
		more := max(length-chosen[place], 0)
		if more > left {
			full = true
			continue
		}
		left -= more
		busy[first], busy[then] = true, true
		chosen[place] = max(chosen[place], length)
		a.planned = append(a.planned, p)
	}
	a.holds = len(holds.At) + len(holds.Within)
	return holds, full
}

// window is how long the first site of a pair is held: for the least gap that was seen,
// then for the geometric mean of the least and the longest, then for the longest, and so
// round, each time with more of a margin, since the scheduler and other windows on its way
// may delay the second side.
func (c *chance) window() time.Duration {
	const margin = time.Millisecond
	gap := c.least
	switch most := max(c.most, c.least); c.tries % 3 {
	case 1:
		gap = time.Duration(math.Sqrt(float64(c.least) * float64(most)))
	case 2:
		gap = most
	}
	return gap + gap/2 + margin*time.Duration(1+min(c.tries, 4))
}

// shuffled returns the pairs in random order, the better ones rather first: a weighted
// sample (Efraimidis and Spirakis, 2006).
func (a *Auto) shuffled(turn Turn) []pair {
	keys := make(map[pair]float64, len(a.pairs))
	pairs := slices.SortedFunc(maps.Keys(a.pairs), func(p, q pair) int {
		return cmp.Or(cmp.Compare(p[0], q[0]), cmp.Compare(p[1], q[1]))
	})
	for _, p := range pairs {
		keys[p] = -math.Log(1-a.random.Float64()) / a.weight(p, turn)
	}
	slices.SortStableFunc(pairs, func(p, q pair) int { return cmp.Compare(keys[p], keys[q]) })
	return pairs
}

// weight is how promising a pair is in a run with the turn.
func (a *Auto) weight(p pair, turn Turn) float64 {
	c := a.pairs[p]
	w := math.Pow(0.5, float64(c.tries)) / math.Sqrt(c.window().Seconds())
	first, second := a.site(p[0]), a.site(p[1])
	switch {
	case a.caught[p]:
		w *= 0.01
	case a.proven[first.Variable]: // most likely the same bug
		w *= 0.1
	}
	if c.turn != AnyTurn { // it may come in this turn alone, where the others can wait
		if c.turn == turn {
			w *= 64
		} else {
			w /= 8
		}
	}
	if first.Suspicious || second.Suspicious {
		w *= 8
	}
	if c.predicted {
		w *= 64
	}
	if a.pairs[p.reversed()] != nil { // come in both orders: no goroutine starts or waits for the other
		w *= 2
	}
	return w
}
