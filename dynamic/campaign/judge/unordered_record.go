package judge

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/userpath"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Take takes up the evidence of one process, and returns how many races it has. A process that has shown none
// has left no evidence.
func (e *Unordered) Take(file, pkg string) (races int, err error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("reading the evidence: %w", err)
	}
	defer f.Close()
	records, bad, err := evidence.Read(f)
	if err != nil {
		return 0, err
	}
	if bad.Lines > 0 {
		e.problem("%s: %v", pkg, bad)
	}
	lost := map[int]*evidence.Lost{} // by process, the last counts
	for _, r := range records {
		switch r.Kind {
		case evidence.Unordered:
			e.add(pkg, e.side(r.A), e.side(r.B))
			races++
		case evidence.Dropped:
			lost[r.PID] = r.Lost
		}
	}
	if len(lost) > 0 {
		e.Forgot++
	}
	for _, l := range lost {
		e.problem("run %d of the tests of %s under the happens-before engine may have missed races: at least %s", e.seen.Runs,
			pkg, missed(l))
	}
	return races, nil
}

// missed returns the losses of the engine in words. It counts up to the last power of two.
func missed(l *evidence.Lost) string {
	var parts []string
	for _, p := range []struct {
		n    uint64
		what string
	}{
		{l.Cells, "%d accesses were forgotten (-hb-memory sets the memory for them)"},
		{l.Pages, "the accesses of %d pages of memory were forgotten (-hb-memory sets the memory for them)"},
		{l.Frames, "%d callers are missing in stacks"},
		{l.Slots, "%d goroutines could not be told apart from earlier ones, as there were too many"},
		{l.Clocks, "%d releases of locks and the like were not told apart, as a goroutine made too many"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf(p.what, p.n))
		}
	}
	return strings.Join(parts, ", ")
}

func (e *Unordered) add(pkg string, a, b exactSide) {
	if a.at.compare(b.at) > 0 {
		a, b = b, a
	}
	key := keyOf(&[2]exactSide{a, b})
	r := e.Races[key]
	if r == nil {
		r = &exactRace{sides: [2]exactSide{a, b}, run: e.seen.Runs, seed: e.seen.Seed, test: pkg, hits: map[int]bool{}}
		e.Races[key] = r
		e.news(pkg)
	}
	if writesOf(a, b) > writesOf(r.sides[0], r.sides[1]) {
		r.sides = [2]exactSide{a, b}
	}
	r.hits[e.seen.Runs] = true
	r.count++
}

// writesOf counts the sides that write.
func writesOf(sides ...exactSide) (n int) {
	for _, s := range sides {
		if writes(s.mode) {
			n++
		}
	}
	return n
}

// unknownFile stands for the file of an access that the engine's history no longer had.
const unknownFile = "?"

// side returns a recorded access, at the innermost place of the main modules that its
// stack has, or else the innermost of all.
func (e *Unordered) side(s *evidence.Side) exactSide {
	g := stacktext.Parse(s.Stack)
	g.ID = s.GID
	userpath.Goroutine(e.cfg.Workspace, &g)
	side := exactSide{goroutine: g, frame: finding.Frame{Function: "?", File: unknownFile, Line: 1}}
	if len(g.Stack) > 0 {
		side.frame = stacktext.UserFrame(g.Stack)
	}
	side.mode = accessMode(s.Write, s.Atomic)
	side.at = place{side.frame.File, side.frame.Line}
	for _, f := range g.Stack { // from the innermost
		if side.kind, side.op = synchronisation(f.Function); side.kind != "" || !stacktext.IsRuntime(f.Function) {
			break
		}
	}
	return side
}

// synchronisation returns the kind of variable that a function of the runtime or of package sync accesses, if it
// is one that must be ordered itself, and the operation.
func synchronisation(function string) (kind string, op finding.Mode) {
	switch {
	case function == "runtime.chansend":
		return plan.KindChannel, finding.Send
	case function == "runtime.closechan":
		return plan.KindChannel, finding.CloseChan
	case function == "sync.(*WaitGroup).Wait":
		return plan.KindWaitGroup, finding.Wait
	case strings.HasPrefix(function, "sync.(*WaitGroup)."):
		return plan.KindWaitGroup, finding.Add
	}
	return "", ""
}
