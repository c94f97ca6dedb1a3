package validate

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
)

// backs are the functions to which libraries may come back, those that take locks.
type backs struct {
	all     []*ssa.Function
	numbers map[*ssa.Function]int // the place of each in all
	// reached are those to which libraries may come back in all that a function calls.
	reached map[*ssa.Function]bits
	takers  map[string]bits // by the class of the lock that they take
	classes map[*ssa.Function]map[string]bool
}

// bits is a set of small numbers.
type bits []uint64

func (b bits) has(i int) bool { return i/64 < len(b) && b[i/64]>>(i%64)&1 == 1 }

// with returns the union with a set, and whether that is more than b, which it changes.
func (b bits) with(other bits) (all bits, more bool) {
	for len(b) < len(other) {
		b = append(b, 0)
	}
	for i, word := range other {
		more = more || b[i]|word != b[i]
		b[i] |= word
	}
	return b, more
}

// withOne is with for a set of one number.
func (b bits) withOne(i int) bits {
	one := make(bits, i/64+1)
	one[i/64] = 1 << (i % 64)
	all, _ := b.with(one)
	return all
}

// sumBacks returns the functions to which libraries may come back, made once.
func (s *state) sumBacks() *backs {
	if s.backs != nil {
		return s.backs
	}
	b := &backs{numbers: map[*ssa.Function]int{}, reached: map[*ssa.Function]bits{}, takers: map[string]bits{},
		classes: map[*ssa.Function]map[string]bool{}}
	s.backs = b
	callersOf := map[*ssa.Function][]*ssa.Function{}
	var work []*ssa.Function
	for _, p := range s.Packages {
		for _, fn := range p.IR.Funcs {
			for instr := range ir.Instructions(fn) {
				call, ok := instr.(ssa.CallInstruction)
				if _, isGo := instr.(*ssa.Go); !ok || isGo {
					continue
				}
				for _, t := range s.Calls.Runs(call) {
					callersOf[t] = append(callersOf[t], fn)
				}
				for _, t := range s.Calls.CalledBack(call) {
					callersOf[t] = append(callersOf[t], fn)
					b.add(fn, t, s.sumTakes()[t])
				}
			}
			if len(b.reached[fn]) > 0 {
				work = append(work, fn)
			}
		}
	}
	// The sets only grow.
	for ; len(work) > 0; work = work[1:] {
		for _, caller := range callersOf[work[0]] {
			all, more := b.reached[caller].with(b.reached[work[0]])
			if b.reached[caller] = all; more {
				work = append(work, caller)
			}
		}
	}
	return b
}

// add notes that a library which fn calls may come back to t, if that takes locks.
func (b *backs) add(fn, t *ssa.Function, takes classSet) {
	if len(takes) == 0 {
		return
	}
	i, known := b.numbers[t]
	if !known {
		i = len(b.all)
		b.numbers[t], b.all = i, append(b.all, t)
		for a := range takes {
			b.takers[a.class] = b.takers[a.class].withOne(i)
		}
	}
	b.reached[fn] = b.reached[fn].withOne(i)
}

// classesOf lists the classes that are taken where libraries come back, in all that fn calls.
func (s *state) classesOf(fn *ssa.Function) map[string]bool {
	b := s.sumBacks()
	classes, known := b.classes[fn]
	if !known {
		classes = map[string]bool{}
		for class, takers := range b.takers {
			if takers.meets(b.reached[fn]) {
				classes[class] = true
			}
		}
		b.classes[fn] = classes
	}
	return classes
}

// meets reports whether two sets have a number in common.
func (b bits) meets(other bits) bool {
	for i := range min(len(b), len(other)) {
		if b[i]&other[i] != 0 {
			return true
		}
	}
	return false
}

// backEdges adds the edges of a call that are there if a library comes back: one for each function that takes the lock
// which is held, and one for each other class.
func (s *state) backEdges(g *lockGraph, made madeBy, fn *ssa.Function, at ssa.Instruction, held []string) {
	reached, classes := s.backFrom(made.call)
	if len(classes) == 0 {
		return
	}
	function := declared(made.pkg, fn)
	for _, from := range held {
		if facts.Released(made.pkg, made.call, at, from) {
			continue
		}
		note := func(to, by string) {
			site := edgeSite{from: from, to: to, function: function, by: by, library: true}
			g.edges[[2]string{from, to}] = true
			g.sites[site]++
			g.where[site] = made
		}
		// To other classes, and to the same one.
		for to := range classes {
			if to != from {
				note(to, "")
			}
		}
		takers := s.sumBacks().takers[from]
		for i, t := range s.sumBacks().all {
			if reached.has(i) && takers.has(i) {
				note(from, s.backName(t))
			}
		}
	}
}

// backFrom returns the functions to which libraries may come back from a call, and the classes that these take.
func (s *state) backFrom(call ssa.CallInstruction) (reached bits, classes map[string]bool) {
	b := s.sumBacks()
	classes = map[string]bool{}
	add := func(t *ssa.Function) {
		reached, _ = reached.with(b.reached[t])
		for class := range s.classesOf(t) {
			classes[class] = true
		}
	}
	for _, t := range s.Calls.Runs(call) {
		add(t)
	}
	for _, t := range s.Calls.CalledBack(call) {
		add(t)
		if i, takes := b.numbers[t]; takes {
			reached = reached.withOne(i)
		}
		for a := range s.sumTakes()[t] {
			classes[a.class] = true
		}
	}
	return reached, classes
}
