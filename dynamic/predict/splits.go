package predict

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
)

// Sections are the atomic sections that another order of the run may split.
type Sections struct {
	All []Section
	// Named returns a place of the program as the sections name it.
	Named func(Place) Place
}

// Section is an atomic section: two accesses of one variable in one call of Function, or of its callees.
type Section struct {
	Function string
	Entry    Half
	Ends     []End
	Own      bool // whether the section is gone through depends on values of the goroutine's own
}

// Half is one of the two accesses. Its line is that of the access, Call has those of the call in Function that
// makes it.
type Half struct {
	File string
	Line int
	Op   Op     // Read or Write
	Call *Lines // nil: Function makes the access itself
}

// Lines are those from one to another, both included.
type Lines struct{ From, To int }

// End is an access that ends a section, and the kinds of remote access that may come before it.
type End struct {
	Half
	Allows []Op
}

// Split is an access of another goroutine between the two of a section: indices of events. Section and End
// are indices too.
type Split struct {
	Section, End          int
	Entry, Remote, Second int
}

// splits predicts which sections another order of the run splits: a high-level race. All accesses are under
// locks that order them in the run. Li's thesis (2012, Algorithm 9) has a second set of clocks, in which a lock that a
// section takes again stays as it was at its first release: later steps of the section are then unordered with
// steps of other goroutines after that release. From a trace the same is asked of each section by itself:
//
//	section             another goroutine
//	Lock; op1; Unlock
//	                    Lock; op3; Unlock
//	Lock; op2; Unlock
//
// Is there a correct reordering that has op1 and op3, and in which the section has not yet taken the lock again?
// The clocks forget that a goroutine may make a step only for a value that it has read; here each read sees the
// same write, with one exception: op3 may be the end of the same section in another goroutine. That section may first
// read the value that op1 has read, and then it does as the first has done.
//
// Missed: steps that have to come before the section to split it, sections with a Function that was inlined, and
// entries of a map.
func (p *predictor) splits(t *Trace, symbols *Symbols, sections Sections) (all []Split) {
	s := splitter{predictor: p, calls: t.Calls, symbols: symbols, named: sections.Named, all: sections.All}
	s.findPairs()
	tries := map[role]int{}
	for _, pair := range s.pairs {
		if s.done[pair.section] {
			continue
		}
		r := role{section: pair.section, end: pair.end}
		if tries[r]++; tries[r] > triesOfEnd {
			s.result.Untried++
			continue
		}
		s.try(pair)
	}
	return s.found
}

type splitter struct {
	*predictor
	calls   map[uint32]Call
	symbols *Symbols
	named   func(Place) Place
	all     []Section

	places   map[uint64]Place   // by PC
	pairs    []halves           // in the order of their ends
	entryOf  map[halfKey]int32  // of an end: the entry of its section
	accesses map[uint64][]int32 // by Obj of a pair
	done     map[int]bool       // sections that are predicted
	found    []Split
}

// halves are two accesses of a variable in one call of a section's function.
type halves struct {
	section, end  int
	entry, second int32
}

type halfKey struct {
	section int
	second  int32
}

// role is the part of an access in a section: its entry (end is -1) or an end, in the call that has a context.
type role struct {
	section, end int
	activation   uint32
}

