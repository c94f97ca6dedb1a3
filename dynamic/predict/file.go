package predict

import (
	"fmt"
	"os"
)

// Step is an event at a place: a goroutine accesses a variable, or acquires a lock.
type Step struct {
	Place
	Goroutine     int32 // a number in the trace
	Write, Atomic bool
}

// Found is the predictions of a trace, in places.
type Found struct {
	Races     [][2]Step // in the order of the trace
	Deadlocks [][4]Step // the locks that the first goroutine holds and wants, and those that the second holds and wants
	Splits    []FoundSplit
	Events    int
	Cut       bool // the trace had no room for all events
	Untried   int  // see Result
}

// FoundSplit is a section that another order splits, and its steps: the entry, the access of the other goroutine, and
// the end.
type FoundSplit struct {
	Section, End int // indices
	Steps        [3]Step
}

// Create makes a trace file that a process may write: see hb/inject/trace.go.
func Create(file string) error {
	head, size := Head()
	if err := os.WriteFile(file, head, 0o600); err != nil {
		return fmt.Errorf("making a file for the trace: %w", err)
	}
	if err := os.Truncate(file, size); err != nil {
		return fmt.Errorf("making a file for the trace: %w", err)
	}
	return nil
}

// FromFile predicts from the trace file that a program has written, races, deadlocks, and which of the sections are
// split. It needs memory for all events: about 100 bytes for each of at most [MostEvents].
func FromFile(file, program string, sections Sections) (*Found, error) {
	data, err := readTrace(file)
	if err != nil {
		return nil, fmt.Errorf("reading the trace: %w", err)
	}
	trace, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("reading the trace: %w", err)
	}
	symbols, err := ReadSymbols(program)
	if err != nil {
		return nil, err
	}
	step := func(i int) Step {
		e := &trace.Events[i]
		return Step{symbols.Place(e.PC), e.G, e.Op == Write, e.Atomic}
	}
	// Events are predicted; their places are returned.
	p := newPredictor(trace.Events)
	r := p.predict()
	found := &Found{Events: len(trace.Events), Cut: trace.Cut}
	for _, s := range p.splits(trace, symbols, sections) {
		found.Splits = append(found.Splits,
			FoundSplit{s.Section, s.End, [3]Step{step(s.Entry), step(s.Remote), step(s.Second)}})
	}
	found.Untried = r.Untried
	for _, race := range r.Races {
		found.Races = append(found.Races, [2]Step{step(race.First), step(race.Second)})
	}
	for _, d := range r.Deadlocks {
		found.Deadlocks = append(found.Deadlocks,
			[4]Step{step(d.FirstHeld), step(d.First), step(d.SecondHeld), step(d.Second)})
	}
	return found, nil
}

// readTrace returns a trace file as far as it was written to.
func readTrace(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, headSize)
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, err
	}
	data := make([]byte, headSize+min(eventsOf(head), MostEvents)*eventSize)
	_, err = f.ReadAt(data, 0)
	return data, err
}
