package pointsto

import (
	"golang.org/x/tools/go/ssa"
)

// context is which goroutines may run a function.
type context uint8

const (
	inInit  context = 1 << iota // the main goroutine, while packages are initialised
	inMain                      // the main goroutine afterwards, and tests, which follow each other
	started                     // goroutines that a go statement or external code has started
	early                       // of these, those that run while packages are initialised
)

// anyone is the context of a function that external code may call.
const anyone = inInit | inMain | started | early

// accessedBy records which goroutines read and which write a location.
type accessedBy struct{ reads, writes context }

func (u *accessedBy) addVerdict(v accessedBy) {
	u.reads |= v.reads
	u.writes |= v.writes
}

// conflict reports whether two of the accesses may run at the same time, one
// of them a write.
func (u accessedBy) conflict() bool { return parallel(u.writes, u.reads|u.writes) }

// parallel reports whether a function of the one context may run at the same
// time as one of the other. Started goroutines are many; nothing orders them.
func parallel(a, b context) bool {
	after := inMain | started
	return a&started != 0 && b&after != 0 || b&started != 0 && a&after != 0 ||
		a&early != 0 && b&inInit != 0 || b&early != 0 && a&inInit != 0
}

// contexts finds which goroutines run which function.
type contexts struct {
	calls map[*ssa.Function][]ssa.CallInstruction // by caller
	to    callees
	of    map[*ssa.Function]context
	work  []*ssa.Function
	found func(*ssa.Function) // is called once for each function that somebody runs
	// beside are functions that tests pass to T.Run and that call T.Parallel:
	// they run beside others.
	beside map[*ssa.Function]bool
}

func (c *contexts) addContext(fn *ssa.Function, ctx context) {
	if old := c.of[fn]; old|ctx != old {
		if old == 0 {
			c.found(fn)
		}
		c.of[fn] = old | ctx
		c.work = append(c.work, fn)
	}
}

func (c *contexts) spread() {
	for len(c.work) > 0 {
		fn := c.work[len(c.work)-1]
		c.work = c.work[:len(c.work)-1]
		ctx := c.of[fn]
		for _, call := range c.calls[fn] {
			c.throughCall(ctx, call)
		}
	}
}

// inCall returns the context of the callees of a function of context ctx.
func (c *contexts) inCall(call ssa.CallInstruction, ctx context) context {
	if _, isGo := call.(*ssa.Go); isGo && !runsAtOnce(call) {
		if ctx&(inInit|early) != 0 {
			return started | early
		}
		return started
	}
	return ctx
}

func (c *contexts) throughCall(ctx context, call ssa.CallInstruction) {
	ctx = c.inCall(call, ctx)
	for _, fn := range c.to[call] {
		if c.beside[fn] {
			c.addContext(fn, ctx|started)
		} else {
			c.addContext(fn, ctx)
		}
	}
}

// findBeside finds the test functions that may run beside others. A test that
// calls T.Parallel returns to its caller before it goes on.
func (c *contexts) findBeside(reachable []*ssa.Function) {
	c.beside = map[*ssa.Function]bool{}
	// Note the callers of each function. The runner of tests calls them all, and would make each
	// reach each other.
	callers := map[*ssa.Function][]*ssa.Function{}
	var tests, work []*ssa.Function
	for _, fn := range reachable {
		for _, call := range c.calls[fn] {
			for _, to := range c.to[call] {
				if fn.String() == "testing.tRunner" && call.Common().StaticCallee() == nil {
					tests = append(tests, to)
				} else if to.String() != "testing.tRunner" {
					callers[to] = append(callers[to], fn)
				}
			}
		}
		if fn.String() == "(*testing.T).Parallel" {
			work = append(work, fn)
		}
	}
	// Go back from Parallel to the tests that may call it.
	reaches := map[*ssa.Function]bool{}
	for len(work) > 0 {
		fn := work[len(work)-1]
		work = work[:len(work)-1]
		if reaches[fn] {
			continue
		}
		reaches[fn] = true
		work = append(work, callers[fn]...)
	}
	for _, fn := range tests {
		if reaches[fn] {
			c.beside[fn] = true
		}
	}
}
