// Package watched makes findings of what the watch for production has left: the files of many instances and builds
// become one list, in which the same race stands once.
//
// A race is confirmed, unless the program has packages with releases that no clock counts: then it is predicted, and
// the finding names them. Its variable is named by the source, where that is at hand and has one variable on both
// lines; otherwise by a line.
package watched

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Engine is the engine that findings name.
const Engine = "production"

// Result is what several files have shown.
type Result struct {
	Module             string // of the last process
	Processes, Builds  int
	ProgramNS, SpentNS uint64 // processor time, and that of the watch
	Samples, Armed     uint64
	Means              []string
	Unread             []string // a sentence for each file with lines that are not readable

	races    map[[2]place]*race
	programs map[string]bool
}

// Programs returns the import paths of the programs.
func (r *Result) Programs() []string { return slices.Sorted(maps.Keys(r.programs)) }

type place struct {
	file, function string
	line           int
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.function, b.function))
}

// race is one pair of places.
type race struct {
	sides     [2]side // the later one in the text comes first
	met       bool
	seen      bool // both accesses were; otherwise the second is one like that which was not seen
	count     uint64
	processes map[process]uint64 // with the count that each has reported
	builds    map[string]bool
	uncounted []string
}

type side struct {
	at        place
	pkg       string
	mode      finding.Mode
	goroutine finding.Goroutine
}

// process identifies a process over all files.
type process struct {
	file string
	nth  int
}

