// Package evidence holds the contract between the injected monitor and the
// campaign: the records that a monitored process appends, one JSON line and
// one write each, so that each record stays whole when the process dies.
//
// The monitor (dynamic/rt) writes this format by hand, to stay free of
// encoding/json; a test there reads its output back through this package.
// The form of a record is published as schema.json beside this file. The package
// imports the standard library only.
package evidence

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// SchemaVersion is the version of a [Record].
const SchemaVersion = 1

// Kind of a record.
type Kind string

const (
	Start Kind = "start" // a monitored process began
	Race  Kind = "race"  // two goroutines were at conflicting accesses at the same moment
	Split Kind = "split" // an access of another goroutine came into an atomic section
	// Came: such an access has come, and the section has not ended yet. One that
	// ends in a panic leaves no more than this.
	Came Kind = "came"
	// Used: after a remote access, the owner was about to read the variable again, before
	// any end: the value had changed, and the entry's test, if there is one, would have
	// another result. End is that read. It is a bug if that read panics.
	Used  Kind = "used"
	Stats Kind = "stats" // counters so far; the last one of a process counts
	Gaps  Kind = "gaps"  // how far apart two goroutines came to an address
	Leak  Kind = "leak"  // a goroutine that nothing can wake any more
	// Deadlock: goroutines wait in a circle for locks that each other hold.
	Deadlock Kind = "deadlock"
	// Order: goroutines have acquired locks in orders that make a circle, or one has read-locked
	// a lock twice.
	Order Kind = "order"
	// Held: the plan of the run has held a goroutine between two locks.
	Held Kind = "held"
	// Triggers: which functions have led to the acquisition of a lock.
	Triggers Kind = "trigger"
	// Unordered: two goroutines made conflicting accesses, A before B, that nothing
	// orders. The happens-before engine writes it; its sides have no site.
	Unordered Kind = "unordered"
	// Stepped: in a run that isolates places, a goroutine was about to take a step; see [Step].
	Stepped Kind = "step"
	// Clock: the watch for production has seen two conflicting accesses of which nothing orders A before B. With Met they
	// were made at the same moment. The sides have no site.
	Clock Kind = "clock"
	// Changed: the variable changed while the goroutine of A was held at that access; the write was not seen.
	Changed Kind = "changed"
	Watched Kind = "watched" // what the watch for production has seen and taken so far; the last one of a process counts
	Dropped Kind = "lost"    // the losses of the happens-before engine so far; the last one of a process counts
)

// Record is one line of evidence.
type Record struct {
	Version int    `json:"v"`
	Kind    Kind   `json:"kind"`
	Run     int    `json:"run"`  // run of the campaign, from 1
	Seed    uint64 `json:"seed"` // seed of that run
	PID     int    `json:"pid"`

	// Race: A was in its window when B arrived. Unordered: A was made before B.
	A     *Side  `json:"a,omitempty"`
	B     *Side  `json:"b,omitempty"`
	Count uint64 `json:"count,omitempty"` // collisions of this pair in this process so far

	Split *SplitSection `json:"split,omitempty"` // Split, Came, Used

	Leak *LeakedGoroutine `json:"leak,omitempty"` // Leak

	// Deadlock, Order: the circle, in which each goroutine waits for a lock of the next one,
	// and the last one for a lock of the first one. Held: the goroutine alone.
	Locks []LockStep `json:"locks,omitempty"`
	// Order: neither the start nor the end of one goroutine orders the acquisitions. Held:
	// another goroutine came meanwhile and waited for the lock. Clock: see there.
	Met bool `json:"met,omitempty"`
	// Clock: A's variable changed while A's goroutine was held there; B was not seen then, but writes the variable as
	// well.
	Like bool `json:"like,omitempty"`

	Trigger *Trigger `json:"trigger,omitempty"` // Triggers
	Step    *Step    `json:"step,omitempty"`    // Stepped

	Counters *Counters `json:"counters,omitempty"` // Stats
	Lost     *Lost     `json:"lost,omitempty"`     // Dropped
	Reached  []uint32  `json:"reached,omitempty"`  // Stats: sites seen on the slow path
	Armed    []uint32  `json:"armed,omitempty"`    // Stats: sites that held a window
	// Near holds the sites of near misses: an access by another goroutine, one
	// of the two a write, was the last one before or the next one after at the
	// same place. Ordered accesses do that too, so it proves nothing, but a
	// later run that treats these sites as suspicious makes its noise where
	// races can be.
	Near []uint32 `json:"near,omitempty"` // Stats
	// Ended reports which ends of which sections their owners have come to, split
	// or not.
	Ended []SectionEnd `json:"ended,omitempty"` // Stats
	// Unwatched reports how often sections were entered that the monitor did not watch: others
	// may have come in between unseen. OutOfTurn is how often others were inside by then, in a
	// run where goroutines take turns.
	Unwatched []SectionCount `json:"unwatched,omitempty"`   // Stats
	OutOfTurn []SectionCount `json:"out_of_turn,omitempty"` // Stats

	Gaps []Gap `json:"gaps,omitempty"` // Gaps: those that are new or have changed

	Global  bool            `json:"global,omitempty"`  // Changed: the variable is one of a package
	Origin  *Origin         `json:"origin,omitempty"`  // of a process that was watched in production
	Watched *WatchedCounter `json:"watched,omitempty"` // Watched
}

