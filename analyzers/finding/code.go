package finding

import (
	"maps"
	"slices"
	"strings"
)

// Code is the stable code of a class of findings. The thousands tell the
// family: 1 data races, 2 atomicity, 3 locks, 4 other synchronisation, 5 goroutines.
type Code string

const (
	CaughtInTheAct Code = "IL1000" // two goroutines at conflicting accesses at the same moment
	Unguarded      Code = "IL1001" // field accessed without the lock that guards it
	UnderReadLock  Code = "IL1002" // written while only the read side of a lock is held
	MixedAtomic    Code = "IL1003" // accessed through sync/atomic here and plainly there
	Captured       Code = "IL1004" // local variable shared with a goroutine that captures it
	UsedAfterLock  Code = "IL1005" // alias of guarded data used after the unlock
	DifferentLocks Code = "IL1006" // the two sides hold different locks
	WrittenLate    Code = "IL1007" // written after others could reach it: publication, lazy initialisation
	Unordered      Code = "IL1008" // accessed by two goroutines that nothing orders
	LoadAndStore   Code = "IL2001" // x++, x = f(x): two goroutines lose an update
	TestAndUse     Code = "IL2002" // a test, and a use that it decides about, with a gap between
	Interleaved    Code = "IL2003" // accesses that belong together, split by another goroutine's

	LockCycle      Code = "IL3001" // locks taken in different orders
	DoubleLock     Code = "IL3002" // second Lock of a held mutex
	ReadLockAgain  Code = "IL3003" // read lock upgraded or taken again
	LostUnlock     Code = "IL3004" // return without unlock
	WaitUnderLock  Code = "IL3005" // blocking call or callback under a lock
	AddRacesWait   Code = "IL4001" // WaitGroup.Add by the goroutine that it counts
	CloseRaces     Code = "IL4002" // send or close racing close
	EndlessWait    Code = "IL4003" // wait that nobody may end
	BlockedForEver Code = "IL5001" // goroutine that nothing can wake any more
	OutlivesTest   Code = "IL5002" // goroutine that uses a test after its end
)

// codes has a few words for each known code, as titles and rules use them.
var codes = map[Code]string{
	CaughtInTheAct: "data race caught in the act",
	Unguarded:      "access without the lock that guards it",
	UnderReadLock:  "write under a read lock",
	MixedAtomic:    "atomic and plain access mixed",
	Captured:       "captured variable shared with a goroutine",
	UsedAfterLock:  "alias of guarded data used after unlock",
	DifferentLocks: "different locks on two sides",
	WrittenLate:    "written after it was shared",
	Unordered:      "accessed by two goroutines that nothing orders",
	LoadAndStore:   "load and store that should be one step",
	TestAndUse:     "test and use that should be one step",
	Interleaved:    "accesses that belong together split by another",
	LockCycle:      "locks taken in different orders",
	DoubleLock:     "second Lock of a held mutex",
	ReadLockAgain:  "read lock upgraded or taken again",
	LostUnlock:     "return without unlock",
	WaitUnderLock:  "blocking call or callback under a lock",
	AddRacesWait:   "WaitGroup.Add by the goroutine that it counts",
	CloseRaces:     "send or close racing close",
	EndlessWait:    "wait that nobody may end",
	BlockedForEver: "goroutine blocked for ever",
	OutlivesTest:   "test used after its end",
}

// Known reports whether c is a code of this version.
func (c Code) Known() bool { return codes[c] != "" }

// IsDataRace reports whether c is of the family of data races.
func (c Code) IsDataRace() bool { return strings.HasPrefix(string(c), "IL1") }

// RunsOnly reports whether runs alone report findings of c, and no static check does.
func (c Code) RunsOnly() bool { return c == CaughtInTheAct || c == Interleaved || c == BlockedForEver }

// Title returns the meaning of the code in a few words; "" for an unknown one.
func (c Code) Title() string { return codes[c] }

// Page returns the address of the text on c: a heading of docs/checks.md.
func (c Code) Page() string {
	return "https://github.com/interlock-go/interlock/blob/main/docs/checks.md#" + strings.ToLower(string(c))
}

// Codes lists the known codes in ascending order.
func Codes() []Code { return slices.Sorted(maps.Keys(codes)) }
