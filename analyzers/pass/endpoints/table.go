package endpoints

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// relation is the way in which the tested variable bears on the use.
type relation int

const (
	decides   relation = iota // a branch on the variable, or on its length, decides about a use of the variable
	closes                    // a branch on a flag decides about state that some function changes together with the flag
	bounds                    // no branch: a length that was taken is an index or an end in the use
	exchanges                 // no branch: the value found is the result, and the use stores something else
)

// rule is one line of the table: a test and a use that are no single step, and their harm.
type rule struct {
	relation relation
	use      op
	gaps     gap   // the gaps that may lie between the two
	provided facts // all of them hold
	butNot   facts // none of them holds
	what     consequence
	fixture  string // the function of testdata/src/table that only this line finds
}

// consequence is the effect of the use, in the past tense, as reports print it.
type consequence string

const (
	added   consequence = "added to"
	cleared consequence = "cleared"
	follows consequence = "followed"
	indexes consequence = "indexed"
	raised  consequence = "raised"
	removed consequence = "removed"
	sent    consequence = "sent on"
	changed consequence = "set"
	taken   consequence = "taken from"
	retried consequence = "tested again, without effect on the result,"
)

// table is the whole opinion about which tests and uses matter. The first line
// that fits counts. Without any lock (the gap unlocked) only objects that are
// made lazily are judged: other tests without a lock are races, which other
// checks report.
var table = []rule{
	// A counter or a list passes a limit, or is taken below nothing.
	{decides, grow, locked, nil, facts{asksOnlyWhatCallsMade, accountedFor, limitIsSoft, hasTurn}, raised, "raise"},
	{decides, shrink, locked, nil, facts{asksOnlyWhatCallsMade, accountedFor, hasTurn}, taken, "take"},

	// An entry: one more than the limit, or a second one that replaces the first.
	{decides, insert, locked, facts{asksLength, compares}, nil, added, "addEntry"},
	{decides, insert, anyGap, facts{sameEntry, ownObject}, facts{isThere, asksMore}, changed, "makeEntry"},
	{decides, insert, locked, facts{sameEntry, isAccountedFor}, facts{isThere, asksMore}, changed, "countEntry"},

	// Another value: the greater of two that is not, or a second object that replaces the first.
	{decides, set, locked, facts{ordersBySize, storesCompared}, nil, changed, "setGreater"},
	{decides, set, anyGap, facts{isAbsent, ownObject}, facts{asksMore, madeAnyway}, changed, "makeValue"},

	// A mark: in a set of limited size, or for work that is done twice.
	{decides, mark, locked, facts{usesMap, asksLength, compares}, nil, added, "addMark"},
	{decides, mark, locked, facts{usesMap, sameEntry, hasEffect}, facts{isThere, asksLength, asksCalls}, changed,
		"markEntry"},
	{decides, mark, locked, facts{hasEffect}, facts{usesMap, isThere, asksLength, asksCalls}, changed, "markValue"},

	// The value found is disposed of, which a second goroutine does again.
	{decides, reset, released, facts{isThere, handsOn}, facts{asksMore, usesMap, byCall}, cleared, "clear"},

	// An entry that may be another one by now, or a removal with effects that happen twice.
	{decides, remove, locked, facts{sameEntry, asksInside}, nil, removed, "removeExpired"},
	{decides, remove, locked, facts{sameEntry, isThere, hasEffect}, facts{answersOnce}, removed, "removeEntry"},

	// Two callers take the value that only one of them has replaced.
	{exchanges, mark, locked, nil, nil, changed, "exchangeMark"},
	{exchanges, reset, locked, nil, nil, cleared, "exchangeReset"},

	// A value is used as if it were there still.
	{decides, read, released, facts{foundSome, answersAlike}, nil, retried, "takeIfLeft"},
	{decides, read, released, facts{foundSome, looksUp, sameEntry, dereferences}, facts{useByCall}, follows,
		"followEntry"},
	{decides, read, released, facts{foundSome, usesLoad, asksLength, usesAsList}, facts{useByCall}, indexes, "index"},
	{decides, read, released, facts{foundSome, usesLoad, dereferences}, facts{useByCall, asksLength}, follows, "follow"},
	{decides, read, atomics, facts{isThere, loadsAtomically, dereferences}, facts{byCall, asksMore}, follows,
		"followAtomic"},

	// An entry that is added after the flag was set stays: the setter has cleared the rest.
	{closes, grow, released, nil, nil, raised, "raiseAfterClose"},
	{closes, insert, released, nil, nil, added, "insertAfterClose"},
	{closes, read, released | unlocked, facts{sendsOnChannel}, nil, sent, "sendAfterClose"},

	// An element that is used after the flag was set is no longer there: the setter has cleared the rest.
	{closes, read, released, facts{usesLoad, usesAsList}, facts{asksItsLength}, indexes, "indexAfterClose"},
	{closes, read, released, facts{usesLoad, dereferences}, nil, follows, "followAfterClose"},

	// The list may be shorter than the length that was taken.
	{bounds, read, released, nil, nil, indexes, "sliceByLength"},
}