// Gap is how far apart two goroutines came to one address, one of them to write
// there: a hint where a window has to be, and how long. Ordered accesses leave gaps
// too.
type Gap struct {
	First   uint32 `json:"first"`    // site of the one that came first
	Then    uint32 `json:"then"`     // site of the other
	LeastNS int64  `json:"least_ns"` // from the last visit of First to one of Then, the least so far
	MostNS  int64  `json:"most_ns"`  // from the first visit of First, the most so far
}

// LockStep is a goroutine that acquires one lock while it holds another.
type LockStep struct {
	GID   int64    `json:"gid"`
	Holds LockSite `json:"holds"`
	Wants LockSite `json:"wants"`
	AtNS  int64    `json:"at_ns,omitempty"` // Order: when it first did, on the monitor's clock
	Stack string   `json:"stack,omitempty"` // at the acquisition, as runtime.Stack prints it; not of Held
	// Deadlock: it wants the lock Holds itself. It waits there to write, which keeps new readers out.
	Queued bool `json:"queued,omitempty"`
}

// LockSite is where a lock is acquired.
type LockSite struct {
	Site  uint64 `json:"site"` // as sites.LockUses numbers them
	Reads bool   `json:"reads,omitempty"`
}

// Trigger is the acquisition of a lock and the functions on the stack there, the innermost first, as many as the
// schedule of the run asks for: DrFinder's may-trigger relations.
type Trigger struct {
	Lock      uint64   `json:"lock"` // as sites.LockUses numbers them
	Functions []string `json:"functions"`
}

// The steps of goroutines in a run that isolates places.
const (
	StepRead    = "read"    // an access
	StepWrite   = "write"   // an access
	StepLock    = "lock"    // a lock was acquired
	StepUnlock  = "unlock"  // a lock is about to be released
	StepHeld    = "held"    // the run holds the goroutine, as it has come to a place
	StepResumed = "resumed" // and does no longer
	StepCame    = "came"    // the goroutine has come, while another one is held, to a place that the run names
	StepLate    = "late"    // the run could not keep it away for long enough
)

// Step is a step of a goroutine in a run that isolates places.
type Step struct {
	What string `json:"what"`
	GID  int64  `json:"gid"`
	Site uint32 `json:"site,omitempty"` // of the access
	Use  uint64 `json:"use,omitempty"`  // of the lock, as sites.LockUses numbers them
	Addr uint64 `json:"addr"`           // of the variable, or of the lock
	Size uint64 `json:"size"`
	Key  uint64 `json:"key,omitempty"` // of a map's element; 0 is all of the map
	// Value is that of the variable before the access, as in [Side].
	Value *uint64 `json:"value,omitempty"`
	Stack string  `json:"stack"` // as that of [Side]
}

