// Package crossing searches the steps of a run that held a goroutine in the middle of an operation. It finds accesses
// of another goroutine in between that no serial order of the two operations has.
//
// An operation is an activation of a function of the program: of the held goroutine, its accesses before and behind the
// hold; of the other one, those that it makes meanwhile. The two cross if an access of the other one conflicts with an
// earlier access of the first, and one of the other's conflicts with a later access of the first: then the other one
// comes both after the first and before it.
//
// Activations are distinguished by the stacks, and by lines that only go forward: a jump back in the source begins
// another round of a loop, which is not one step with the round before. Functions of tests do not count: if a test
// relies on the order of two of its calls, the called functions are not at fault.
package crossing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Step is the next access of a goroutine.
type Step struct {
	evidence.Step
	Frames []finding.Frame // outermost first
}

// At returns the place of a step.
func (s *Step) At() arm.Place { return arm.Place{Use: s.Use, Site: s.Site} }

// Crossing is a section of one goroutine, from First to Last, and the accesses that split it.
type Crossing struct {
	First, Last Step
	// Came conflicts with First, Went with Last. They are mostly one access.
	Came, Went Step
	// Function has both First and Last, at these lines: of calls where they are in callees.
	Function            string
	FirstLine, LastLine int
	// Before is where the goroutine can be held ahead of the section, Out where others can be kept away from it: where
	// the outermost lock is acquired that they hold, or the access.
	Before, Out arm.Place
	// Held are the uses by which First, Came and Last hold locks.
	Held [3][]uint64

	rank int
}

// Read returns the steps of one process. A step that is kept until a goroutine is held has a stack without the go
// statement: later ones of the goroutine have it.
func Read(records []evidence.Record) (steps []Step) {
	created := map[int64]string{}
	for i := range records {
		if s := records[i].Step; s != nil {
			g := stacktext.Parse(s.Stack)
			slices.Reverse(g.Stack)
			steps = append(steps, Step{*s, g.Stack})
			if at := strings.Index(s.Stack, createdBy); at >= 0 {
				created[s.GID] = s.Stack[at:]
			}
		}
	}
	for i := range steps {
		if s := &steps[i]; !strings.Contains(s.Stack, createdBy) {
			s.Stack = strings.TrimSuffix(s.Stack, "\n") + created[s.GID]
		}
	}
	return steps
}

// createdBy begins the line with the go statement, which comes last in a stack.
const createdBy = "\ncreated by "

// Source answers the questions of the search about the program.
type Source struct {
	IsOurs   func(file string) bool          // whether a file is one of the program, and not of its tests
	Variable func(site uint32) plan.Variable // that is accessed at a site
}

// Find returns the crossings in the operations of held goroutines, the likeliest first. later are the steps of a run
// that went on: if the process ended before a held goroutine, they show the steps that the goroutine had left.
func Find(steps, later []Step, source Source) (all []Crossing) {
	f := &finder{Source: source, steps: steps, later: later}
	for i := range steps {
		if steps[i].What == evidence.StepHeld {
			f.around(i)
		}
	}
	slices.SortStableFunc(f.found, func(a, b Crossing) int { return cmp.Compare(a.rank, b.rank) })
	return f.found
}

// finder is the state of Find.
type finder struct {
	Source
	steps, later []Step
	found        []Crossing
}

// around finds the crossings of the goroutine that was held at step i.
func (f *finder) around(i int) {
	held := &f.steps[i]
	end := i + 1
	for end < len(f.steps) && !(f.steps[end].GID == held.GID && f.steps[end].What == evidence.StepResumed) {
		end++
	}
	for level := len(held.Frames) - 1; level >= 0; level-- {
		if !f.IsOurs(held.Frames[level].File) {
			continue
		}
		before := f.activation(f.steps, i, -1, level)
		after := f.activation(f.steps, end, +1, level)
		if len(after) == 0 {
			after = f.afterInLater(held, level)
		}
		for other := range f.others(i, end) {
			f.cross(level, before, after, other)
		}
	}
}

// activation returns the accesses that the goroutine of step i makes before or behind it, by the sign of to, in the
// activation of the function at a level of its stack: the nearest first.
func (f *finder) activation(steps []Step, i, to, level int) (accesses []*Step) {
	if i >= len(steps) {
		return nil
	}
	at := &steps[i]
	line := at.Frames[level].Line
	for j := i + to; j >= 0 && j < len(steps); j += to {
		s := &steps[j]
		if s.GID != at.GID {
			continue
		}
		if !sameActivation(s.Frames, at.Frames, level) || (s.Frames[level].Line-line)*to < 0 {
			break
		}
		line = s.Frames[level].Line
		if f.isAccess(s) {
			accesses = append(accesses, s)
		}
	}
	return accesses
}

// afterInLater returns the accesses that a goroutine held alike has made behind the hold, in another run.
func (f *finder) afterInLater(held *Step, level int) []*Step {
	for i := range f.later {
		s := &f.later[i]
		if s.What == evidence.StepResumed && s.At() == held.At() && len(s.Frames) > level &&
			s.Frames[level].Function == held.Frames[level].Function {
			return f.activation(f.later, i, +1, level)
		}
	}
	return nil
}

// sameActivation reports whether two stacks may have an activation in common at a level: their calls below are alike.
func sameActivation(a, b []finding.Frame, level int) bool {
	return len(a) > level && len(b) > level && slices.Equal(a[:level], b[:level]) &&
		a[level].Function == b[level].Function
}

// isAccess reports whether a step is an access in code of the program.
func (f *finder) isAccess(s *Step) bool {
	return s.Site != 0 && (s.What == evidence.StepRead || s.What == evidence.StepWrite) && len(s.Frames) > 0 &&
		f.IsOurs(s.Frames[len(s.Frames)-1].File)
}