// findPairs finds the accesses that are the two halves of a section: the last entry in the same context
// before an end.
func (s *splitter) findPairs() {
	byLine := map[Place][]role{}
	for i, section := range s.all {
		byLine[section.Entry.at()] = append(byLine[section.Entry.at()], role{section: i, end: -1})
		for k, end := range section.Ends {
			byLine[end.at()] = append(byLine[end.at()], role{section: i, end: k})
		}
	}
	type context struct{ pc, frame uint64 }
	type opened struct {
		role
		g   int32
		obj uint64
	}
	s.places, s.entryOf, s.accesses, s.done = map[uint64]Place{}, map[halfKey]int32{}, map[uint64][]int32{}, map[int]bool{}
	roles, entries := map[context][]role{}, map[opened]int32{}
	for i := range s.events {
		e := &s.events[i]
		if !e.access() {
			continue
		}
		at := context{e.PC, uint64(e.Frame)<<1 | uint64(e.Op)}
		mine, ok := roles[at]
		if !ok {
			mine = s.rolesOf(e, byLine)
			roles[at] = mine
		}
		// An access that is both ends the section before it opens the next.
		for _, r := range mine {
			key := opened{role{r.section, -1, r.activation}, e.G, e.Obj}
			entry, isOpen := entries[key]
			switch {
			case r.end < 0:
				entries[key] = int32(i)
			case isOpen:
				s.pairs = append(s.pairs, halves{r.section, r.end, entry, int32(i)})
				s.entryOf[halfKey{r.section, int32(i)}] = entry
				s.accesses[e.Obj] = nil
				delete(entries, key)
			}
		}
	}
	for i := range s.events {
		if list, ok := s.accesses[s.events[i].Obj]; ok && s.events[i].access() {
			s.accesses[s.events[i].Obj] = append(list, int32(i))
		}
	}
}

func (h *Half) at() Place { return Place{File: h.File, Line: h.Line} }

// rolesOf returns the roles of an access, ends first.
func (s *splitter) rolesOf(e *Event, byLine map[Place][]role) (all []role) {
	at := s.place(e.PC)
	for _, r := range byLine[Place{File: at.File, Line: at.Line}] {
		half := s.half(r)
		if half.Op != e.Op {
			continue
		}
		if activation, ok := s.activation(e, s.all[r.section].Function, half.Call); ok {
			all = append(all, role{r.section, r.end, activation})
		}
	}
	slices.SortFunc(all, func(a, b role) int { return cmp.Compare(b.end, a.end) })
	return all
}

func (s *splitter) half(r role) *Half {
	if r.end < 0 {
		return &s.all[r.section].Entry
	}
	return &s.all[r.section].Ends[r.end].Half
}

// typeArguments are those of an instance in the name of a function, which a section's has not.
var typeArguments = regexp.MustCompile(`\[[^()]*\]`)

// place returns the place of a PC in the sections' names.
func (s *splitter) place(pc uint64) Place {
	at, ok := s.places[pc]
	if !ok {
		at = s.named(s.symbols.Place(pc))
		at.Function = typeArguments.ReplaceAllString(at.Function, "")
		s.places[pc] = at
	}
	return at
}

// deepest is how many calls of its function a half may be away.
const deepest = 8

// activation returns the calling context of the function in which an access is a half of a section: the function
// makes it itself, or makes a call in which it comes.
func (s *splitter) activation(e *Event, function string, call *Lines) (uint32, bool) {
	if s.place(e.PC).Function == function { // also functions that were inlined there
		return e.Frame, true
	}
	if call == nil {
		return 0, false
	}
	frame := e.Frame
	for range deepest {
		up, ok := s.calls[frame]
		if !ok {
			break
		}
		if at := s.place(up.PC); at.Function == function {
			return up.Parent, call.From <= at.Line && at.Line <= call.To
		}
		frame = up.Parent
	}
	return 0, false
}

const (
	triesOfEnd  = 500 // times that the section is ended there, which are tried
	lastRemotes = 16  // accesses of the variable behind the section's entry, which are tried
)

