package guards

import (
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/excuse"
)

// question is an access without the guard of its variable, and one that holds the guard.
type question struct {
	c *checker
	v *accesses.Variable
	g *guard
	a *accesses.Access // does not hold the guard
	b *accesses.Access // holds it; nil in the table of blameless
}

// blameless are the reasons for which an access needs no lock, whatever others do.
var blameless = excuse.Table[question]{
	{Name: "completes", Reason: "it is part of the code that sets the object up, before others reach it",
		Fixture: "guardedby/testdata/src/apart",
		Holds:   func(q question) bool { return q.a.Completes() }},
	{Name: "reads-own", Reason: "the function that makes the object reads it before it starts goroutines on it",
		Holds: func(q question) bool { return q.a.MadeHere() && q.a.BeforeStart() && !q.a.Writes() }},
	{Name: "makes-first", Reason: "it is the only store of a map or list, and its users would find nil before it",
		Fixture: "guardedby/testdata/src/siblings",
		Holds:   func(q question) bool { return makesFirst(q.v, q.a) }},
	{Name: "under-holders", Reason: "it calls a method of an inner object under a lock, perhaps that of a holder of both",
		Holds: func(q question) bool { return len(q.a.Inner) > 0 && len(q.a.Locks.Held()) > 0 }},
}

// excluded are the reasons for which the two are not made at the same time, besides those of [accesses.Orders].
var excluded = excuse.Table[question]{
	{Name: "common-lock", Reason: "a lock that the one surely holds, the other holds or may hold",
		Fixture: "mixedlocks/testdata/src/perhaps",
		Holds:   func(q question) bool { return accesses.MayCommonLock(q.a, q.b) }},
	{Name: "lock-outlives", Reason: "functions return with the guard held, so that the unguarded access may be under it",
		Fixture: "guardedby/testdata/src/branches",
		Holds:   func(q question) bool { return q.c.mayBeOrdered(q.b) }},
	{Name: "shut-out", Reason: "the unguarded access comes after a flag is set under the guard that keeps the other away",
		Fixture: "guards/shut_flag",
		Holds:   func(q question) bool { return q.c.shutOut(q.a, q.b) }},
}

// doubtful are the reasons for which a suspect is only a lead.
var doubtful = excuse.Table[question]{
	{Name: "renews", Reason: "one of the two makes the object as new, probably before it is used",
		Fixture: "guards/made_new",
		Holds:   func(q question) bool { return q.a.Renews() || q.b.Renews() }},
	{Name: "set-before", Reason: "only the set-up writes the variable, and the reader seems to know that it is over",
		Fixture: "guardedby/testdata/src/leads",
		Holds:   func(q question) bool { return q.c.setBefore(q.v, q.a, q.b) }},
	{Name: "unseen", Reason: "nothing shows that the method of one of the two is called",
		Fixture: "guards/unused_method",
		Holds:   func(q question) bool { return q.c.unseen(q.a) || q.c.unseen(q.b) }},
	{Name: "held-by-callers", Reason: "all calls of the exported function that the package shows hold the lock",
		Fixture: "guards/callers_hold_it",
		Holds:   func(q question) bool { return q.c.heldByCallers(q.a, q.b) }},
	{Name: "far-lock", Reason: "the lock lies in another object than the variable",
		Holds: func(q question) bool { return !q.c.annotated(q.v) && !q.g.near }},
	{Name: "no-meeting", Reason: "no two goroutines are seen to reach the two",
		Fixture: "meeting/cleared-when-it-has-ended",
		Holds:   func(q question) bool { return !q.c.annotated(q.v) && !q.c.seenToMeet(q.a, q.b) }},
}

// Excuses lists the reasons for which an access without the guard of its variable is not reported, or as a lead.
func Excuses() []excuse.Excuse {
	return append(append(blameless.List(), excluded.List()...), doubtful.List()...)
}
