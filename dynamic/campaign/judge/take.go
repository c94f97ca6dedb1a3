package judge

import (
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// news has the pairs and sections that no earlier record had.
type news struct {
	Pairs    []run.Pair
	Sections []uint32 // proven
}

// Add takes up the records of the process p and those that it started.
func (t *Tally) Add(
	pkg string, strength int, records []evidence.Record, p *testproc.Process, problem func(string, ...any),
) (fresh news) {
	strange := 0
	var came []*evidence.Record
	last := map[int]*evidence.Record{} // the latest counters of each process
	for i := range records {
		r := &records[i]
		switch {
		case r.Kind == evidence.Stats:
			last[r.PID] = r
		case r.Kind == evidence.Split && t.knows(r.Split):
			if t.sight(t.Section(r.Split.Section), t.sighting(r.Split, strength, pkg)) {
				fresh.Sections = append(fresh.Sections, r.Split.Section)
			}
			if s := r.Split; s.Between && !s.End.Write { // the value that the end has read may be why it panics later
				came = append(came, r)
			}
		case (r.Kind == evidence.Came || r.Kind == evidence.Used) && t.knows(r.Split):
			came = append(came, r)
		case r.Split != nil:
			strange++
		case r.Kind != evidence.Race:
		case t.plan.Site(r.A.Site) == nil || t.plan.Site(r.B.Site) == nil:
			strange++
		default:
			if p, isNew := t.race(pkg, strength, r, p.TestsFailed()); isNew {
				fresh.Pairs = append(fresh.Pairs, p)
			}
		}
	}
	if p.Outcome == run.Panicked {
		t.panicked(pkg, strength, came, p.Crash)
		t.Fatal(pkg, strength, p.Crash)
	}
	t.ran(pkg, strength, p, last)
	if strange > 0 {
		problem("%d records name sites or sections that the plan does not have", strange)
	}
	lost := t.Counters.NotWritten
	for _, r := range last {
		t.count(r)
	}
	if lost = t.Counters.NotWritten - lost; lost > 0 {
		problem("the monitor could not write %d records", lost)
	}
	return fresh
}

func (t *Tally) count(r *evidence.Record) {
	t.Counters.Add(r.Counters)
	for _, id := range r.Reached {
		t.Reached[id] = true
	}
	for _, id := range r.Armed {
		t.armed[id], t.paused[id] = true, true
	}
	for _, id := range r.Near {
		t.Near[id] = true
	}
	for _, e := range r.Ended {
		t.Ended[e.Section] += e.Times
	}
}
