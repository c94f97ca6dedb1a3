// Package watched makes findings of what the watch for production has left: the files of many instances and builds
// become one list, in which the same race stands once.
//
// A race is predicted: that nothing orders the two accesses holds as far as the decoded instructions are accesses of
// the program and the clocks count all of its releases, which has not been tried for long. Of packages with assembly,
// whose releases no clock counts, the finding has the names. Its variable is named by the source, where that is at hand
// and has one variable on both lines; otherwise by a line.
package watched

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
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

	// Unnamed is how many places [Result.Findings] has left out, as the source does not show the variable: its value
	// changed while a goroutine was held there.
	Unnamed int

	races   map[[2]place]*race
	changes map[place]*race // of which only the first side was seen
}

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
	global    bool               // of a change: the variable is one of a package
	seen      bool               // both accesses were; otherwise the second is one like that which was not seen
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
	r := &Result{races: map[[2]place]*race{}, changes: map[place]*race{}}
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
			builds[rec.Origin.Program+" "+rec.Origin.Build], means[rec.Origin.Means] = true, true
			switch rec.Kind {
			case evidence.Watched:
				last = rec.Watched
			case evidence.Clock:
				r.add(&rec, process{name, n})
			case evidence.Changed:
				r.addChange(&rec, process{name, n})
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
	a, b := sideOf(rec, rec.A), sideOf(rec, rec.B)
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
	seen.note(rec, of)
}

func (r *Result) addChange(rec *evidence.Record, of process) {
	a := sideOf(rec, rec.A)
	seen := r.changes[a.at]
	if seen == nil {
		seen = &race{sides: [2]side{a}, processes: map[process]uint64{}, builds: map[string]bool{}, global: rec.Global}
		r.changes[a.at] = seen
	}
	seen.note(rec, of)
}

// note counts a record.
func (seen *race) note(rec *evidence.Record, of process) {
	seen.processes[of] = max(seen.processes[of], rec.Count)
	seen.builds[rec.Origin.Build] = true
	seen.uncounted = slices.Compact(slices.Sorted(slices.Values(append(seen.uncounted, rec.Origin.Uncounted...))))
}

func sideOf(rec *evidence.Record, s *evidence.Side) side {
	g := stacktext.Parse(s.Stack)
	g.ID = s.GID
	for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
		g.Labels = append(g.Labels, finding.Label{Key: key, Value: s.Labels[key]})
	}
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
	if pkg == "main" { // frames do not have the path of a program
		pkg = rec.Origin.Program
	}
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
	for _, change := range r.changes {
		all[change.sides[0].pkg] = true
	}
	return slices.Sorted(maps.Keys(all))
}
