package plan

import (
	"errors"
	"fmt"
)

// SchemaVersion is the version of the JSON form of a [Plan].
const SchemaVersion = 1

// Decision is the use that the monitor makes of a site.
type Decision string

const (
	Monitor Decision = "monitor"
	Skip    Decision = "skip"
)

// Reason is why a site is skipped. Every skipped site has one; the rewriter
// may add skips of its own for shapes that it leaves alone.
type Reason string

const (
	// Fresh: the object was allocated in this function and no other
	// goroutine can reach it yet.
	Fresh Reason = "goroutine-local: not shared yet"
	// Stationary: every write of the field comes before its object is shared.
	Stationary Reason = "stationary: written only before it is shared"
	// WholeLocal, WholeNotParallel and WholeStationary are said by an analysis
	// of the whole program, which package pointsto does on request: no second
	// goroutine can reach the object, goroutines that access the variable
	// follow each other, nobody writes it once others can reach its object.
	WholeLocal       Reason = "goroutine-local: no other goroutine of the program can reach it"
	WholeNotParallel Reason = "not parallel: no two goroutines of the program access it at the same time"
	WholeStationary  Reason = "stationary in the whole program: written only before it is shared"
	// Guarded: every access to the field holds the same lock. It is no proof,
	// as the lock is known by its path; so a part of these sites is monitored,
	// another one each time.
	Guarded Reason = "always guarded: every access holds the same lock"
	// NeverInstrument: a //go:nosplit, linkname or norace function, or a
	// package of the never-instrument table.
	NeverInstrument Reason = "function must not be instrumented"
	// CgoFile: the file imports "C".
	CgoFile Reason = "cgo file"
	// InitialValue: the initial value of a package variable, outside function
	// literals. gc turns many of them into data, and a call would make code of
	// them that runs in another order. It is not proven that nobody else runs
	// then: an initialiser or init function before it may have started a
	// goroutine.
	InitialValue Reason = "initial value of a package variable, perhaps computed by the compiler"
	// UnsafeArithmetic: a conversion between uintptr and unsafe.Pointer, which
	// keeps its meaning only as it is written.
	UnsafeArithmetic Reason = "unsafe arithmetic"
)

// Mode is the kind of access at a site.
type Mode string

const (
	Read  Mode = "read"
	Write Mode = "write" // also read-modify-write such as x++
	// Operations of sync/atomic: no data race among themselves. Whatever may
	// write is AtomicWrite, a failing compare-and-swap too.
	AtomicRead  Mode = "atomic-read"
	AtomicWrite Mode = "atomic-write"
)

// Variable names the variable of a site. It has the fields of finding.Variable in the same order, so that one
// converts to the other.
type Variable struct {
	Package  string `json:"package"`
	Type     string `json:"type,omitempty"`
	Function string `json:"function,omitempty"`
	Name     string `json:"name"`
	Kind     string `json:"kind,omitempty"`
}

// Kinds of [Variable].
const (
	KindField    = "field"    // field of a struct reached through a pointer or another shared variable
	KindGlobal   = "global"   // package variable
	KindCaptured = "captured" // local that a closure captures and somebody assigns again
	KindLocal    = "local"    // local with its address taken
	KindDeref    = "deref"    // the pointee of a pointer: *p
	KindMap      = "map"      // the map itself: index, assignment, delete, range
	KindElement  = "element"  // elements of a slice or array
	// The channel itself: a send reads it, a close writes it, as for the race detector.
	KindChannel = "channel"
	// The counter of a sync.WaitGroup: Add and Go write it atomically, Wait reads it.
	KindWaitGroup = "waitgroup"
	// The entries of a sync.Map: its methods read and write them atomically.
	KindSyncMap = "syncmap"
)

