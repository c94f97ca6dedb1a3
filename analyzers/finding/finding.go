package finding

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// SchemaVersion is the version of the JSON form of a [Finding]. It is raised
// when a field changes its meaning or goes away, not when one is added.
const SchemaVersion = 1

// Status is how far a finding has been proven.
type Status string

const (
	// Lead: a static pass thinks it possible. It is not worth printing, but runs try it first.
	Lead Status = "lead"
	// Suspected: a static pass reports it; no run has shown it.
	Suspected Status = "suspected"
	// Predicted: a run shows an order that could be reversed, but the bug
	// itself did not happen.
	Predicted Status = "predicted"
	// Confirmed: caught in the act. A confirmed finding is never a false alarm.
	Confirmed Status = "confirmed"
)

// Level is how much a suspected finding is worth, by the measured truth of its class; it says nothing about others.
type Level string

const (
	// Likely: about nine in ten of the class are true. It is the level of findings without one.
	Likely Level = ""
	// Possible: at least half of the class are true. Such findings are shown on request only, and do not fail a check.
	Possible Level = "possible"
	// Unlikely: fewer than half of the class are true. Such a finding guides runs and is not shown beside code, as one of
	// the status [Lead].
	Unlikely Level = "lead"
)

// Mode is the kind of one access: to memory, or in findings about
// synchronisation to a lock, channel or WaitGroup.
type Mode string

const (
	Read        Mode = "read"
	Write       Mode = "write" // also read-modify-write such as x++
	AtomicRead  Mode = "atomic-read"
	AtomicWrite Mode = "atomic-write"

	Lock      Mode = "lock"      // or a call that locks
	ReadLock  Mode = "read-lock" // or a call that read-locks
	Leave     Mode = "return"    // of the function, or a panic
	Send      Mode = "send"
	Receive   Mode = "receive"
	CloseChan Mode = "close"
	Add       Mode = "add" // of a WaitGroup, as are Wait and Done
	Wait      Mode = "wait"
	Done      Mode = "done"
	Call      Mode = "call"
)

// modes lists them all.
var modes = []Mode{
	Read, Write, AtomicRead, AtomicWrite,
	Lock, ReadLock, Leave, Send, Receive, CloseChan, Add, Wait, Done, Call,
}

// Modes lists all modes.
func Modes() []Mode { return slices.Clone(modes) }

// Conflicts reports whether two accesses of one location by two goroutines that nothing orders are a data race:
// at least one writes, not both atomic. A close conflicts with a close and a send, and an addition to a
// WaitGroup with a wait.
func Conflicts(a, b Mode) bool {
	switch {
	case a == CloseChan || b == CloseChan:
		return a == CloseChan && b == CloseChan || a == Send || b == Send
	case a == Add || b == Add:
		return a == Wait || b == Wait
	}
	writes := a == Write || a == AtomicWrite || b == Write || b == AtomicWrite
	return writes && !(a.atomic() && b.atomic())
}

func (m Mode) atomic() bool { return m == AtomicRead || m == AtomicWrite }

// Finding is one concurrency bug, suspected or proven. It is data: passes and
// campaigns make findings, and only the report package prints them.
type Finding struct {
	Version int    `json:"version"` // SchemaVersion of the writer
	ID      string `json:"id"`      // see [Finding.ComputeID]
	Code    Code   `json:"code"`
	Status  Status `json:"status"`
	Level   Level  `json:"level,omitempty"`   // of a suspected finding: empty (likely), "possible" or "lead"
	Class   string `json:"class,omitempty"`   // code and kind of evidence: findings of one class are true equally often
	Title   string `json:"title"`             // one line: the fault and the variable
	Message string `json:"message,omitempty"` // a few sentences: why, and how it can go wrong

	Variable Variable `json:"variable"`
	// Accesses holds both sides. The first is the one to look at: the
	// unprotected side, or the later of two alike.
	Accesses []Access `json:"accesses"`
	// Sides are those that the id is made of where they are not the first two accesses: races of two functions on one
	// variable have one id, whichever of their accesses have met.
	Sides []Side `json:"sides,omitempty"`
	// Ordinal distinguishes findings alike in variable and accesses. From 0.
	Ordinal int `json:"ordinal,omitempty"`
	// SameAs are the ids by which this bug is known as well: of further suspicions that a run has confirmed
	// with it, and of the finding of the run alone.
	SameAs []string `json:"same_as,omitempty"`
	// Cause is the id of the finding that heads those of one cause, see [Causes], where there are several. Reports set it.
	Cause string `json:"cause,omitempty"`

	// Apart is, of a suspected finding, the least time in nanoseconds in runs between its two accesses by two goroutines
	// at one address; 0 where these saw none.
	Apart int64 `json:"apart_ns,omitempty"`

	Section  *Section  `json:"section,omitempty"`  // IL2xxx
	Cycle    []Edge    `json:"cycle,omitempty"`    // IL3001
	Evidence *Evidence `json:"evidence,omitempty"` // from runs
	Fix      *Fix      `json:"fix,omitempty"`
	// Notes are further sentences for a reader: the evidence for a guessed
	// guard, other static findings on the same variable, "unobserved in n runs".
	Notes []string `json:"notes,omitempty"`
}