// Read reads files of evidence.
func Read(files []string) (*Result, error) {
	r := &Result{races: map[[2]place]*race{}, programs: map[string]bool{}}
	builds, means := map[string]bool{}, map[string]bool{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		err = r.read(name, f, builds, means)
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	r.Builds, r.Means = len(builds), slices.Sorted(maps.Keys(means))
	return r, nil
}

func (r *Result) read(name string, from io.Reader, builds, means map[string]bool) error {
	records, bad, err := evidence.Read(from)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if bad.Lines > 0 {
		r.Unread = append(r.Unread, fmt.Sprintf("%s: %v", name, bad))
	}
	for n, records := range evidence.ByProcess(records) {
		var last *evidence.WatchedCounter
		watched := false
		for _, rec := range records {
			if rec.Origin == nil {
				continue // of a test campaign
			}
			watched, r.Module = true, rec.Origin.Module
			r.programs[rec.Origin.Program] = true
			builds[rec.Origin.Program+" "+rec.Origin.Build], means[rec.Origin.Means] = true, true
			switch rec.Kind {
			case evidence.Watched:
				last = rec.Watched
			case evidence.Clock:
				r.add(&rec, process{name, n})
			}
		}
		if watched {
			r.Processes++
		}
		if last != nil {
			r.ProgramNS, r.SpentNS = r.ProgramNS+last.ProgramNS, r.SpentNS+last.SpentNS
			r.Samples, r.Armed = r.Samples+last.Samples, r.Armed+last.Armed
		}
	}
	return nil
}

func (r *Result) add(rec *evidence.Record, of process) {
	a, b := sideOf(rec.A), sideOf(rec.B)
	if comparePlaces(a.at, b.at) < 0 || a.at == b.at && a.mode == finding.Read {
		a, b = b, a
	}
	key := [2]place{a.at, b.at}
	seen := r.races[key]
	if seen == nil {
		seen = &race{sides: [2]side{a, b}, processes: map[process]uint64{}, builds: map[string]bool{}}
		r.races[key] = seen
	}
	seen.met, seen.seen = seen.met || rec.Met, seen.seen || !rec.Like
	seen.processes[of] = max(seen.processes[of], rec.Count)
	seen.builds[rec.Origin.Build] = true
	seen.uncounted = slices.Compact(slices.Sorted(slices.Values(append(seen.uncounted, rec.Origin.Uncounted...))))
}

func sideOf(s *evidence.Side) side {
	g := stacktext.Parse(s.Stack)
	g.ID = s.GID
	frame := finding.Frame{Function: "?", File: "?", Line: 1}
	if len(g.Stack) > 0 {
		frame = stacktext.UserFrame(g.Stack)
	}
	mode := finding.Read
	switch {
	case s.Write && s.Atomic:
		mode = finding.AtomicWrite
	case s.Write:
		mode = finding.Write
	case s.Atomic:
		mode = finding.AtomicRead
	}
	pkg, function := stacktext.SplitName(frame.Function)
	return side{place{frame.File, function, frame.Line}, pkg, mode, g}
}

// Packages returns the packages with accesses of races, for which the source is worth a look.
func (r *Result) Packages() []string {
	all := map[string]bool{}
	for _, race := range r.races {
		for _, s := range race.sides {
			all[s.pkg] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Findings makes a finding of each race. sites are those of the packages whose source is at hand.
func (r *Result) Findings(sites []plan.Site) []*finding.Finding {
	lines := map[place][]plan.Site{}
	for _, s := range sites {
		at := place{file: s.File, line: s.Line}
		lines[at] = append(lines[at], s)
	}
	var all []*finding.Finding
	for _, key := range slices.SortedFunc(maps.Keys(r.races), func(a, b [2]place) int {
		return cmp.Or(comparePlaces(a[0], b[0]), comparePlaces(a[1], b[1]))
	}) {
		all = append(all, r.finding(r.races[key], lines))
	}
	return all
}

func (r *Result) finding(race *race, lines map[place][]plan.Site) *finding.Finding {
	v, found := variable(race, lines)
	f := &finding.Finding{
		Version: finding.SchemaVersion, Code: finding.Unordered, Status: finding.Confirmed, Variable: v,
		Title: fmt.Sprintf("data race on %s: %s and %s that nothing orders", v, race.sides[0].mode, race.sides[1].mode),
		Message: "In production, one goroutine made its access while another one had made, or was about to make, the other " +
			"one, and that one had released nothing: no lock, channel or other synchronisation orders the two.",
	}
	if !race.seen {
		f.Status = finding.Predicted
		f.Title = fmt.Sprintf("data race on %s: %s, and a write like the other one", v, race.sides[0].mode)
		f.Message = "In production, the value changed while a goroutine was held at one of the accesses. The write was not " +
			"seen, but the other access is a write of the variable by another goroutine that was."
	} else if race.met {
		f.Code = finding.CaughtInTheAct
		f.Title = fmt.Sprintf("data race on %s: %s and %s at the same moment", v, race.sides[0].mode, race.sides[1].mode)
		f.Message = "In production, one goroutine was held at its access for a moment, and another one stood at the other " +
			"access meanwhile."
	}
	if race.sides[0].mode == finding.AtomicWrite || race.sides[1].mode == finding.AtomicWrite {
		f.Code = finding.MixedAtomic
	}
	for i := range race.sides {
		f.Accesses = append(f.Accesses, access(&race.sides[i], found[i], v))
	}
	if len(race.uncounted) > 0 {
		f.Status = finding.Predicted
		f.Notes = append(f.Notes, "not confirmed: assembly of these packages may release what no clock counts: "+
			strings.Join(race.uncounted, ", "))
	}
	count := uint64(0)
	for _, n := range race.processes {
		count += n
	}
	f.Evidence = &finding.Evidence{
		Engine: Engine, Run: 1, Runs: r.Processes, Hits: len(race.processes), Count: int(count),
	}
	f.Notes = append(f.Notes, fmt.Sprintf("seen by %d of %d instances, in %d of %d builds", len(race.processes), r.Processes,
		len(race.builds), r.Builds))
	f.ID = f.ComputeID()
	return f
}

// variable returns the variable that both sides access, and the site of each, where the source shows one.
func variable(race *race, lines map[place][]plan.Site) (v finding.Variable, found [2]*plan.Site) {
	both := map[plan.Variable][2]*plan.Site{}
	for i, s := range race.sides {
		sites := lines[place{file: s.at.file, line: s.at.line}]
		for j := range sites {
			site := &sites[j]
			if writes := finding.Mode(site.Mode) == finding.Write; s.mode == finding.Write && !writes {
				continue
			}
			pair := both[site.Variable]
			pair[i] = site
			both[site.Variable] = pair
		}
	}
	maps.DeleteFunc(both, func(_ plan.Variable, pair [2]*plan.Site) bool { return pair[0] == nil || pair[1] == nil })
	if len(both) == 1 {
		for v, pair := range both {
			return finding.Variable(v), pair
		}
	}
	s := race.sides[0]
	return finding.Variable{Package: s.pkg, Name: finding.MemoryAt(path.Base(s.at.file), s.at.line)}, found
}

// access returns a side as a finding has it.
func access(s *side, site *plan.Site, v finding.Variable) finding.Access {
	a := finding.Access{
		Position: finding.Position{File: s.at.file, Line: s.at.line}, Package: s.pkg, Function: s.at.function,
		Expr: v.Name, Mode: s.mode, Goroutine: &s.goroutine,
	}
	if site != nil {
		a.Function, a.Expr, a.Source = site.Function, site.Expr, site.Source
		a.Column, a.EndLine, a.EndColumn = site.Column, site.EndLine, site.EndCol
	}
	return a
}