// leads is the table of tests and uses that do harm with some stored values alone, which only runs show. It is
// asked where the first one has no line.
var leads = []rule{
	// An entry or a value is put where none was, perhaps another one by each goroutine.
	{decides, insert, released, facts{sameEntry}, facts{isThere, asksMore}, changed, "putEntry"},
	{decides, set, released, facts{isAbsent}, facts{asksMore, madeAnyway}, changed, "putValue"},
	{exchanges, set, locked, nil, nil, changed, "exchangeValue"},
}

// findRule returns the line that fits, and whether it is one of leads; or nil: a second goroutine
// that comes in between does no harm that is visible.
func (c *checker) findRule(f *function, p pair) (r *rule, lead bool) {
	holds := func(fact fact) bool { return fact(c, f, p) }
	for _, lines := range [][]rule{table, leads} {
		i := slices.IndexFunc(lines, func(r rule) bool {
			return r.relation == p.relation && r.use == p.use.op && r.gaps&p.gap != 0 &&
				!slices.ContainsFunc(r.butNot, holds) && allHold(r.provided, holds)
		})
		if i >= 0 {
			return &lines[i], lead
		}
		lead = true
	}
	return nil, false
}

func allHold(list facts, holds func(fact) bool) bool {
	return !slices.ContainsFunc(list, func(f fact) bool { return !holds(f) })
}

// A fact is a predicate on a pair that lines of the table ask for.
type (
	fact  func(*checker, *function, pair) bool
	facts []fact
)

// Properties of the test.

// isThere reports whether the variable or entry is there on the side of the
// branch that leads to the use: not nil, not zero.
func isThere(_ *checker, _ *function, p pair) bool { return p.present() > 0 }

// isAbsent reports whether the variable or entry is not there on that side.
func isAbsent(_ *checker, _ *function, p pair) bool { return p.present() < 0 }

// asksLength reports whether the length of a slice or map is asked for.
func asksLength(_ *checker, _ *function, p pair) bool { return p.out.Length }

// compares reports whether the value is compared with another.
func compares(_ *checker, _ *function, p pair) bool { return p.out.Compares }

// ordersBySize reports whether it is compared by size.
func ordersBySize(_ *checker, _ *function, p pair) bool { return p.out.Ordered }

// asksInside reports whether the test asks for contents of the entry, not for the entry itself.
func asksInside(_ *checker, _ *function, p pair) bool { return p.out.Inside }

// asksCalls reports whether a call computes the answer, which may have found
// out more than the value.
func asksCalls(_ *checker, _ *function, p pair) bool { return p.out.Computed }

// asksOnlyWhatCallsMade reports whether such an answer is not compared with anything.
func asksOnlyWhatCallsMade(_ *checker, _ *function, p pair) bool {
	return p.out.Computed && !p.out.Compares
}

// asksMore reports whether the test asks for more than presence.
func asksMore(_ *checker, _ *function, p pair) bool {
	return p.out.Compares || p.out.Length || p.out.Computed
}

// foundSome reports whether the test has found that there is something: the
// value is there, or the length is compared.
func foundSome(_ *checker, _ *function, p pair) bool {
	return p.present() > 0 || p.out.Length && p.out.Compares
}

// Properties of the use.

// usesMap reports whether the use accesses an entry of a map.
func usesMap(_ *checker, _ *function, p pair) bool { return p.use.inMap }

// sameEntry reports whether test and use have the same key of the map.
func sameEntry(_ *checker, _ *function, p pair) bool { return sameKey(p.test.key, p.use.key) }

// ownObject reports whether the use stores an object of its own, so that to
// store it twice is not the same as once.
func ownObject(c *checker, _ *function, p pair) bool { return p.use.made || c.distinct(p.use.value) }

// useByCall reports whether the use lies in a callee, or is an atomic operation.
func useByCall(_ *checker, _ *function, p pair) bool { return p.use.call || p.use.atomic }

// byCall reports whether one of the two lies in a callee.
func byCall(_ *checker, _ *function, p pair) bool { return p.use.call || p.test.call }

// storesCompared reports whether the value that is stored is one side of the comparison:
//
//	if v > t.max { t.max = v }
func storesCompared(_ *checker, _ *function, p pair) bool {
	b, ok := p.branch.at.Cond.(*ssa.BinOp)
	v := p.use.value
	return ok && v != nil && (stripConversions(b.X) == stripConversions(v) || stripConversions(b.Y) == stripConversions(v))
}

// looksUp reports whether the use is a plain look-up, m[k] without comma-ok.
func looksUp(_ *checker, _ *function, p pair) bool {
	look, ok := p.use.at.(*ssa.Lookup)
	return ok && !look.CommaOk
}

// usesLoad reports whether the use loads a field or variable.
func usesLoad(_ *checker, _ *function, p pair) bool {
	_, ok := p.use.at.(*ssa.UnOp)
	return ok
}