// Side is the part of an access that the id of a finding holds.
type Side struct {
	Function string `json:"function"`
	Expr     string `json:"expr"` // normalised source
}

// OfRuns returns in how many of the runs something was so: "2 of 3 runs".
func OfRuns(n, runs int) string {
	if runs == 1 {
		return fmt.Sprintf("%d of 1 run", n)
	}
	return fmt.Sprintf("%d of %d runs", n, runs)
}

// End is the last line of findings in JSON Lines. A file that was cut, at whatever byte, does not end in it.
type End struct {
	Version  int  `json:"version"`  // SchemaVersion of the writer
	End      bool `json:"end"`      // true; a finding has no such field
	Findings int  `json:"findings"` // how many lines with findings stand above, since the end before

	// Interrupted is whether the command was interrupted, so that findings may be missing.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Minor reports whether f is shown on request only, and fails no build: it is a lead, or suspected and no more than
// possible.
func (f *Finding) Minor() bool {
	return f.Status == Lead || f.Status == Suspected && f.Level != Likely
}

// IsLead reports whether f is there to guide runs: its check knows it to be doubtful, or its class is false more often
// than true.
func (f *Finding) IsLead() bool {
	return f.Status == Lead || f.Status == Suspected && f.Level == Unlikely
}

// Standing returns how far f has been proven, in one word for people: its status, or the level of a suspected finding
// that is shown on request only.
func (f *Finding) Standing() string {
	if f.Status == Suspected && f.Level != Likely {
		return string(f.Level)
	}
	return string(f.Status)
}

// NearMiss returns how near two goroutines came at the accesses of f in runs, as a sentence without its beginning; ""
// where they did not.
func (f *Finding) NearMiss() string {
	if f.Apart == 0 {
		return ""
	}
	least := time.Duration(f.Apart)
	for unit := time.Second; unit >= time.Microsecond; unit /= 1000 {
		if least >= unit {
			least = least.Round(unit / 10)
			break
		}
	}
	return fmt.Sprintf("two goroutines came to one address at its accesses, %v apart at least", least)
}

// Places lists the places of f: its accesses, and the steps of a cycle of locks.
func (f *Finding) Places() (all []Position) {
	for _, a := range f.Accesses {
		all = append(all, a.Position)
	}
	for _, e := range f.Cycle {
		all = append(all, e.Position)
	}
	return all
}

// RenameFiles sets the file of every place of f, a patch's text aside, to the result of name for it.
func (f *Finding) RenameFiles(name func(string) string) {
	for i := range f.Accesses {
		f.Accesses[i].File = name(f.Accesses[i].File)
	}
	if f.Section != nil {
		for _, p := range f.Section.Places() {
			p.File = name(p.File)
		}
	}
	for i := range f.Cycle {
		f.Cycle[i].RenameFiles(name)
	}
}

// Variable names the accessed variable, the same in every instance: a field (Type and Name), a package variable
// (Type empty), or a local that closures capture (Function and Name).
type Variable struct {
	Package  string `json:"package"`            // import path
	Type     string `json:"type,omitempty"`     // named type that holds the field, without package
	Function string `json:"function,omitempty"` // function that declares a captured local
	Name     string `json:"name"`               // field (path "stats.n" through embedded structs), variable, or local
	Kind     string `json:"kind,omitempty"`     // "field", "global", "captured", "map", "deref", …
}

// memoryAt begins the name of memory of which only places are known where it is accessed.
const memoryAt = "memory accessed at "

// MemoryAt names memory of which only a place is known where it is accessed.
func MemoryAt(file string, line int) string { return fmt.Sprintf("%s%s:%d", memoryAt, file, line) }

// IsMemory reports whether the variable is memory of which only a place is known; see [MemoryAt].
func (v Variable) IsMemory() bool { return strings.HasPrefix(v.Name, memoryAt) }

// String returns the variable as a Go programmer would say it: pkg.Type.field.
func (v Variable) String() string {
	if v.IsMemory() {
		return v.Name
	}
	s := v.Package
	for _, part := range []string{v.Type, v.Function, v.Name} {
		if part != "" {
			s += "." + part
		}
	}
	return s
}

// Position is a place in a source file. Line and Column are 1-based, columns
// count bytes, the end is exclusive; a zero EndLine means no end is known.
type Position struct {
	File      string `json:"file"` // slash path, relative to the main module's root where it lies below it
	Line      int    `json:"line"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"end_line,omitempty"`
	EndColumn int    `json:"end_column,omitempty"`
}

func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Access is one side of a finding.
type Access struct {
	Position
	Package  string `json:"package"`          // import path of the accessing code
	Function string `json:"function"`         // "F", "(*T).M", "F.func1"
	Expr     string `json:"expr"`             // normalised source of the accessing expression
	Source   string `json:"source,omitempty"` // the source line, trimmed
	Mode     Mode   `json:"mode"`
	// Locks are the locks known to be held: access paths such as "c.mu",
	// with " (read)" where only the read side is held.
	Locks []string `json:"locks,omitempty"`
	// Role is the goroutine that runs this code, in words: "goroutine started at …", "any goroutine
	// may call it". Empty where nothing is known.
	Role      string     `json:"role,omitempty"`
	Goroutine *Goroutine `json:"goroutine,omitempty"` // as seen in a run
	// Step is the place of the access in the interleaving that a run has shown, from 1; 0 is none. Of a split
	// section the entry is 1, the access in between 2, and the end 3.
	Step int `json:"step,omitempty"`
}

// Goroutine is one goroutine as a run saw it.
type Goroutine struct {
	ID      int64   `json:"id"`
	Stack   []Frame `json:"stack"`             // innermost first, the access's own function at 0
	Created []Frame `json:"created,omitempty"` // the go statement; empty for the main goroutine
	// Labels are those that the program has given the goroutine by runtime/pprof, where they were asked for.
	Labels []Label `json:"labels,omitempty"`
}

// Label is a label of a goroutine.
type Label struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Name names the goroutine for people: its number and its labels.
func (g *Goroutine) Name() string {
	name := fmt.Sprintf("goroutine %d", g.ID)
	if len(g.Labels) == 0 {
		return name
	}
	var all []string
	for _, l := range g.Labels {
		all = append(all, fmt.Sprintf("%s=%q", l.Key, l.Value))
	}
	return name + " {" + strings.Join(all, ", ") + "}"
}

// Frame is one frame of a stack.
type Frame struct {
	Function string `json:"function"` // as the runtime writes it: "path/pkg.(*T).M"; a literal has its name in the source
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// Name returns the function for people: the runtime writes the dots in the last element of a path as %2e.
func (f Frame) Name() string {
	if name, err := url.PathUnescape(f.Function); err == nil {
		return name
	}
	return f.Function
}

// Section is an atomic section (AtomRace 3.2): an entry, its ends, and for
// each end the kinds of remote access that may come between.
type Section struct {
	Kind string `json:"kind"` // "load-and-store", "test-and-use", "invariant", "user"
	// Function has both halves, as in [Access]; empty where it is that of the
	// finding's first access.
	Function string   `json:"function,omitempty"`
	Entry    Position `json:"entry"`
	// EntryCall is the call in Function that leads to the entry, where that
	// lies in a callee.
	EntryCall *Position `json:"entry_call,omitempty"`
	End       Position  `json:"end"`
	EndCall   *Position `json:"end_call,omitempty"`
	Allows    []Mode    `json:"allows"` // the A set of End
	// More are further ends, one for each way on which the section ends elsewhere.
	More []SectionEnd `json:"more_ends,omitempty"`
	// Length: a length is tested or elements are walked, so that an access to
	// any key of the map splits the section.
	Length bool `json:"length,omitempty"`
	// Own: the test asks whether the variable equals a value of the goroutine's own, which another one need not have.
	Own bool `json:"own,omitempty"`
	// Also are sections of the same kind on the same variable that the
	// finding speaks of too. They have no Also of their own.
	Also []Section `json:"also,omitempty"`
}

// SectionEnd is a further end of a [Section].
type SectionEnd struct {
	Position
	Call   *Position `json:"call,omitempty"`
	Allows []Mode    `json:"allows"`
}

// Places lists the positions of s, for callers that rewrite file names.
func (s *Section) Places() []*Position {
	all := []*Position{&s.Entry, &s.End}
	for _, p := range []*Position{s.EntryCall, s.EndCall} {
		if p != nil {
			all = append(all, p)
		}
	}
	for i := range s.More {
		all = append(all, &s.More[i].Position)
		if s.More[i].Call != nil {
			all = append(all, s.More[i].Call)
		}
	}
	for i := range s.Also {
		all = append(all, s.Also[i].Places()...)
	}
	return all
}

// Edge of a lock-order cycle: To was acquired while From was held.
type Edge struct {
	From     string    `json:"from"` // lock class
	To       string    `json:"to"`
	Position Position  `json:"position"` // where To is waited for, or the call that does so
	Function string    `json:"function"`
	Via      string    `json:"via,omitempty"`   // the lock at the end of the call: "(*T).M at file.go:12 locks it"
	Since    *Position `json:"since,omitempty"` // where From was locked
}

// RenameFiles sets the file of the edge's places to the result of name for it.
func (e *Edge) RenameFiles(name func(string) string) {
	e.Position.File = name(e.Position.File)
	if e.Since != nil {
		e.Since.File = name(e.Since.File)
	}
}

// ShortLock returns Type.field of a lock class, or the name of a package variable.
func ShortLock(class string) string {
	last := class[strings.LastIndexByte(class, '/')+1:]
	if _, name, ok := strings.Cut(last, "."); ok {
		return name
	}
	return last
}

// Evidence is the result of a campaign of monitored runs.
type Evidence struct {
	Engine string `json:"engine"`           // "watch": caught at the same moment; "hb", "race": nothing orders them
	Run    int    `json:"run"`              // first run that showed it, from 1
	Runs   int    `json:"runs"`             // n: runs made
	Hits   int    `json:"hits"`             // k: runs that showed it
	Count  int    `json:"count"`            // collisions over all runs
	Seed   uint64 `json:"seed"`             // seed of that run
	Test   string `json:"test,omitempty"`   // package of the test binary that ran
	Replay string `json:"replay,omitempty"` // one command that runs it again
	// ReplayHits of ReplayRuns tries of that command have shown it again; none where
	// it was not tried.
	ReplayHits int  `json:"replay_hits,omitempty"`
	ReplayRuns int  `json:"replay_runs,omitempty"`
	Harmful    bool `json:"harmful,omitempty"` // tests failed in a run that showed it
	// Pattern of a split section: local, remote, local access, such as R-w-R.
	Pattern string `json:"pattern,omitempty"`
	// Changed: the split changed the outcome. The end overwrote another value
	// than the entry had read, or the entry's test would have come out
	// otherwise at the end.
	Changed bool `json:"changed,omitempty"`
	// Blocked is the runtime's reason for goroutines that nothing can wake any more, such as "chan send";
	// further ones follow behind a comma.
	Blocked string `json:"blocked,omitempty"`
	// Holders are where the locks were acquired that the blocked goroutines wait for, as far as the run knows.
	Holders []Holder `json:"holders,omitempty"`
	// Error is that of the runtime or of package sync, which ended the run and is
	// the evidence.
	Error string `json:"error,omitempty"`
}

// Holder is a goroutine that holds a lock for which another one waits for ever.
type Holder struct {
	Position        // where it acquired the lock
	Function string `json:"function"` // around that
	Lock     string `json:"lock"`     // as the source names it there
	ID       int64  `json:"id"`       // of the goroutine
	// Returned reports whether that call of the function has returned, or the goroutine has ended: nobody is left to
	// release the lock, unless a caller does that.
	Returned bool `json:"returned,omitempty"`
}

// Verdict is the judgement on a patch.
type Verdict string

const (
	// Verified: a run has shown the bug, and with the patch all checks pass and
	// the runs do not show it any more.
	Verified Verdict = "verified"
	// Manual: the checks that were made pass, but no run has shown the bug, or
	// not all checks were made. Somebody has to read the patch.
	Manual Verdict = "manual"
	// Draft: the checks that were made pass, but some obligations could not be shown. Each is a doubt of the fix. A
	// draft is read and judged by a person: it is no quick fix and no suggestion.
	Draft Verdict = "draft"
	// Withheld: there is no patch.
	Withheld Verdict = "withheld"
)

// Fix is a proposed patch, or the reason why there is none.
type Fix struct {
	Strategy string  `json:"strategy"` // such as "guard", "atomic", "unlock"
	Verdict  Verdict `json:"verdict,omitempty"`
	Diff     string  `json:"diff,omitempty"` // unified, `git apply` takes it at the module's root
	// Checked lists the checks that the patch passed, in order.
	Checked []string `json:"checked,omitempty"`
	// Withheld is the reason why the patch is not offered; empty if it is.
	Withheld string `json:"withheld,omitempty"`
	// Rejected are the strategies that would have come first, each with the reason why it was not used.
	Rejected []string `json:"rejected,omitempty"`
	// Notes name the code that the patch leaves as it is, and other remarks for its reader.
	Notes []string `json:"notes,omitempty"`
	// Includes are the ids of other findings: their patches are part of this one, as they change the same files.
	Includes []string `json:"includes,omitempty"`
	// Doubts are the assumptions of a draft that could not be shown, the heaviest first; other fixes have none.
	Doubts []Doubt `json:"doubts,omitempty"`
}

// Offered reports whether there is a patch that tools may hand on without a person that weighs its doubts.
func (f *Fix) Offered() bool { return f != nil && f.Diff != "" && f.Verdict != Draft }

// Validate reports the first thing that makes f unfit to be handed on.
func (f *Finding) Validate() error {
	switch {
	case f.Version != SchemaVersion:
		return fmt.Errorf("finding: version %d, want %d", f.Version, SchemaVersion)
	case !f.Code.Known():
		return fmt.Errorf("finding: unknown code %q", f.Code)
	case !slices.Contains([]Status{Lead, Suspected, Predicted, Confirmed}, f.Status):
		return fmt.Errorf("finding: unknown status %q", f.Status)
	case !slices.Contains([]Level{Likely, Possible, Unlikely}, f.Level):
		return fmt.Errorf("finding: unknown level %q", f.Level)
	case f.Title == "":
		return errors.New("finding: no title")
	case f.Variable.Name == "" && len(f.Cycle) == 0:
		return errors.New("finding: neither variable nor lock cycle")
	case len(f.Accesses) == 0 && len(f.Cycle) == 0:
		return errors.New("finding: no access")
	case f.Status == Confirmed && f.Evidence == nil:
		return errors.New("finding: confirmed without evidence")
	case f.ID != f.ComputeID():
		return fmt.Errorf("finding: id %q is not that of its contents", f.ID)
	}
	// The parts: each access, and a fix that is either there or explained.
	for i, a := range f.Accesses {
		if err := a.validate(); err != nil {
			return fmt.Errorf("finding: access %d: %w", i, err)
		}
	}
	if fix := f.Fix; fix != nil && (fix.Diff == "") == (fix.Withheld == "") {
		return errors.New("finding: a fix has either a diff or a reason why it is withheld")
	}
	if fix := f.Fix; fix != nil && (fix.Verdict == Draft) != (len(fix.Doubts) > 0) {
		return errors.New("finding: a draft has doubts, and another fix has none")
	}
	return nil
}

func (a *Access) validate() error {
	switch {
	case a.File == "" || a.Line <= 0:
		return fmt.Errorf("no position (%q, line %d)", a.File, a.Line)
	case a.Function == "" || a.Expr == "":
		return errors.New("no function or expression")
	case !slices.Contains(modes, a.Mode):
		return fmt.Errorf("unknown mode %q", a.Mode)
	}
	return nil
}