// try predicts that an access of another goroutine comes between two halves, if it can.
func (s *splitter) try(pair halves) {
	allows := s.all[pair.section].Ends[pair.end].Allows
	again := s.again(pair)
	list := s.accesses[s.events[pair.entry].Obj]
	from := sort.Search(len(list), func(k int) bool { return list[k] > pair.entry })
	for _, remote := range list[from:min(len(list), from+lastRemotes)] {
		e := &s.events[remote]
		if slices.Contains(allows, e.Op) || !s.isOrdered(pair.entry, remote) || !s.isOrdered(pair.second, remote) {
			continue
		}
		end := uint64(pair.section)<<32 | uint64(pair.end)
		places := [4]uint64{end, s.events[pair.entry].PC, e.PC, s.events[pair.second].PC}
		if !s.worth(places) {
			continue
		}
		if s.falls(pair, again, remote) {
			s.done[pair.section] = true
			s.found = append(s.found, Split{pair.section, pair.end, int(pair.entry), int(remote), int(pair.second)})
			return
		}
	}
}

// again returns the acquisition by which a section holds a lock again that its second half is under, or that half
// itself. That the goroutine reads the variable behind it, before the half, does not show that it looks again whether
// all is as it was: it may take out an entry that it believes to be there. Code that does look again has no section, as
// the checks that infer sections know the condition of a branch.
func (s *splitter) again(pair halves) int32 {
	again := pair.second
	for k := range s.locks {
		if sec, ok := s.holds(&s.locks[k], pair.second); ok && sec.acquired > pair.entry {
			again = min(again, sec.acquired)
		}
	}
	return again
}

// holds returns the critical section of a lock that an event is in.
func (s *splitter) holds(l *lock, i int32) (section, bool) {
	list := l.of[s.events[i].G]
	n := sort.Search(len(list), func(k int) bool { return list[k].acquired > i })
	for k := n - 1; k >= max(0, n-nestedReads); k-- {
		if list[k].released < 0 || list[k].released > i {
			return list[k], true
		}
	}
	return section{}, false
}

// isOrdered reports whether two conflicting accesses of two goroutines are no data race: one lock guards both, or
// both are atomic.
func (s *splitter) isOrdered(i, j int32) bool {
	a, b := &s.events[i], &s.events[j]
	if a.G == b.G || a.Bytes&b.Bytes == 0 {
		return false
	}
	for k := range s.locks {
		x, inX := s.holds(&s.locks[k], i)
		y, inY := s.holds(&s.locks[k], j)
		if inX && inY && !(x.read && y.read) {
			return true
		}
	}
	return a.Atomic && b.Atomic
}

// falls reports whether another order of the run has the remote access between the two halves: with all that comes
// before the second one, from again on, and with the critical sections that the remote access is in.
func (s *splitter) falls(pair halves, again, remote int32) bool {
	c := s.preceding(again)
	c.join(s.including(remote))
	for k := range s.locks {
		if sec, ok := s.holds(&s.locks[k], remote); ok {
			if sec.released < 0 {
				return false
			}
			c.join(s.including(sec.released))
		}
	}
	if !s.in(c, again) && s.close(c) && !s.in(c, again) {
		return true
	}
	return s.repeats(pair, again, remote)
}

// repeats reports whether the remote access is the end of the same section in another goroutine, and that
// one can begin, and take all locks that it takes, while the first is between its halves. The condition for it to go
// on must be the same for both.
func (s *splitter) repeats(pair halves, again, remote int32) bool {
	entry, ok := s.entryOf[halfKey{pair.section, remote}]
	if !ok || s.all[pair.section].Own {
		return false
	}
	begin := entry
	for k := range s.locks {
		if sec, ok := s.holds(&s.locks[k], entry); ok {
			begin = min(begin, sec.acquired)
		}
	}
	c := s.preceding(again)
	c.join(s.preceding(begin))
	if s.in(c, again) || s.in(c, begin) || !s.close(c) || s.in(c, again) || s.in(c, begin) {
		return false
	}
	for k := range s.locks {
		l := &s.locks[k]
		held, isHeld := s.holds(l, again)
		if !isHeld || held.acquired == again {
			continue
		}
		for _, sec := range l.of[s.events[remote].G] {
			if begin <= sec.acquired && sec.acquired < remote && !(sec.read && held.read) {
				return false
			}
		}
	}
	return true
}