// Site is one static access.
type Site struct {
	ID       uint32   `json:"id"` // from 1, dense over the plan
	Package  string   `json:"package"`
	Function string   `json:"function"` // "F", "(*T).M", "F.func1"
	Variable Variable `json:"variable"`
	Mode     Mode     `json:"mode"`
	File     string   `json:"file"` // slash path, relative to the module's root
	Line     int      `json:"line"` // as the file on disk has it: //line directives are not followed
	Column   int      `json:"column"`
	EndLine  int      `json:"end_line"`
	EndCol   int      `json:"end_column"`
	Expr     string   `json:"expr"`   // normalised source
	Source   string   `json:"source"` // the source line, trimmed
	// Behind: not Expr itself is accessed but memory behind it: all elements of a slice, a pointee, the
	// embedded field on the way to Expr.
	Behind bool `json:"behind,omitempty"`
	// Scalar is the kind of a value of at most 8 bytes that can be read in one
	// piece and means something by itself: "bool", "int32", "float64", "pointer"
	// and the like. Strings, interfaces and composite values have none.
	Scalar   string   `json:"scalar,omitempty"`
	Decision Decision `json:"decision"`
	Reason   Reason   `json:"reason,omitempty"`
	// Suspicious sites are armed first: a static finding names them.
	Suspicious bool `json:"suspicious,omitempty"`
}

// Key identifies a site's place without its id. Of the two sites of x.next.n
// both start at x, so that the end belongs to the key.
type Key struct {
	File            string
	Line, Column    int
	Mode            Mode
	Map             bool // the access to a map itself and the read of the variable that holds it share a place
	Behind          bool // so do the two of x.s in copy(x.s, y)
	EndLine, EndCol int
}

// Key of s.
func (s *Site) Key() Key {
	return Key{s.File, s.Line, s.Column, s.Mode, s.Variable.Kind == KindMap, s.Behind, s.EndLine, s.EndCol}
}

// Start is k without its end, for passes that only know where an access
// starts. Several sites may share it.
func (k Key) Start() Key {
	k.EndLine, k.EndCol = 0, 0
	return k
}

// Pair is two sites that a static finding holds to race.
type Pair struct {
	A       uint32 `json:"a"`
	B       uint32 `json:"b"`
	Finding string `json:"finding"` // id of the finding
}

// Plan has a decision for every site of a module.
type Plan struct {
	Version  int       `json:"version"`
	Module   string    `json:"module"`
	Sites    []Site    `json:"sites"` // ordered by ID
	Pairs    []Pair    `json:"pairs,omitempty"`
	Sections []Section `json:"sections,omitempty"`
}

// Site returns the site with the id, or nil.
func (p *Plan) Site(id uint32) *Site {
	if id == 0 || int(id) > len(p.Sites) {
		return nil
	}
	return &p.Sites[id-1]
}

// Validate reports the first thing that makes p unfit to be run.
func (p *Plan) Validate() error {
	if p.Version != SchemaVersion {
		return fmt.Errorf("plan: version %d, want %d", p.Version, SchemaVersion)
	}
	for i := range p.Sites {
		if err := p.Sites[i].validate(uint32(i + 1)); err != nil {
			return fmt.Errorf("plan: site %d: %w", i+1, err)
		}
	}
	for _, pair := range p.Pairs {
		if p.Site(pair.A) == nil || p.Site(pair.B) == nil {
			return fmt.Errorf("plan: pair (%d, %d) names no site", pair.A, pair.B)
		}
	}
	for i := range p.Sections {
		if err := p.Sections[i].validate(p, uint32(i+1)); err != nil {
			return fmt.Errorf("plan: section %d: %w", i+1, err)
		}
	}
	return nil
}

func (s *Site) validate(id uint32) error {
	switch {
	case s.ID != id:
		return fmt.Errorf("has id %d: ids are dense and in order", s.ID)
	case s.File == "" || s.Line <= 0 || s.Variable.Name == "":
		return errors.New("no position or variable")
	case s.Mode != Read && s.Mode != Write && s.Mode != AtomicRead && s.Mode != AtomicWrite:
		return fmt.Errorf("unknown mode %q", s.Mode)
	case s.Decision == Skip && s.Reason == "":
		return errors.New("skipped without a reason")
	case s.Decision != Skip && s.Decision != Monitor:
		return fmt.Errorf("unknown decision %q", s.Decision)
	}
	return nil
}