// LeakedGoroutine is a blocked goroutine that, as the garbage collector has found,
// nothing can wake any more.
type LeakedGoroutine struct {
	// Hang: it was found because a test waits for ever, and not after the tests.
	Hang bool `json:"hang"`
	// Stack is the goroutine as runtime/pprof prints it, with the state and "(leaked)" in the first line: without that
	// where the holder of the lock that it waits for has ended, and the collector has proved nothing.
	Stack  string      `json:"stack"`
	Holder *LockHolder `json:"holder,omitempty"` // of the lock that it waits for, where that is known
}

// LockHolder is a goroutine that holds a lock.
type LockHolder struct {
	GID   int64  `json:"gid"`
	Site  uint64 `json:"site"`            // where it acquired the lock, as sites.LockUses numbers them
	Stack string `json:"stack,omitempty"` // where it is now; empty where it has ended
}

// SectionEnd is how often the owner of a section has come from its entry to
// one of its ends.
type SectionEnd struct {
	Section uint32 `json:"section"` // id in the plan
	Site    uint32 `json:"site"`    // of the end
	Times   int    `json:"times"`
}

// SectionCount is how often something has happened to a section.
type SectionCount struct {
	Section uint32 `json:"section"` // id in the plan
	Times   int    `json:"times"`
}

// SplitSection is an atomic section into which another goroutine came with an
// access that the section's end does not allow.
type SplitSection struct {
	Section uint32 `json:"section"`       // id in the plan
	Entry   *Side  `json:"entry"`         // the owner's first access
	Remote  *Side  `json:"remote"`        // the access in between, noted directly before it happened
	End     *Side  `json:"end,omitempty"` // the owner's last access; not of Came
	// Changed reports whether the split changed the outcome: the end read another
	// value than the entry, or overwrote another value than the entry read. It
	// is false where that is not certain.
	Changed bool `json:"changed"`
	// Overturned reports whether the entry's test would have had another result at
	// the end. Otherwise the write of the other goroutine was overwritten.
	Overturned bool `json:"overturned,omitempty"`
	// Between reports whether the values show that the remote access has happened before
	// the end, and that the section was not one step for it: its value is there at the
	// end, or it has read a value that was there neither before the section nor behind.
	Between bool `json:"between,omitempty"`
	// Serial reports whether the values show that the split was harmless: the section only tests its variable, and the
	// write took that farther from another result.
	Serial bool `json:"serial,omitempty"`
	// Replaced and Stored are the values of the variable directly before and behind
	// an end that stores another value: the first four words. Of a section over a whole
	// map they are its lengths. They are empty if not known; Replaced alone is missing
	// if a map did not have the key.
	Replaced []uint64 `json:"replaced,omitempty"`
	Stored   []uint64 `json:"stored,omitempty"`
	GapNS    int64    `json:"gap_ns"` // from before the entry to behind the end
}

// Pattern names the interleaving as AVIO does: local, remote, local, such as
// R-w-R.
func (s *SplitSection) Pattern() string {
	letter := func(side *Side, read, write string) string {
		if side.Write {
			return write
		}
		return read
	}
	return letter(s.Entry, "R", "W") + "-" + letter(s.Remote, "r", "w") + "-" + letter(s.End, "R", "W")
}

func (s *SplitSection) validate(ended bool) error {
	switch {
	case s == nil || s.Entry == nil || s.Remote == nil || ended != (s.End != nil):
		return errors.New("evidence: split without an entry, a remote access, or the end that it has met")
	case s.Entry.GID == s.Remote.GID || ended && s.Entry.GID != s.End.GID:
		return errors.New("evidence: split whose entry and end are not of one goroutine, or whose remote access is")
	case s.Overturned && !s.Changed:
		return errors.New("evidence: split that overturned a test and changed nothing")
	case s.Serial && s.Changed:
		return errors.New("evidence: split that changed something and was harmless")
	case s.Changed && !s.Remote.Write:
		return errors.New("evidence: split by a read that changed the outcome")
	}
	return nil
}

