package simulation

import (
	"go/token"
	"math"
	"slices"
	"sort"
)

// fact is a decision about a symbol: the range of a number, in which true is 1.
type fact struct {
	ref    *ref
	lo, hi int64
}

func (st *state) factOf(r *ref) fact {
	i := sort.Search(len(st.facts), func(i int) bool { return st.facts[i].ref.id >= r.id })
	if i < len(st.facts) && st.facts[i].ref == r {
		return st.facts[i]
	}
	f := fact{r, math.MinInt64, math.MaxInt64}
	if r.name == "len" || r.name == "cap" {
		f.lo = 0
	}
	return f
}

func (st *state) addFact(f fact) {
	i := sort.Search(len(st.facts), func(i int) bool { return st.facts[i].ref.id >= f.ref.id })
	facts := slices.Clone(st.facts)
	if i < len(facts) && facts[i].ref == f.ref {
		facts[i] = f
	} else {
		facts = slices.Insert(facts, i, f)
	}
	st.facts = facts
}

// forget drops the facts of the symbol that an instruction makes anew. Its objects stay, with nothing known of
// them, as goroutines of an earlier round of a loop may hold addresses within them.
func (st *state) forget(root *ref) {
	depends := func(r *ref) bool { return slices.Contains(r.roots, root) }
	if slices.ContainsFunc(st.facts, func(f fact) bool { return depends(f.ref) }) {
		st.facts = slices.DeleteFunc(slices.Clone(st.facts), func(f fact) bool { return depends(f.ref) })
	}
	for i, o := range st.objs {
		if o != nil && o.base.kind == symbol && depends(o.base.ref) {
			st.objs[i] = &object{base: o.base, escaped: true}
		}
	}
}

// forgetMemory drops the decisions about objects from outside, which others have changed by now:
//
//	for len(c.streams) > 0 { c.cond.Wait() }
func (st *state) forgetMemory() {
	st.facts = slices.DeleteFunc(slices.Clone(st.facts), func(f fact) bool { return f.ref.inMemory() })
}

// inMemory reports whether a symbol depends on the contents of an object from outside.
func (r *ref) inMemory() bool {
	switch r.name {
	case "load", "field", "lookup", "has", "element", "len":
		return true
	}
	return slices.ContainsFunc(r.vals, func(v value) bool { return v.kind == symbol && v.ref.inMemory() })
}

// counted reports whether it is decided how large a number is that is computed from unknown values, or how several
// numbers compare of which one is: a loop that runs so often need not fit another one that does.
//
//	for i := 0; i < n/2; i++ { go work(done) }; …; for i := 0; i < 2+n; i++ { <-done }
//	wg.Add(len(a) + len(b)); for … range a { go work(&wg) }; for … range b { go work(&wg) }
func (st *state) counted() bool {
	isComputed := func(r *ref) bool { return slices.Contains([]string{"+", "-", "*", "/"}, r.name) }
	numbers, computed := map[*ref]bool{}, false
	for _, f := range st.facts {
		if isComputed(f.ref) && f.lo == f.hi {
			return true
		}
		if f.ref.name != "<" && f.ref.name != "<=" || f.ref.vals[0].kind != symbol {
			continue
		}
		by := f.ref.vals[0].ref
		numbers[by] = true
		computed = computed || isComputed(by)
	}
	return computed && len(numbers) > 1
}

// compare returns x op y: a bool, or a symbol for one.
func (m *machine) compare(op token.Token, x, y value) value {
	switch {
	case x.kind == number && y.kind == number:
		return truthValue(compareNumbers(op, x.n, y.n))
	case op == token.EQL || op == token.NEQ:
		eq := m.evalEqual(x, y)
		if op == token.NEQ {
			return m.negate(eq)
		}
		return eq
	}
	// Ranges are kept of symbols on the left.
	if x.kind == number {
		x, y, op = y, x, map[token.Token]token.Token{token.LSS: token.GTR, token.GTR: token.LSS, token.LEQ: token.GEQ,
			token.GEQ: token.LEQ}[op]
	}
	// Of two that are not known x <= y is the same question as y < x.
	if y.kind != number && (op == token.GTR || op == token.LEQ) {
		x, y, op = y, x, map[token.Token]token.Token{token.GTR: token.LSS, token.LEQ: token.GEQ}[op]
	}
	switch op {
	case token.GTR:
		return m.negate(m.in.internTerm("<=", 0, x, y))
	case token.GEQ:
		return m.negate(m.in.internTerm("<", 0, x, y))
	}
	return m.in.internTerm(op.String(), 0, x, y)
}

