package accesses

import "github.com/interlock-go/interlock/analyzers/pass/excuse"

// pair is two accesses of which it is asked whether two goroutines may make them at the same time.
type pair struct {
	list *List
	a, b *Access
}

// orders are the reasons for which two accesses to one variable are not made at the same time by two goroutines, or not
// to the same object. Locks are another matter; see [CommonLock].
var orders = excuse.Table[pair]{
	{Name: "one-goroutine", Reason: "the same single goroutine makes both, be it one for each object",
		Fixture: "guards/unexported_type",
		Holds:   pair.isOfOneGoroutine},
	{Name: "own-goroutine", Reason: "each goroutine has an object of its own, which it was started with",
		Fixture: "guardedby/testdata/src/owner",
		Holds:   func(p pair) bool { return p.list.ownGoroutine(p.a, p.b) }},
	{Name: "before-start", Reason: "the one comes before the go statements that lead to the other",
		Fixture: "guards/start_through",
		Holds:   inEitherOrder((*List).beforeStart)},
	{Name: "after-signal", Reason: "the one reads after its function has found a channel of the object closed",
		Fixture: "races/signalled",
		Holds:   inEitherOrder((*List).afterSignal)},
	{Name: "apart", Reason: "the one follows a pointer that leads to no struct which holds the other's",
		Fixture: "guardedby/testdata/src/apart",
		Holds:   inEitherOrder((*List).inDifferentStructs)},
}

// Orders lists the reasons for which two accesses count as ordered, or as made to different objects.
func Orders() []excuse.Excuse { return orders.List() }

// Parallel reports whether two goroutines may make a and b at the same time to one object, as far as is known: if none
// of the reasons in the table of orders holds.
func (l *List) Parallel(a, b *Access) bool { return !orders.Holds(pair{l, a, b}) }

// inEitherOrder returns the question whether the relation holds of the two in one order or the other.
func inEitherOrder(relation func(l *List, a, b *Access) bool) func(pair) bool {
	return func(p pair) bool { return relation(p.list, p.a, p.b) || relation(p.list, p.b, p.a) }
}

// isOfOneGoroutine reports whether the same single goroutine runs both functions.
func (p pair) isOfOneGoroutine() bool {
	single := p.list.Graph.Roles(p.a.Fn).Single()
	return single != nil && single == p.list.Graph.Roles(p.b.Fn).Single()
}