// Side is one side of a collision, or one access of a split section.
type Side struct {
	Site  uint32 `json:"site"`
	Write bool   `json:"write"`
	// Atomic reports whether the access is made by sync/atomic. Two such do not race.
	Atomic bool   `json:"atomic,omitempty"`
	Addr   uint64 `json:"addr"`
	Size   uint64 `json:"size"`
	GID    int64  `json:"gid"`
	// Value is that of the memory when B came, its Size bytes as a number, if
	// they are 1, 2, 4 or 8 at an address that is a multiple of that. Only B has it.
	Value *uint64 `json:"value,omitempty"`
	// Labels are those of the goroutine, where a program in production was asked for them.
	Labels map[string]string `json:"labels,omitempty"`
	// Stack is the text of runtime.Stack for the goroutine, with its
	// "created by" lines, the monitor's own frames still on top.
	Stack string `json:"stack"`
}

// Counters counts the work of the monitor and, above all, its losses.
type Counters struct {
	Slow       uint64 `json:"slow"`        // accesses that took the slow path
	Windows    uint64 `json:"windows"`     // windows held
	Collisions uint64 `json:"collisions"`  // conflicting accesses caught, repeats included
	DelayNS    uint64 `json:"delay_ns"`    // noise, in all
	NoSlot     uint64 `json:"no_slot"`     // windows not held: table full
	OnStack    uint64 `json:"on_stack"`    // windows not held: address on the goroutine's stack
	OverBudget uint64 `json:"over_budget"` // windows not held: noise budget used up
	BadSite    uint64 `json:"bad_site"`    // accesses with a site the table does not know
	NotWritten uint64 `json:"not_written"` // records that could not be written
	NoGap      uint64 `json:"no_gap"`      // gaps not noted: table full
	// Goroutines that came to how many Events, at which a schedule decided that counts them; of the largest process.
	Goroutines uint64 `json:"goroutines,omitempty"`
	Events     uint64 `json:"events,omitempty"`
	// Held counts the goroutines that DrFinder held before a lock, Thrashed those of them that had to go on before
	// another one had acquired a lock of the class.
	Held     uint64 `json:"held,omitempty"`
	Thrashed uint64 `json:"thrashed,omitempty"`
}

// Add adds the counts of other runs.
func (c *Counters) Add(n *Counters) {
	c.Slow += n.Slow
	c.Windows += n.Windows
	c.Collisions += n.Collisions
	c.DelayNS += n.DelayNS
	c.NoSlot += n.NoSlot
	c.OnStack += n.OnStack
	c.OverBudget += n.OverBudget
	c.BadSite += n.BadSite
	c.NotWritten += n.NotWritten
	c.NoGap += n.NoGap
	c.Held += n.Held
	c.Thrashed += n.Thrashed
	c.Goroutines, c.Events = max(c.Goroutines, n.Goroutines), max(c.Events, n.Events)
}

// Lost counts the losses of the happens-before engine. Each may have hidden a race.
type Lost struct {
	Cells  uint64 `json:"cells"`  // accesses forgotten
	Frames uint64 `json:"frames"` // callers missing in stacks
	Slots  uint64 `json:"slots"`  // goroutines that share clocks with one that nothing orders before them
	Clocks uint64 `json:"clocks"` // releases that a clock could not count
	Pages  uint64 `json:"pages"`  // of 4 kB of the heap, with forgotten accesses
}

