package finding

// Code is the stable code of a class of findings. The thousands tell the
// family: 1 data races, 2 atomicity, 3 locks, 4 other synchronisation.
type Code string

const (
	CaughtInTheAct Code = "IL1000" // two goroutines at conflicting accesses at the same moment
	Unguarded      Code = "IL1001" // field accessed without the lock that guards it
	LoadAndStore   Code = "IL2001" // x++, x = f(x): two goroutines lose an update
)

// codes says each known code in a few words, as titles and rules use it.
var codes = map[Code]string{
	CaughtInTheAct: "data race caught in the act",
	Unguarded:      "access without the lock that guards it",
	LoadAndStore:   "load and store that should be one step",
}

// Known reports whether c is a code of this version.
func (c Code) Known() bool { return codes[c] != "" }

// Title says in a few words what the code stands for; "" for an unknown one.
func (c Code) Title() string { return codes[c] }

// Codes lists the known codes in ascending order.
func Codes() []Code { return []Code{CaughtInTheAct, Unguarded, LoadAndStore} }