// loadsAtomically reports whether the use is an atomic load.
func loadsAtomically(_ *checker, _ *function, p pair) bool { return p.use.atomic && !p.use.inMap }

// usesAsList reports whether elements of the loaded list are accessed.
func usesAsList(_ *checker, _ *function, p pair) bool { return indexed(p.use.at.(ssa.Value)) }

// asksItsLength reports whether the length of the loaded list is asked for, such as by a loop over it.
func asksItsLength(_ *checker, _ *function, p pair) bool {
	return slices.ContainsFunc(*p.use.at.(ssa.Value).Referrers(), func(ref ssa.Instruction) bool {
		call, ok := ref.(*ssa.Call)
		if !ok {
			return false
		}
		b, ok := call.Call.Value.(*ssa.Builtin)
		return ok && b.Name() == "len"
	})
}

// dereferences reports whether the pointer that is read is followed without
// being compared with nil.
func dereferences(_ *checker, _ *function, p pair) bool { return followed(p.use.at.(ssa.Value)) }

// sendsOnChannel reports whether something is sent on the channel that is read.
func sendsOnChannel(_ *checker, _ *function, p pair) bool { return sentOn(p.use.own.Value) }

// Facts that excuse the use, or make it matter.

// accountedFor reports whether the change is made up of the value found, so that changes in between stay:
//
//	n := t.n; …; t.n -= n
func accountedFor(_ *checker, f *function, p pair) bool { return f.accounted(p.test, p.use) }

// limitIsSoft reports whether the amount varies and the test does not ask
// whether it fits, so that the limit is passed anyhow.
func limitIsSoft(_ *checker, _ *function, p pair) bool {
	a := p.use.amount
	return p.use.varying() && (a == nil || !dependsOn(p.branch.at.Cond, withoutSign(a)))
}

// withoutSign returns n for -n.
func withoutSign(v ssa.Value) ssa.Value {
	if minus, ok := v.(*ssa.UnOp); ok && minus.Op == token.SUB {
		return stripConversions(minus.X)
	}
	return v
}

// hasTurn reports whether the variable is found equal to a number that the goroutine has drawn by an atomic Add: no
// other one has the same, so that nobody else goes this way before the use.
//
//	n := t.next.Add(1) - 1; for t.serving.Load() != n { … }; …; t.serving.Add(1)
func hasTurn(_ *checker, _ *function, p pair) bool {
	b, ok := p.branch.at.Cond.(*ssa.BinOp)
	if !ok || !(b.Op == token.EQL && p.way == 0 || b.Op == token.NEQ && p.way == 1) {
		return false
	}
	return isDrawnNumber(b.X) || isDrawnNumber(b.Y)
}

// isDrawnNumber reports whether v is the result of an atomic Add of a constant, or differs from it by a constant.
func isDrawnNumber(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Convert:
		return isDrawnNumber(v.X)
	case *ssa.BinOp:
		_, constant := v.Y.(*ssa.Const)
		return constant && (v.Op == token.ADD || v.Op == token.SUB) && isDrawnNumber(v.X)
	case *ssa.Call:
		if ir.Atomic(&v.Call) != "Add" {
			return false
		}
		by, constant := v.Call.Args[len(v.Call.Args)-1].(*ssa.Const)
		return constant && !ir.IsZero(by)
	}
	return false
}

// madeAnyway reports whether the use calls a function that others call too,
// and that makes a new value whether there is one or not: creating it twice is
// harmless.
func madeAnyway(c *checker, _ *function, p pair) bool { return c.renews(p.use) }

// hasEffect reports whether the side of the branch that leads to the use does
// something else that others may see, such as to count, so that it matters to do it twice.
func hasEffect(c *checker, f *function, p pair) bool { return c.effect(f, p) || len(f.counters(p)) > 0 }

// isAccountedFor reports whether a number beside the map counts the entries that the use makes.
func isAccountedFor(c *checker, f *function, p pair) bool {
	return slices.ContainsFunc(f.counters(p), func(w *event) bool { return c.counted(p.use, w) })
}

// answersOnce reports whether the value found is a channel, and something is sent on it: the entry is that of a
// request, and its key comes once.
//
//	mu.RLock(); ch, ok := pending[id]; mu.RUnlock(); if ok { ch <- answer; mu.Lock(); delete(pending, id); … }
func answersOnce(_ *checker, _ *function, p pair) bool {
	look, ok := p.test.at.(*ssa.Lookup)
	if !ok {
		return false
	}
	for b := range p.only {
		for _, instr := range b.Instrs {
			if send, ok := instr.(*ssa.Send); ok && foundBy(send.Chan, look) {
				return true
			}
		}
	}
	return false
}

// foundBy reports whether v is the result of the look-up.
func foundBy(v ssa.Value, look *ssa.Lookup) bool {
	x, ok := v.(*ssa.Extract)
	return v == look || ok && x.Tuple == look
}

// handsOn reports whether the value found is handed on, on the way to the use, or a method of it is called.
func handsOn(_ *checker, _ *function, p pair) bool { return handedOn(p.test.own.Value, p) }
