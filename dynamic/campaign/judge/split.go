package judge

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stores"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// sighting returns the evidence of a split in the present run.
func (t *Tally) sighting(split *evidence.SplitSection, strength int, pkg string) sighting {
	return sighting{split: *split, run: t.Runs, seed: t.Seed, strength: strength, test: pkg}
}

// better reports whether s shows more than t.
func (s *sighting) better(t *sighting) bool { return s.rank() > t.rank() }

func (s *sighting) rank() int {
	switch {
	case s.proof:
		return 4
	case s.used:
		return 3
	case s.panicked != nil, s.split.Changed:
		return 2
	case s.split.Between && !s.split.Serial:
		return 1
	case s.split.Serial:
		return -1
	}
	return 0
}

// proves reports whether s is a bug whatever the tests do: a section that a user
// declared, which another goroutine has certainly split, or an inferred one with a
// changed outcome that is harm by itself; if not, doubt is why. An access-interleaving
// invariant is only the usual order of the program, so a changed value proves nothing.
func (t *Tally) proves(section *plan.Section, s *evidence.SplitSection) (proof bool, doubt string) {
	switch section.Kind {
	case plan.Invariant:
		return false, ""
	case plan.UserSection:
		return s.Between || s.Changed, ""
	}
	if !s.Changed {
		return false, ""
	}
	doubt = t.source().Doubt(section, s)
	return doubt == "", doubt
}

// sight takes up a split, and reports whether it is the first that proves its
// section broken.
func (t *Tally) sight(section *plan.Section, now sighting) (first bool) {
	id, pkg := section.ID, now.test
	now.proof, now.doubt = t.proves(section, &now.split)
	seen := t.Splits[id]
	if seen == nil {
		seen = &splitSeen{best: now, hits: map[int]bool{}, runs: map[TestRun][]string{}, panicked: map[TestRun]bool{}}
		t.Splits[id] = seen
	} else if now.better(&seen.best) {
		seen.best = now
	}
	seen.count++
	in := TestRun{pkg, t.Runs}
	seen.runs[in] = append(seen.runs[in], now.in())
	seen.panicked[in] = seen.panicked[in] || now.panicked != nil
	if !slices.Contains(t.resting, id) {
		seen.hits[t.Runs] = true
	}
	if now.proof {
		t.Showed(pkg, sectionBug(id))
		first = !t.Proven[id]
		t.Proven[id] = true
	}
	return first
}

// knows reports whether the plan has all that the record names.
func (t *Tally) knows(s *evidence.SplitSection) bool {
	return t.Section(s.Section) != nil && t.plan.Site(s.Entry.Site) != nil && t.plan.Site(s.Remote.Site) != nil &&
		(s.End == nil || t.plan.Site(s.End.Site) != nil)
}

// in returns the test that the split happened in, or "".
func (s *sighting) in() string {
	var all []*finding.Goroutine
	for _, side := range []*evidence.Side{s.split.Entry, s.split.Remote, s.split.End} {
		if side != nil {
			g := stacktext.Parse(side.Stack)
			all = append(all, &g)
		}
	}
	return commonTest(all)
}

// source returns the source code with the stores of sections.
func (t *Tally) source() *stores.Source { return &stores.Source{Plan: t.plan, Packages: t.Pkgs} }

// inside reports whether the goroutine was between the section's entry and the last
// of its ends, as far as lines say.
func (t *Tally) inside(p *stacktext.Panic, s *plan.Section) bool {
	first, last := t.position(s.Entry).Line, 0
	if s.EntryCall != nil {
		first = s.EntryCall.Line
	}
	for _, e := range s.Ends {
		line := t.position(e.Site).Line
		if e.EndCall != nil {
			line = e.EndCall.EndLine
		}
		last = max(last, line)
	}
	for _, f := range p.Goroutine.Stack {
		if strings.HasSuffix(f.Function, "."+s.Function) {
			return first <= f.Line && f.Line <= last
		}
	}
	return false
}

// panicked takes up a process that ended in a panic: where the goroutine was in a
// section into which another had come, the section is split, and its end is the
// panic. Where it panicked at a read of the section's variable, which by then held
// another value, be that the end itself, the split is why.
func (t *Tally) panicked(pkg string, strength int, came []*evidence.Record, crash []byte) {
	p, ok := stacktext.PanicOf(crash)
	if _, fatal := fatalOf(crash); !ok || fatal {
		return
	}
	for _, record := range slices.Backward(came) {
		split := *record.Split
		section := t.Section(split.Section)
		if split.Entry.GID != p.Goroutine.ID || section.Kind == plan.Invariant || !t.inside(&p, section) {
			continue
		}
		used := record.Kind != evidence.Came
		if used && !failedAt(&p, t.position(split.End.Site)) {
			continue
		}
		split.End = nil
		now := t.sighting(&split, strength, pkg)
		now.panicked, now.used = &p, used
		t.sight(section, now)
		return // the others came into sections that had ended before
	}
}

// failedAt reports whether the goroutine panicked by an error of the runtime, such as an
// index out of range, on the line, or in a call there that was handed nil.
func failedAt(p *stacktext.Panic, place finding.Position) bool {
	i := slices.IndexFunc(p.Goroutine.Stack, func(f finding.Frame) bool {
		return f.Line == place.Line && strings.HasSuffix(filepath.ToSlash(f.File), "/"+place.File)
	})
	return i == 0 && isRuntimeError(p.Message) || i > 0 && isNil(p.Message)
}

// isRuntimeError reports whether a panic is one of the runtime about a value: nil, out of range, of another type.
func isRuntimeError(message string) bool {
	return strings.HasPrefix(message, "runtime error: ") || strings.HasPrefix(message, "interface conversion: ") ||
		isNil(message)
}

// isNil reports whether a panic says that a pointer or map is nil.
func isNil(message string) bool {
	return strings.Contains(message, "nil pointer dereference") ||
		strings.Contains(message, "assignment to entry in nil map")
}