// Validate reports the first thing that makes r unfit to be used.
func (r *Record) Validate() error {
	if r.Version != SchemaVersion {
		return fmt.Errorf("evidence: version %d, want %d", r.Version, SchemaVersion)
	}
	// Each kind of record has fields that it needs.
	switch r.Kind {
	case Start:
		return nil
	case Dropped:
		return require(r.Lost != nil, "losses without counters")
	case Race, Unordered, Clock:
		return r.validateRace()
	case Changed:
		return require(r.A != nil, "a change without an access")
	case Watched:
		return require(r.Watched != nil, "a watched process without counters")
	case Stats:
		return require(r.Counters != nil, "stats without counters")
	case Split, Used:
		return r.Split.validate(true)
	case Came:
		return r.Split.validate(false)
	case Gaps:
		return require(len(r.Gaps) > 0, "gaps without any")
	case Deadlock, Order:
		return r.validateCircle()
	case Held:
		return require(len(r.Locks) == 1, "a held goroutine without its locks")
	case Triggers:
		return require(r.Trigger != nil && len(r.Trigger.Functions) > 0, "an acquisition without functions")
	case Stepped:
		return require(r.Step != nil && r.Step.Stack != "", "step without a stack")
	case Leak:
		return require(r.Leak != nil && r.Leak.Stack != "", "leaked goroutine without a stack")
	}
	return fmt.Errorf("evidence: unknown kind %q", r.Kind)
}

func (r *Record) validateCircle() error {
	gids := map[int64]bool{}
	for _, l := range r.Locks {
		if gids[l.GID] || l.Stack == "" {
			return errors.New("evidence: circle of locks with one goroutine twice, or without a stack")
		}
		gids[l.GID] = true
	}
	return require(len(r.Locks) > 0, "circle of locks without a goroutine")
}

func (r *Record) validateRace() error {
	switch {
	case r.A == nil || r.B == nil:
		return errors.New("evidence: race without both sides")
	case r.Kind == Race && r.A.GID == r.B.GID: // cleanups run on one goroutine, and are not ordered among themselves
		return errors.New("evidence: race of a goroutine with itself")
	case !r.A.Write && !r.B.Write:
		return errors.New("evidence: race of two reads")
	}
	return require(!r.A.Atomic || !r.B.Atomic, "race of two atomic accesses")
}

// require returns an error that states the problem, unless ok.
func require(ok bool, problem string) error {
	if ok {
		return nil
	}
	return errors.New("evidence: " + problem)
}

// Bad counts the lines of a file that are no valid record.
type Bad struct {
	Lines int
	First error // why the first of them is none, with its line and column; nil if there is none
}

// String returns the count in words, with the place of the first one.
func (b Bad) String() string {
	if b.Lines == 1 {
		return fmt.Sprintf("1 line of evidence is not readable: %v", b.First)
	}
	return fmt.Sprintf("%d lines of evidence are not readable, the first one since: %v", b.Lines, b.First)
}

// Read reads the records of one file. Lines that are no valid record (a last
// line cut short by a crash, foreign output) are counted in bad, never lost
// silently; err is that of reading only.
func Read(r io.Reader) (records []Record, bad Bad, err error) {
	br := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := br.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var rec Record
			fault := json.Unmarshal(line, &rec)
			if fault == nil {
				fault = rec.Validate()
			}
			if fault == nil {
				records = append(records, rec)
			} else {
				bad.add(n, fault)
			}
		}
		if err == io.EOF {
			return records, bad, nil
		}
		if err != nil {
			return records, bad, fmt.Errorf("reading evidence: %w", err)
		}
	}
}

// add counts line n, which is no record because of err.
func (b *Bad) add(n int, err error) {
	b.Lines++
	if b.First != nil {
		return
	}
	column := int64(1)
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &syntax) {
		column = max(1, syntax.Offset)
	} else if errors.As(err, &wrong) {
		column = max(1, wrong.Offset)
	}
	b.First = fmt.Errorf("line %d, column %d: %w", n, column, err)
}

// ByProcess sorts records by the process that wrote them; a start record begins
// another one, since numbers of processes are used again.
func ByProcess(records []Record) [][]Record {
	var all [][]Record
	current := map[int]int{} // process id -> index
	for _, r := range records {
		i, known := current[r.PID]
		if !known || r.Kind == Start {
			i = len(all)
			current[r.PID] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], r)
	}
	return all
}