func compareNumbers(op token.Token, x, y int64) bool {
	switch op {
	case token.EQL:
		return x == y
	case token.NEQ:
		return x != y
	case token.LSS:
		return x < y
	case token.LEQ:
		return x <= y
	case token.GTR:
		return x > y
	}
	return x >= y
}

func (m *machine) evalEqual(x, y value) value {
	switch {
	case x == y:
		return yes
	case x.kind != symbol && y.kind != symbol && (x.kind != record || y.kind != record):
		if x.kind == boxed && y.kind == boxed {
			return m.evalEqual(x.ref.vals[0], y.ref.vals[0])
		}
		return no
	}
	if y.kind == symbol && (x.kind != symbol || x.ref.id > y.ref.id) {
		x, y = y, x
	}
	return m.in.internTerm("==", 0, x, y)
}

func (m *machine) negate(v value) value {
	switch {
	case v.kind == number:
		return numberValue(1 - v.n)
	case v.ref != nil && v.ref.name == "!":
		return v.ref.vals[0]
	}
	return m.in.internTerm("!", 0, v)
}

// decided returns the value of condition v, if that is known.
func (st *state) decided(v value) (holds, known bool) {
	if v.kind == number {
		return v.n != 0, true
	}
	r := v.ref
	if r == nil {
		return false, false
	}
	if r.name == "!" {
		holds, known = st.decided(r.vals[0])
		return !holds, known
	}
	if f := st.factOf(r); f.lo == f.hi {
		return f.lo != 0, true
	}
	if len(r.vals) != 2 || r.vals[1].kind != number || r.vals[0].kind != symbol {
		return false, false
	}
	// A comparison with a constant, of which the range may say enough.
	f, c := st.factOf(r.vals[0].ref), r.vals[1].n
	switch r.name {
	case "==":
		if f.lo == c && f.hi == c {
			return true, true
		}
		return false, c < f.lo || c > f.hi
	case "<":
		return f.hi < c, f.hi < c || f.lo >= c
	case "<=":
		return f.hi <= c, f.hi <= c || f.lo > c
	}
	return false, false
}

// assume adds that condition v, which is not decided, holds or not.
func (st *state) assume(v value, holds bool) {
	r := v.ref
	if r.name == "!" {
		st.assume(r.vals[0], !holds)
		return
	}
	b := truthValue(holds).n
	st.addFact(fact{r, b, b})
	if len(r.vals) != 2 || r.vals[1].kind != number || r.vals[0].kind != symbol {
		return
	}
	// Of a comparison with a constant the range learns, too.
	f, c := st.factOf(r.vals[0].ref), r.vals[1].n
	switch {
	case r.name == "==" && holds:
		f.lo, f.hi = c, c
	case r.name == "==" && c == f.lo:
		f.lo++
	case r.name == "==" && c == f.hi:
		f.hi--
	case r.name == "<" && holds:
		f.hi = c - 1
	case r.name == "<":
		f.lo = c
	case r.name == "<=" && holds:
		f.hi = c
	case r.name == "<=":
		f.lo = c + 1
	default:
		return
	}
	st.addFact(f)
}

// impliesMany reports whether condition v, if it holds or not, says that a number or a
// collection is larger than the scope: its loops are run no further.
func impliesMany(v value, holds bool) bool {
	if v.kind != symbol {
		return false
	}
	r := v.ref
	if r.name == "!" {
		return impliesMany(r.vals[0], !holds)
	}
	return !holds && (r.name == "<" || r.name == "<=") && len(r.vals) == 2 && r.vals[1].kind == number &&
		r.vals[1].n >= maxElements
}
