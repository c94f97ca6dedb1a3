//go:build interlock_production

package agent

import (
	"syscall"

	"github.com/interlock-go/interlock/dynamic/production/status"
)

// Status returns the state of the watch of this process.
func Status() status.Status {
	a := &process
	a.mu.Lock()
	defer a.mu.Unlock()
	a.out.describe()
	s := status.Status{
		On: a.on, Why: a.why, Budget: 100 * a.settings.budget, Share: 100 * a.budget.last, Races: a.reported,
		Findings: len(a.kept), File: a.settings.file, Dropped: a.out.dropped, Unkept: a.unkept, Program: a.out.program,
		Module: module, Build: a.out.build, PID: syscall.Getpid(), Uncounted: uncounted,
	}
	if !a.ready {
		return s
	}
	var c counters
	ilkCounters(&c)
	s.Means, s.Samples, s.Armed = a.meansText(), c.samples, c.armed
	s.WatchedNS, s.SpentNS = uint64(a.budget.watched), uint64(a.budget.spent())
	_, _, _, _, s.PeriodNS = ilkInfo()
	return s
}

// Races returns the races found so far, the earliest first.
func Races() (all []status.Race) {
	a := &process
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.kept {
		race := p.race
		race.Count = p.count
		all = append(all, race)
	}
	return all
}

// Evidence returns the findings so far as a file of evidence has them: the record of the start, the findings, and the
// counters. Before the first start, it is empty.
func Evidence() []byte {
	a := &process
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ready {
		return nil
	}
	text := a.out.start(a).line()
	for _, p := range a.kept {
		text = append(append(text, p.race.Record...), '\n')
	}
	return append(text, a.out.watched(a).line()...)
}

// mostKept is how many races are kept for the pages.
const mostKept = 256

// keep keeps a race that was written, in the place of the same one as it was before. requires: a.mu.
func (a *agent) keep(p *seenPair, r record, how status.How, sides ...side) {
	if p.race.Sides == nil {
		if len(a.kept) == mostKept {
			a.unkept++
			return
		}
		a.kept = append(a.kept, p)
	}
	line := r.line()
	p.race = status.Race{How: how, Record: string(line[:len(line)-1])}
	for _, s := range sides {
		to := status.Side{
			Write: s.Write && !s.Read, Atomic: s.Atomic, Addr: uint64(a.caught.addr), Goroutine: s.goid,
			Labels: s.named,
		}
		for _, f := range s.frames {
			f.File = relative(f.File)
			to.Frames = append(to.Frames, f)
		}
		p.race.Sides = append(p.race.Sides, to)
	}
}
