// Package syncfix holds the strategies for findings on how locks, WaitGroups
// and channels are used. join is in recheck.go, cancel in stop.go, sign off and broadcast in wake.go, each other one in
// the file of its name. Where package strategy protects a variable
// at every access, these correct the places that the findings name:
//
//	unlock   a return that leaves a lock held releases it
//	defer unlock a lock is released when a panic ends the function, too
//	relock   what runs under a lock does not take it again
//	hand down a value is handed to code under its lock, in place of a getter that takes the lock again
//	snapshot a list is copied under its lock, and its elements are called without
//	unlock around a lock is released while a callback runs that comes back for it
//	swap     two locks that are taken one after the other change places
//	release  a lock is released before the wait that is the last thing under it
//	exchange an atomic Load and the Store that it decides about become one operation
//	recheck  a test is made again under the second lock
//	join     two critical sections become one
//	extend   a lock is kept until what was found under it has been used
//	count    who starts a goroutine counts it in the WaitGroup
//	nil channel a channel that only some objects have is waited for in these alone
//	buffer   a channel has room for the values that nobody may receive
//	keep wake-up a channel has room for a wake-up for which nobody waits yet
//	stop     a sender stops when the function that receives has returned
//	signal   a channel is closed however its function returns
//	drain    a function that leaves early receives the rest, so that the sender ends
//	cancel   who waits at a channel leaves when its context is done
//	hand context a goroutine gets the context of its callers, and leaves when that is done
//	close signal a channel is closed where a signal to stop was sent on it
//	sign off a goroutine calls Done however it ends
//	broadcast all who wait for a condition are woken
//	closed flag each send on a channel asks whether it is closed
//	close once a channel is closed in a sync.Once
//	leave open a channel that is still sent on is not closed
//
// Buffer, stop and signal are those of GFix (Liu et al., ASPLOS 2021). They treat
// channels that never leave the function that makes them, so that all of their
// operations are known.
//
// A strategy corrects all findings of its group or refuses with a reason. What
// it promises is checked by package validate on the patched source.
package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
)

// Problem is a group of findings of one code with one cause.
type Problem struct {
	Module   *source.Module
	Facts    *facts.Facts
	Findings []*finding.Finding
	// Bold has the strategies leave to the judge what they could not show: see [strategy.Problem].
	Bold bool
}

// Strategy builds a patch for findings of some codes, or returns why it does not apply.
type Strategy struct {
	Name  string
	Codes []finding.Code
	build func(*Problem) (*strategy.Patch, error)
}

// blocked are the codes of goroutines that wait for ever: seen in a run, and in the source.
var blocked = []finding.Code{finding.BlockedForEver, finding.EndlessWait}

// All lists the strategies in the order in which they are tried: least intrusive first.
var All = []Strategy{
	{"unlock", []finding.Code{finding.LostUnlock}, unlock},
	{"defer unlock", []finding.Code{finding.LostUnlock, finding.BlockedForEver}, deferUnlock},
	{"relock", []finding.Code{finding.DoubleLock, finding.ReadLockAgain}, relock},
	{"hand down", []finding.Code{finding.DoubleLock, finding.ReadLockAgain}, handDown},
	{"snapshot", []finding.Code{finding.DoubleLock, finding.ReadLockAgain, finding.BlockedForEver}, snapshot},
	{"unlock around", []finding.Code{finding.DoubleLock, finding.ReadLockAgain}, unlockAround},
	{"swap", []finding.Code{finding.LockCycle, finding.BlockedForEver}, swap},
	{"release", []finding.Code{finding.WaitUnderLock, finding.BlockedForEver, finding.DoubleLock, finding.ReadLockAgain},
		release},
	{"exchange", []finding.Code{finding.TestAndUse}, exchange},
	{"recheck", []finding.Code{finding.TestAndUse}, recheck},
	{"join", []finding.Code{finding.TestAndUse, finding.LoadAndStore}, join},
	{"extend", []finding.Code{finding.TestAndUse, finding.UsedAfterLock}, extend},
	{"count", []finding.Code{finding.AddRacesWait}, count},
	{"nil channel", blocked, nilChannel},
	{"buffer", blocked, buffer},
	{"keep wake-up", blocked, keepWakeup},
	{"stop", blocked, stop},
	{"signal", blocked, signal},
	{"drain", blocked, drain},
	{"cancel", blocked, cancel},
	{"hand context", blocked, handContext},
	{"close signal", blocked, closeSignal},
	{"sign off", blocked, signOff},
	{"broadcast", []finding.Code{finding.BlockedForEver}, broadcast},
	{"closed flag", []finding.Code{finding.CloseRaces}, closedFlag},
	{"close once", []finding.Code{finding.CloseRaces}, closeOnce},
	{"leave open", []finding.Code{finding.CloseRaces}, leaveOpen},
}

// assumed are what strategies rely on, by name, and no obligation shows. Programs written against them had patches that
// nothing else doubted.
var assumed = map[string]string{
	"defer unlock":  "what is under the lock is whole where a panic may leave it",
	"hand down":     "the value stays the same while the function that gets it runs",
	"snapshot":      "an element that is removed meanwhile may still be called, and one that is added need not be",
	"unlock around": "what the lock guards may change while the call runs, and the call does not panic",
	"cancel":        "nobody waits for what is left out when the stop comes first, nor for what follows it",
	"close once":    "each object has a channel of its own",
	"stop":          "what nobody has received when the function returns is not needed, nor what its sender has moved on",
	"exchange":      "what is tested beside the value may be done again when another goroutine was faster",
	"nil channel":   "where the channel is nil there is nothing to wait for, and a loop around the wait has another one",
	"keep wake-up":  "a wake-up says no more than to look again",
	"drain":         "the sender comes to its end by itself, soon, and needs no lock that callers may hold",
	"hand context":  "the context lasts as long as what the goroutine sends is wanted, and ends when it is not",
}

// For lists the strategies for findings of a code.
func For(code finding.Code) []Strategy {
	return slices.DeleteFunc(slices.Clone(All), func(s Strategy) bool { return !slices.Contains(s.Codes, code) })
}

// Try builds the patch of a strategy. A panic of the strategy is a reason like any other.
func Try(s Strategy, p *Problem) (*strategy.Patch, error) {
	return strategy.Fence(func() (*strategy.Patch, error) {
		out, err := s.build(p)
		if err == nil && len(out.Files) == 0 {
			err = errors.New("nothing to change")
		}
		if err == nil && out.Assumes == "" {
			out.Assumes = assumed[s.Name]
		}
		return out, err
	})
}

// place is what stands where a finding points to, from the innermost node outwards.
type place struct {
	file *source.File
	path []ast.Node
}

// at returns the place of a position.
func (p *Problem) at(pos finding.Position) (place, error) {
	file, err := p.Module.File(pos.File)
	if err != nil {
		return place{}, err
	}
	path := file.NodesAt(pos)
	if len(path) == 0 {
		return place{}, fmt.Errorf("%s: there is no such place: the file changed since the analysis", pos)
	}
	return place{file, path}, nil
}

// innermost returns the innermost node of a type at a place.
func innermost[T ast.Node](at place) (n T, ok bool) {
	for _, x := range at.path {
		if n, ok = x.(T); ok {
			return n, true
		}
	}
	return n, false
}

// function returns the innermost function around a place.
func (at place) function() *source.Function {
	for _, n := range at.path {
		if f := at.file.Module.FunctionAt(n); f != nil {
			return f
		}
	}
	return nil
}
