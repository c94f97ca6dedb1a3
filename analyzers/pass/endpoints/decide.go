package endpoints

import (
	"cmp"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// Tell is a result of a call that shows the value that the callee has found. Exported for facts, which are
// encoded.
type Tell struct {
	Index int
	Outcome
}

// Outcome is the relation of a value to the variable that an event reads.
type Outcome struct {
	// Sense: 1 if the value is true (not nil, not zero) where the variable or
	// the entry is there, -1 if it is the other way round, 0 if that is not so
	// simple, as in comparisons.
	Sense  int
	Length bool // of a slice or map
	// Compares: the value is compared with another, by size or for being equal.
	Compares bool
	// Element: it is the entry of a map for a key, not the map itself.
	Element bool
	// Ordered: by size.
	Ordered bool
	// Own: for being equal to a value that the goroutine has of its own, such as an argument.
	Own bool
	// Inside: the branch asks for contents of the object that the value leads to, not for the value itself.
	Inside bool
	// Computed: by a call that may have found out more than that.
	Computed bool
}

// function is a function with its events and branches.
type function struct {
	fn       *ssa.Function
	events   []*event
	order    map[*event]int // in events
	byName   map[accesspath.Name][]*event
	outcomes map[ssa.Value][]*event // results of reads
	branches []*branch
	flow     *ir.Flow
	changed  map[cell]bool     // by some event
	hit      map[*event]asking // of the events that some branch depends on
	search   *search           // for pairs; nil outside of it
}

// search holds the notes of one search for pairs in its function. Functions as such are shared by passes that
// run at the same time.
type search struct {
	work      *ir.Work
	rechecks  map[*event]*event // results of the methods of these names, recheck and corrected
	corrected map[*event]bool
	sides     map[[2]*ssa.BasicBlock]sides
	between   *event // the last event that next found
}

// searching returns a copy of f for a search that has work to spend.
func (f *function) searching(work *ir.Work) *function {
	g := *f
	g.search = &search{work: work, rechecks: map[*event]*event{}, corrected: map[*event]bool{},
		sides: map[[2]*ssa.BasicBlock]sides{}}
	return &g
}

// lookUpOrFind returns the result of find for e, which is looked up in known from the second time on.
func lookUpOrFind[V any](known map[*event]V, e *event, find func(*event) V) V {
	v, ok := known[e]
	if !ok {
		v = find(e)
		known[e] = v
	}
	return v
}

// spendSteps takes n steps off those left to the search.
func (f *function) spendSteps(n int) {
	if f.search != nil {
		f.search.work.Spend(n)
	}
}

// cell is a field or package variable, or the map in it.
type cell struct {
	name  accesspath.Name
	inMap bool
}

// asking describes how the branches use an event.
type asking struct{ itself bool }

// branch is a condition and the events that it depends on.
type branch struct {
	at   *ssa.If
	hits map[*event]Outcome
}

// factsOf returns the known facts of fn.
func (c *checker) factsOf(fn *ssa.Function) *function {
	if f := c.functions[fn]; f != nil {
		return f
	}
	f := &function{fn: fn, events: c.events(fn), byName: map[accesspath.Name][]*event{},
		outcomes: map[ssa.Value][]*event{},
		flow:     c.list.Prog.Flow(fn), changed: map[cell]bool{}, hit: map[*event]asking{}, order: map[*event]int{}}
	for i, e := range f.events {
		f.order[e] = i
		f.byName[e.name] = append(f.byName[e.name], e)
		if e.op.writes() {
			f.changed[cell{e.name, e.inMap}] = true
		}
		if e.op == read {
			if v := e.valueRead(); v != nil {
				f.outcomes[v] = append(f.outcomes[v], e)
			}
		}
	}
	if len(f.outcomes) > 0 {
		f.findBranches()
	}
	c.functions[fn] = f
	return f
}

// valueRead returns the value that e reads.
func (e *event) valueRead() ssa.Value {
	if e.call {
		return e.at.(*ssa.Call)
	}
	return e.own.Value
}

func (f *function) findBranches() {
	for _, b := range f.fn.Blocks {
		if len(b.Instrs) == 0 {
			continue
		}
		last, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		if hits := f.testsBehind(last.Cond); len(hits) > 0 {
			f.branches = append(f.branches, &branch{last, hits})
			for e, o := range hits {
				f.hit[e] = asking{f.hit[e].itself || !o.Inside}
			}
		}
	}
}

// testsBehind returns the events that v depends on.
func (f *function) testsBehind(v ssa.Value) map[*event]Outcome {
	t := &tracer{f: f, seen: map[ssa.Value]map[*event]Outcome{}}
	return t.traceValue(v, 0)
}

// resultsAbout lists the results of the function that show the value that e found.
func (f *function) resultsAbout(e *event) []Tell {
	var list []Tell
	results := f.fn.Signature.Results().Len()
	for i := range results {
		if o, ok := f.resultAbout(e, i); ok {
			list = append(list, Tell{i, o})
		}
	}
	return list
}

// resultAbout reports whether result i depends on e: it is computed from the value found, or returned on one
// side of a branch that asks for it.
func (f *function) resultAbout(e *event, i int) (Outcome, bool) {
	for _, b := range f.fn.Blocks {
		if ret, ok := lastInstr(b).(*ssa.Return); ok && i < len(ret.Results) {
			if o, ok := f.testsBehind(ret.Results[i])[e]; ok {
				return o, true
			}
		}
	}
	for _, b := range f.branches {
		o, ok := b.hits[e]
		if !ok {
			continue
		}
		yes, no := returned(b.at.Block().Succs[0], i, b.at.Block()), returned(b.at.Block().Succs[1], i, b.at.Block())
		switch {
		case yes == 0 || no == 0 || yes == no:
			continue
		case yes == falsy && no == truthy:
			return negated(o), true
		case yes == truthy && no == falsy:
			return o, true
		}
		return dropMeaning(o), true
	}
	return Outcome{}, false
}

// The values of a result on one side of a branch.
const (
	truthy = iota + 1
	falsy
	mixed
)

// returned returns the value of result i on all paths that start at from, without coming to avoid.
func returned(from *ssa.BasicBlock, i int, avoid *ssa.BasicBlock) int {
	kind := 0
	for b := range reachableBlocks(from, avoid) {
		ret, ok := lastInstr(b).(*ssa.Return)
		if !ok || i >= len(ret.Results) {
			continue
		}
		k := mixed
		if c, ok := result(ret, i).(*ssa.Const); ok {
			k = truthy
			if ir.IsZero(c) {
				k = falsy
			}
		}
		if kind != 0 && kind != k {
			return mixed
		}
		kind = cmp.Or(kind, k)
	}
	return kind
}

// result returns result i of ret. Where calls are deferred, it is stored in the
// result's variable first, and loaded once they are done.
func result(ret *ssa.Return, i int) ssa.Value {
	load, ok := ret.Results[i].(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return ret.Results[i]
	}
	for _, instr := range slices.Backward(ret.Block().Instrs) {
		if st, ok := instr.(*ssa.Store); ok && st.Addr == load.X {
			return st.Val
		}
	}
	return load
}

func lastInstr(b *ssa.BasicBlock) ssa.Instruction {
	if len(b.Instrs) == 0 {
		return nil
	}
	return b.Instrs[len(b.Instrs)-1]
}

// reachableBlocks returns the blocks that control may come to from from on, which counts,
// without passing through avoid.
func reachableBlocks(from, avoid *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	seen := map[*ssa.BasicBlock]bool{}
	var walk func(x *ssa.BasicBlock)
	walk = func(x *ssa.BasicBlock) {
		if seen[x] || x == avoid {
			return
		}
		seen[x] = true
		for _, s := range x.Succs {
			walk(s)
		}
	}
	walk(from)
	return seen
}

// onward returns the blocks that control may come to from b through its successor
// first, which counts, without passing through avoid or going back to the head
// of a loop.
func onward(b, first, avoid *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	seen := map[*ssa.BasicBlock]bool{}
	var walk func(from, to *ssa.BasicBlock)
	walk = func(from, to *ssa.BasicBlock) {
		if seen[to] || to == avoid || to.Dominates(from) {
			return
		}
		seen[to] = true
		for _, s := range to.Succs {
			walk(to, s)
		}
	}
	walk(b, first)
	return seen
}

// decision is a branch that decides whether a use is made after a test.
type decision struct {
	branch *branch
	way    int // successor that leads to the use
	out    Outcome
	// only are the blocks that this side alone leads to.
	only map[*ssa.BasicBlock]bool
}

// sides are the blocks that control may come to on either side of a branch,
// and those that one side alone leads to.
type sides struct {
	reached [2]map[*ssa.BasicBlock]bool
	only    [2]map[*ssa.BasicBlock]bool
}

// sidesOf returns the sides of the branch at the end of b, on ways that do not
// lead through from.
func (f *function) sidesOf(b, from *ssa.BasicBlock) sides {
	key := [2]*ssa.BasicBlock{b, from}
	if f.search != nil {
		if s, ok := f.search.sides[key]; ok {
			return s
		}
	}
	f.spendSteps(len(f.fn.Blocks))
	var s sides
	for way, succ := range b.Succs {
		s.reached[way] = onward(b, succ, from)
	}
	for way := range s.only {
		s.only[way] = map[*ssa.BasicBlock]bool{}
		for block := range s.reached[way] {
			if !s.reached[1-way][block] {
				s.only[way][block] = true
			}
		}
	}
	if f.search != nil {
		f.search.sides[key] = s
	}
	return s
}

// decides reports whether the branch b, which asks for the value of t, decides if instruction use runs before t
// does again, or a loop around both.
func (f *function) decides(b *branch, t *event, use ssa.Instruction) (decision, bool) {
	from, to := t.at.Block(), use.Block()
	if to == from || to == b.at.Block() {
		return decision{}, false
	}
	s := f.sidesOf(b.at.Block(), from)
	if s.reached[0][to] == s.reached[1][to] {
		return decision{}, false
	}
	d := decision{branch: b, out: b.hits[t]}
	if s.reached[1][to] {
		d.way = 1
	}
	d.only = s.only[d.way]
	return d, true
}

// present returns 1 if the variable or entry is there at the use, -1 if it is not, 0 if the branch asks for
// something else.
func (d decision) present() int {
	if d.way == 1 {
		return -d.out.Sense
	}
	return d.out.Sense
}

// recheck returns a read of the variable that w changes, before w under the same lock, if a branch depends on
// it.
func (f *function) recheck(w *event) *event {
	if f.search == nil {
		return f.findRecheck(w)
	}
	return lookUpOrFind(f.search.rechecks, w, f.findRecheck)
}

func (f *function) findRecheck(w *event) *event {
	f.spendSteps(len(f.byName[w.name]))
	for _, r := range f.byName[w.name] {
		if r.op != read || r.inMap != w.inMap || r == w || r.at == w.at || !heldAlike(r, w) || !f.decidesBranch(r) {
			continue
		}
		if f.flow.Leads(r.at, w.at) {
			return r
		}
	}
	return nil
}

// corrected reports whether the variable is asked for once more behind the change u, under the same lock, and
// the answer decides about another change of it: an excess is taken back before others can see it.
//
//	t.n++; if t.n > limit { t.n--; return false }
func (f *function) corrected(u *event) bool {
	if f.search == nil {
		return f.findCorrection(u)
	}
	return lookUpOrFind(f.search.corrected, u, f.findCorrection)
}

func (f *function) findCorrection(u *event) bool {
	f.spendSteps(len(f.byName[u.name]))
	asking := f.askingBehind(u)
	return slices.ContainsFunc(f.byName[u.name], func(w *event) bool {
		return w.op.writes() && w.path == u.path && w.inMap == u.inMap && sameRegion(u, w) && f.flow.Leads(u.at, w.at) &&
			(w.call && w.rechecked || slices.ContainsFunc(asking, func(b *branch) bool {
				return leadingSide(b.at.Block(), w.at.Block()) >= 0
			}))
	})
}

// askingBehind returns the branches that depend on a read of u's variable behind u, in its critical section.
func (f *function) askingBehind(u *event) []*branch {
	f.spendSteps(len(f.branches))
	var found []*branch
	for _, b := range f.branches {
		for r := range b.hits {
			if r.op == read && r.name == u.name && r.path == u.path && sameRegion(u, r) && f.flow.Leads(u.at, r.at) {
				found = append(found, b)
				break
			}
		}
	}
	return found
}

// decidesBranch reports whether some branch depends on the value that r found.
func (f *function) decidesBranch(r *event) bool {
	_, ok := f.hit[r]
	return ok
}

// askedItself reports whether some branch depends on the value that r found, not on contents of the object that
// it leads to.
func (f *function) askedItself(r *event) bool {
	return f.hit[r].itself
}

// heldAlike reports whether one critical section holds both, be it that of a
// caller: no lock of the function's own is held at one and not at the other.
func heldAlike(a, b *event) bool {
	return sameRegion(a, b) || len(a.held) == 0 && len(b.held) == 0 && !a.atomic && !b.atomic
}

// sameRegion reports whether one critical section, of a lock that is not left aside, holds both.
func sameRegion(a, b *event) bool {
	shared := func(x, y []lockset.Held) bool {
		return slices.ContainsFunc(x, func(h lockset.Held) bool {
			return !a.isAside(h) && slices.ContainsFunc(y, func(g lockset.Held) bool {
				return sameLock(h, g) && h.Since == g.Since
			})
		})
	}
	return shared(a.held, b.held) || shared(a.turns, b.turns)
}

// sameLock reports whether two held locks are the same one, as far as their
// names go; without a name their class decides.
func sameLock(a, b lockset.Held) bool {
	if a.Path.Root != nil && b.Path.Root != nil {
		return a.Path == b.Path
	}
	return a.Class != "" && a.Class == b.Class
}
