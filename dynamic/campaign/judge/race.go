package judge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// isWhole reports whether v is all of an object, as a copy of it reads, and field one of its fields.
func isWhole(v, field plan.Variable) bool {
	return v.Name == "*" && v.Type != "" && v.Package == field.Package && v.Type == field.Type
}

// synchronises reports whether a variable is a channel or a WaitGroup.
func synchronises(v plan.Variable) bool { return raceCode(v.Kind) != finding.CaughtInTheAct }

// raceFinding makes the finding of a race, which describes the first of its pairs.
func (t *Tally) raceFinding(cfg *run.Settings, race []run.Pair) *finding.Finding {
	p := race[0]
	c := t.caught[p]
	hits, tries, count := t.rate(race)
	a := t.Access(cfg, c.record.A)
	b := t.Access(cfg, c.record.B)
	// A run cannot tell which side lacks protection; the text decides, so
	// that the same race reads the same each time.
	if cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) < 0 {
		a, b = b, a
	}
	on := t.plan.Site(p[0]).Variable
	if other := t.plan.Site(p[1]).Variable; isWhole(on, other) {
		on = other
	}
	v := finding.Variable(on)
	f := &finding.Finding{
		Code: raceCode(v.Kind), Status: finding.Confirmed,
		Title:    fmt.Sprintf("%s on %s: %s and %s at the same moment", raceName(v.Kind), v, a.Mode, b.Mode),
		Message:  message(v, &a, &b) + t.found(c.record.B),
		Variable: v,
		Accesses: []finding.Access{a, b},
		Evidence: &finding.Evidence{
			Engine: "watch", Run: c.run, Runs: tries, Hits: hits, Count: count, Seed: c.seed, Test: c.test,
		},
	}
	windows := map[string]time.Duration{}
	for id, length := range c.windows {
		windows[t.position(id).String()] = length
	}
	t.replays(cfg, c.strength, windows, f, func(seen *Tally) bool {
		return slices.ContainsFunc(race, func(p run.Pair) bool { return seen.caught[p] != nil })
	})
	if n := t.Runs; n != f.Evidence.Runs {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of the %d runs delayed goroutines at these places; "+
			"the others looked for further races", f.Evidence.Runs, n))
	}
	f.Notes = append(f.Notes, copies(on, t.plan.Site(p[0]), t.plan.Site(p[1]))...)
	return f
}

