package page

import (
	"slices"
	"strings"
)

// Word is a word of the page, with its meaning.
type Word struct{ Name, Meaning string }

// terms are the words that a page uses without an explanation beside them.
var terms = []Word{
	{Name: "confirmed", Meaning: "A run has shown the bug."},
	{Name: "predicted", Meaning: "A run was one step away from the bug: another order of what it did shows it."},
	{Name: "suspected", Meaning: "Found by reading the code; no run has shown it. It may be false."},
	{Name: "possible", Meaning: "Found by reading the code, and of a kind that is true in about half of the cases."},
	{Name: "monitor", Meaning: "Code that Interlock puts before accesses to memory, in a copy of the program. " +
		"It stops a goroutine there for a moment, and sees whether another one makes a conflicting access meanwhile."},
	{Name: "noise", Meaning: "The short delays that the monitor makes, so that goroutines meet which seldom do. A test " +
		"that fails only under noise depends on timing, or it shows a bug that the monitor cannot name."},
	{Name: "seed", Meaning: "A number that decides where a run is delayed, and for how long. " +
		"The same seed makes the same choices."},
	{Name: "happens-before", Meaning: "Two accesses are ordered if a lock, a channel or the like makes one of them " +
		"wait for the other. The happens-before engine finds those of a run that nothing orders, however far " +
		"apart they are."},
}

// strategies are the ways to make a patch, by the names that fixes have.
var strategies = []Word{
	{Name: "reorder", Meaning: "An assignment moves before the go statement."},
	{Name: "copy", Meaning: "A goroutine gets a variable of its own."},
	{Name: "guard", Meaning: "The lock that guards the variable elsewhere is taken here too."},
	{Name: "atomic", Meaning: "Every access becomes an operation of sync/atomic."},
	{Name: "once", Meaning: "The variable is set in a sync.Once."},
	{Name: "mutex", Meaning: "A new mutex beside the variable is held at every access."},
	{Name: "unlock", Meaning: "A return that left a lock held releases it."},
	{Name: "defer unlock", Meaning: "A lock is released when a panic ends the function, too."},
	{Name: "relock", Meaning: "What runs under a lock no longer takes it again."},
	{Name: "hand down", Meaning: "Code under a lock gets a value, in place of the getter that takes the lock again."},
	{Name: "snapshot", Meaning: "A list is copied under its lock, and its elements are called without."},
	{Name: "unlock around", Meaning: "A lock is released while a callback runs that comes back for it."},
	{Name: "swap", Meaning: "Two locks are taken in the other order."},
	{Name: "release", Meaning: "A lock is released before the wait that was the last thing done under it."},
	{Name: "exchange", Meaning: "An atomic Load and the Store after it become one Swap or CompareAndSwap."},
	{Name: "recheck", Meaning: "A test is made again under the second lock, before its use."},
	{Name: "join", Meaning: "Two critical sections become one."},
	{Name: "extend", Meaning: "A lock is kept until what was found under it has been used."},
	{Name: "count", Meaning: "The WaitGroup counts a goroutine before it starts."},
	{Name: "nil channel", Meaning: "A channel that only some objects have is waited for in these alone."},
	{Name: "buffer", Meaning: "A channel gets room for values that nobody may receive."},
	{Name: "keep wake-up", Meaning: "A channel gets room for a wake-up for which nobody waits yet."},
	{Name: "stop", Meaning: "A sender stops when the function that receives has returned."},
	{Name: "signal", Meaning: "A channel is closed whichever way its function returns."},
	{Name: "drain", Meaning: "A function that leaves early receives the rest, so that the sender ends."},
	{Name: "cancel", Meaning: "A goroutine that waits at a channel leaves when its context is done."},
	{Name: "hand context", Meaning: "A goroutine gets the context of its callers, and leaves when that is done."},
	{Name: "close signal", Meaning: "A channel is closed where a signal to stop was sent on it."},
	{Name: "sign off", Meaning: "A goroutine calls Done whichever way it ends."},
	{Name: "broadcast", Meaning: "All goroutines that wait for a condition are woken."},
	{Name: "closed flag", Meaning: "Each send on a channel asks, under a lock, whether it is closed."},
	{Name: "close once", Meaning: "A channel is closed in a sync.Once."},
	{Name: "leave open", Meaning: "A channel that is still sent on is not closed."},
}

// Words returns the terms and strategies that the page uses, in their order.
func (p *Page) Words() (used []Word) {
	text := strings.Join(p.Summary, "\n")
	for _, g := range p.Gaps {
		text += "\n" + g.Title + "\n" + strings.Join(g.Items, "\n")
	}
	var patches []string // each begins with the name of a strategy
	for _, b := range p.Bugs {
		text += "\n" + strings.Join(append([]string{b.Status, b.Title, b.Message, b.Evidence, b.FixText}, b.Notes...), "\n")
		patches = append(append(patches, b.Strategy), b.Withheld...)
	}
	for _, w := range terms {
		if strings.Contains(text, w.Name) {
			used = append(used, w)
		}
	}
	for _, w := range strategies {
		if slices.ContainsFunc(patches, func(s string) bool {
			rest, ok := strings.CutPrefix(s, w.Name)
			return ok && (rest == "" || rest[0] == ':')
		}) {
			w.Name += " (a way to make a patch)"
			used = append(used, w)
		}
	}
	return used
}