// others returns the accesses that the other goroutines make between two steps, by goroutine.
func (f *finder) others(from, to int) func(func([]int) bool) {
	by := map[int64][]int{}
	var order []int64
	for j := from + 1; j < to && j < len(f.steps); j++ {
		if s := &f.steps[j]; s.GID != f.steps[from].GID && f.isAccess(s) {
			if by[s.GID] == nil {
				order = append(order, s.GID)
			}
			by[s.GID] = append(by[s.GID], j)
		}
	}
	return func(yield func([]int) bool) {
		for _, g := range order {
			if !yield(by[g]) {
				return
			}
		}
	}
}

// cross adds the crossings of the accesses before and behind a hold with the accesses of another goroutine.
func (f *finder) cross(level int, before, after []*Step, other []int) {
	for _, a := range before {
		for _, t1 := range other {
			if !conflict(a, &f.steps[t1]) || !sameMemory(a, &f.steps[t1]) {
				continue
			}
			for _, b := range after {
				for _, t2 := range other {
					if f.meets(b, &f.steps[t2]) && f.together(t1, t2) {
						f.add(level, a, b, t1, t2)
					}
				}
			}
		}
	}
}

// meets reports whether the order of an access behind the hold and one during it matters. Those of different runs are
// compared by their variables.
func (f *finder) meets(b, t *Step) bool {
	if f.isLater(b) {
		return conflict(b, t) && f.Variable(b.Site) == f.Variable(t.Site)
	}
	return conflict(b, t) && sameMemory(b, t)
}

// isLater reports whether a step is one of the run that went on.
func (f *finder) isLater(s *Step) bool {
	for i := range f.later {
		if &f.later[i] == s {
			return true
		}
	}
	return false
}

// conflict reports whether the order of two accesses matters if they are of one variable.
func conflict(a, b *Step) bool {
	return a.What == evidence.StepWrite || b.What == evidence.StepWrite
}

// sameMemory reports whether two accesses have memory in common.
func sameMemory(a, b *Step) bool {
	return a.Addr < b.Addr+b.Size && b.Addr < a.Addr+a.Size && (a.Key == b.Key || a.Key == 0 || b.Key == 0)
}

// together reports whether two accesses of a goroutine are made in one activation of a function of the program.
func (f *finder) together(i, j int) bool {
	a, b := f.steps[min(i, j)].Frames, f.steps[max(i, j)].Frames
	if i == j {
		return true
	}
	for level := range min(len(a), len(b)) {
		if !sameActivation(a, b, level) {
			return false
		}
		if f.IsOurs(a[level].File) && a[level].Line <= b[level].Line {
			return true
		}
		if a[level] != b[level] {
			return false
		}
	}
	return false
}

// add adds a crossing, unless there is one of the same places.
func (f *finder) add(level int, a, b *Step, t1, t2 int) {
	out, before := f.way(&f.steps[min(t1, t2)]), f.way(a)
	first, last := *a, *b
	held := [3][]uint64{
		usesOf(f.heldAt(f.steps, a)), usesOf(f.heldAt(f.steps, &f.steps[t1])), usesOf(f.heldAt(f.runOf(b), b)),
	}
	last.GID = a.GID // in another run, the goroutine has another number
	c := Crossing{
		First: first, Last: last, Came: f.steps[t1], Went: f.steps[t2],
		Function: first.Frames[level].Function, FirstLine: first.Frames[level].Line, LastLine: last.Frames[level].Line,
		Before: before, Out: out,
		Held: held,
	}
	for i := range f.found {
		if known := &f.found[i]; known.First.Site == first.Site && known.Last.Site == last.Site && known.Out == out {
			return
		}
	}
	c.rank = f.likely(&c) + 10*(len(first.Frames)-level) // the innermost function first
	f.found = append(f.found, c)
}

// likely is the less the more such a pattern is a bug: a value that was read and has changed comes first, and two
// stores of which one is lost come last.
func (f *finder) likely(c *Crossing) int {
	one := f.Variable(c.First.Site) == f.Variable(c.Last.Site) && c.Came.Site == c.Went.Site
	switch {
	case one && c.First.What == evidence.StepRead:
		return 0
	case !one && c.First.What == evidence.StepRead:
		return 1
	case !one:
		return 2
	case c.Came.What == evidence.StepRead:
		return 3
	}
	return 4
}

// way returns the place at which the goroutine of a step has acquired the outermost lock that it holds there, or else
// that of the access.
func (f *finder) way(s *Step) arm.Place {
	if held := f.heldAt(f.steps, s); len(held) > 0 {
		return held[0].At()
	}
	return s.At()
}

// runOf returns the steps of the run that a step is of.
func (f *finder) runOf(s *Step) []Step {
	if f.isLater(s) {
		return f.later
	}
	return f.steps
}

func usesOf(locks []*Step) (uses []uint64) {
	for _, l := range locks {
		uses = append(uses, l.Use)
	}
	return uses
}

// heldAt returns the acquisitions of the locks that the goroutine of a step holds there, the outermost first.
func (f *finder) heldAt(steps []Step, s *Step) (held []*Step) {
	for j := range steps {
		l := &steps[j]
		if l == s {
			break
		}
		if l.GID != s.GID {
			continue
		}
		switch l.What {
		case evidence.StepLock:
			held = append(held, l)
		case evidence.StepUnlock:
			for k, h := range slices.Backward(held) {
				if h.Addr == l.Addr {
					held = slices.Delete(held, k, k+1)
					break
				}
			}
		}
	}
	return held
}
