package simulation

import (
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
)

// Crash is a panic that ends the process.
type Crash struct {
	What string
	At   ssa.Instruction
	Pos  token.Pos // of a case of a select; else that of At
	// Closed is the operation that had closed the channel.
	Closed ssa.Instruction
	// Counted: as of an End.
	Counted bool
}

// Scope is a function to simulate, and how much that may cost.
type Scope struct {
	Pkg     *ssa.Package
	Root    *ssa.Function
	Test    bool // Root is a test, which passes as a rule
	Program bool // Root is the main of a program or test binary, so that its variables come from nowhere else
	Layouts *Layouts
	Steps   int // instructions
	States  int
	// Shallow: long functions that are handed no object which the scope has made are not run.
	Shallow bool
}

// Result is the outcome of a simulation.
type Result struct {
	Ends    []End
	Crashes []Crash
	Races   []Race // where the scope is a Program
	Late    []Late // where the scope is a Program that go test runs
	Steps   int    // made
	// Cut: something was left out, beyond the bounds or the steps.
	Cut bool
	// Touched are the functions with code that had a part in this: those that ran, and those that were
	// passed over as they do nothing that matters, or for their length.
	Touched map[*ssa.Function]bool

	ends  int                     // of tests that have not failed
	stuck map[ssa.Instruction]int // at how many of them an operation hangs
}

// Run simulates a scope.
func Run(s Scope) *Result {
	m := &machine{pkg: s.Pkg, root: s.Root, test: s.Test, shallow: s.Shallow, layouts: s.Layouts, left: s.Steps,
		in: interner{map[refKey]*ref{}}, ids: map[objectKey]int64{}, errors: map[*ssa.Global]bool{},
		touched: map[*ssa.Function]bool{}, relied: map[*ssa.Function]bool{}, racing: s.Program}
	x := &explorer{m: m, numbers: map[hash]int{}, states: s.States, seen: map[string]bool{},
		result: &Result{stuck: map[ssa.Instruction]int{}}}
	st := &state{clock: new(int)}
	*st.clock, st.stamp = 1, 1
	// Nothing is known of its arguments, nor of the variables that a literal captures.
	var args, captured []value
	for _, p := range s.Root.Params {
		args = append(args, value{kind: symbol, ref: m.in.intern('s', "", p, nil, 0)})
	}
	for _, v := range s.Root.FreeVars {
		captured = append(captured, value{kind: symbol, ref: m.in.intern('s', "", v, nil, 0)})
	}
	st.gs = []*goroutine{{stamp: 1, frames: []*frame{m.newFrame(st, s.Root, args, captured)}}}
	st.ready = []int{0}
	first := m.settle(st)
	x.result.Cut = m.truncated
	x.exploreFrom(first)
	x.result.Races, x.result.Late = m.races, m.late
	x.result.Steps, x.result.Touched = s.Steps-max(m.left, 0), m.touched
	return x.result
}

// explorer walks the graph of states in depth, and finds its bottom
// components by Tarjan's algorithm.
type explorer struct {
	m       *machine
	numbers map[hash]int // by state, from 1; done is that of finished states
	states  int
	result  *Result
	seen    map[string]bool // ends
	crowded int             // states of crowds that have been expanded

	path  []*node
	stack []*node // of states with a component that is not known yet
}

// node is a state on the way.
type node struct {
	st       *state
	hash     hash
	num, low int
	next     []*state
	// leaks: a move leads out of its component, or was left out.
	leaks bool
}

const finished = -1

func (x *explorer) exploreFrom(first []*state) {
	for _, st := range first {
		x.addState(st)
		for len(x.path) > 0 {
			x.advance()
		}
	}
}

// addState adds a new state to the path. It returns its number, if it is known.
func (x *explorer) addState(st *state) int {
	x.m.left -= x.m.extent(st)
	h := x.m.hashState(st)
	if n, known := x.numbers[h]; known {
		return n
	}
	n := &node{st: st, hash: h, num: len(x.numbers) + 1}
	n.low = n.num
	x.numbers[h] = n.num
	if len(x.numbers) > x.states || x.m.left < 0 {
		n.leaks, x.result.Cut = true, true
	} else {
		x.expand(n)
	}
	x.path, x.stack = append(x.path, n), append(x.stack, n)
	return 0
}

// expand makes the states that follow.
func (x *explorer) expand(n *node) {
	x.m.truncated = false
	if n.st.crash != nil && !n.st.failed {
		x.result.Crashes = append(x.result.Crashes, *n.st.crash)
	}
	for _, mv := range x.movesOf(n.st) {
		next := n.st.copyState()
		next.ready = nil
		if mv.do(next, mv.g) {
			n.next = append(n.next, x.m.settle(next)...)
		} else {
			x.m.truncated = true
		}
	}
	n.leaks = x.m.truncated || n.st.over
	x.result.Cut = x.result.Cut || x.m.truncated
}

// movesOf lists the moves by which the state goes on. A crowd goes on by one of them, so that the scope comes to one of
// its ends, and not at all once crowds have taken many steps.
func (x *explorer) movesOf(st *state) []move {
	moves := x.m.listMoves(st)
	if !st.isCrowd() || len(moves) == 0 {
		return moves
	}
	x.crowded++
	x.m.truncated = x.m.truncated || len(moves) > 1
	if x.crowded > knowledge.StatesOfCrowd {
		x.m.truncated = true
		return nil
	}
	return moves[:1]
}

// advance takes the next step from the innermost state of the path, or leaves it.
func (x *explorer) advance() {
	n := x.path[len(x.path)-1]
	if len(n.next) > 0 {
		st := n.next[0]
		n.next = n.next[1:]
		switch num := x.addState(st); {
		case num == finished:
			n.leaks = true
		case num > 0:
			n.low = min(n.low, num)
		}
		return
	}
	x.path = x.path[:len(x.path)-1]
	if n.low < n.num {
		parent := x.path[len(x.path)-1]
		parent.low = min(parent.low, n.low)
		return
	}
	x.component(n)
	if len(x.path) > 0 {
		x.path[len(x.path)-1].leaks = true
	}
}

// component takes the component of n off the stack, and judges it.
func (x *explorer) component(n *node) {
	i := len(x.stack) - 1
	for x.stack[i] != n {
		i--
	}
	members := x.stack[i:]
	x.stack = x.stack[:i]
	leaks := false
	for _, s := range members {
		x.numbers[s.hash] = finished
		leaks = leaks || s.leaks
	}
	if !leaks {
		x.judgeComponent(members)
	}
}