// copies returns notes on sites that copy the whole object with the field v. In the source that may only show as a
// method with a value receiver.
func copies(v plan.Variable, sites ...*plan.Site) (notes []string) {
	for _, s := range sites {
		if !isWhole(s.Variable, v) {
			continue
		}
		note := fmt.Sprintf("%s:%d accesses all of %s, with its field %s", s.File, s.Line, s.Expr, v.Name)
		if !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return notes
}

// raceCode returns the code of a race on a variable of the kind; operations of synchronisation have codes
// of their own.
func raceCode(kind string) finding.Code {
	switch kind {
	case plan.KindChannel:
		return finding.CloseRaces
	case plan.KindWaitGroup:
		return finding.AddRacesWait
	}
	return finding.CaughtInTheAct
}

// raceName returns the name of a race on a variable of the kind.
func raceName(kind string) string {
	if raceCode(kind) == finding.CaughtInTheAct {
		return "data race"
	}
	return "race"
}

func message(v finding.Variable, a, b *finding.Access) string {
	harm := "the read may see an old or a half-written value"
	switch {
	case a.Mode == finding.CloseChan && b.Mode == finding.CloseChan:
		harm = "the second close panics"
	case v.Kind == plan.KindChannel:
		harm = "a send on the closed channel panics"
	case v.Kind == plan.KindWaitGroup:
		harm = "Wait may return before what was added has begun"
	case v.Kind == plan.KindMap:
		harm = "the map may be corrupted, and the runtime ends the program when it notices"
	case writes(a.Mode) && writes(b.Mode):
		harm = "one of the writes may be lost"
	}
	return fmt.Sprintf("Goroutine %d was about to %s %s in %s while goroutine %d was about to %s it in %s, "+
		"and nothing orders the two: %s.",
		a.Goroutine.ID, verb(a.Mode), a.Expr, a.Function, b.Goroutine.ID, verb(b.Mode), b.Function, harm)
}

// found reports the value of the variable when the second goroutine came.
func (t *Tally) found(b *evidence.Side) string {
	if kind := t.plan.Site(b.Site).Scalar; kind != "" && b.Value != nil {
		return fmt.Sprintf(" The variable held %s at that moment.", scalar(kind, *b.Value))
	}
	return ""
}

// scalar writes a value of a kind as plan.Site.Scalar has it.
func scalar(kind string, v uint64) string {
	switch kind {
	case "bool":
		return fmt.Sprint(v != 0)
	case "int8":
		return fmt.Sprint(int8(v))
	case "int16":
		return fmt.Sprint(int16(v))
	case "int32":
		return fmt.Sprint(int32(v))
	case "int", "int64":
		return fmt.Sprint(int64(v))
	case "float32":
		return fmt.Sprint(math.Float32frombits(uint32(v)))
	case "float64":
		return fmt.Sprint(math.Float64frombits(v))
	case "pointer":
		if v == 0 {
			return "nil"
		}
		return "a pointer other than nil"
	}
	return fmt.Sprint(v)
}

func (t *Tally) race(pkg string, strength int, r *evidence.Record, failed bool) (run.Pair, bool) {
	p := run.MakePair(r.A.Site, r.B.Site)
	t.Showed(pkg, fmt.Sprintf("race %d-%d", p[0], p[1]))
	c := t.caught[p]
	isNew := c == nil
	if isNew {
		c = &caught{
			record: *r, run: t.Runs, seed: t.Seed, strength: strength, test: pkg,
			windows: map[uint32]time.Duration{}, hits: map[int]bool{}, failed: map[string]bool{},
		}
		for _, id := range p {
			if length := t.holds[t.Runs][id]; length > 0 {
				c.windows[id] = length
			}
		}
		t.caught[p] = c
	}
	c.count += int(max(r.Count, 1))
	// A pair that this run was not to arm says nothing of how often it is seen, unless it is seen for the first time.
	if isNew || !slices.Contains(t.known, p) {
		c.hits[t.Runs] = true
	}
	if failed {
		c.failed[pkg] = true
	}
	return p, isNew
}

// lines are the two places of a race, the first in the text first: x = x + 1 in two
// functions is one race, whichever of their reads and writes met.
type lines struct {
	variable plan.Variable
	a, b     place
}

// races groups the pairs that are one race, each group with the pair first that shows
// most: two writes, then the one seen most often.
func (t *Tally) races() (all [][]run.Pair) {
	groups := map[lines]int{}
	for _, p := range t.Pairs() {
		l := t.lines(p)
		i, known := groups[l]
		if !known {
			i = len(all)
			groups[l], all = i, append(all, nil)
		}
		all[i] = append(all[i], p)
	}
	for _, group := range all {
		slices.SortStableFunc(group, func(p, q run.Pair) int {
			return -cmp.Or(cmp.Compare(t.writesOf(p), t.writesOf(q)), cmp.Compare(len(t.caught[p].hits), len(t.caught[q].hits)))
		})
	}
	return all
}

func (t *Tally) lines(p run.Pair) lines {
	a, b := t.plan.Site(p[0]), t.plan.Site(p[1])
	l := lines{a.Variable, place{a.File, a.Line}, place{b.File, b.Line}}
	l.variable.Kind = ""
	if l.b.file < l.a.file || l.b.file == l.a.file && l.b.line < l.a.line {
		l.a, l.b = l.b, l.a
	}
	return l
}

// writesOf counts the sides of p that write.
func (t *Tally) writesOf(p run.Pair) (n int) {
	for _, side := range []*evidence.Side{t.caught[p].record.A, t.caught[p].record.B} {
		if side.Write {
			n++
		}
	}
	return n
}

// rate is in how many runs a race was seen, of those in which one of its pairs was
// armed, and how often in all.
func (t *Tally) rate(group []run.Pair) (hits, tries, count int) {
	seen, armed := map[int]bool{}, map[int]bool{}
	for _, p := range group {
		maps.Copy(seen, t.caught[p].hits)
		for run := 1; run <= t.Runs; run++ {
			if t.arms(p, run) {
				armed[run] = true
			}
		}
		count += t.caught[p].count
	}
	maps.Copy(armed, seen) // runs that showed it without arming it
	return len(seen), len(armed), count
}
