// Package policy decides at the events of a program, which are its monitored accesses, acquisitions of locks and starts
// of goroutines, whether the goroutine goes on, lets others run or is held: the schedules that are known by name.
//
//	contest.go   noise at random
//	pct.go       priorities, and a few points at which they change
//	turns.go     where the others hold goroutines, beside accesses
//
// A policy is made once, at the start of the process, and called by all goroutines.
package policy

import (
	"runtime"
	"sync/atomic"
)

// Policy is one of these schedules.
type Policy interface {
	// Decide is called at an event of the goroutine with the number. It returns for how many nanoseconds the
	// goroutine is held there: 0 lets it go on, [Yield] lets others run first. now is a time in nanoseconds;
	// random has 64 bits.
	Decide(goid, now int64, random uint64) (ns int64)
	// Size returns how many goroutines have come to how many events so far, or zeros where nobody counts.
	Size() (goroutines, events uint64)
}

// Yield is the result of Decide if the goroutine is to let others run.
const Yield = -1

// Settings are the properties of a run that policies need.
type Settings struct {
	Seed     uint64
	Strength int64  // about how long a goroutine is held, in nanoseconds
	Depth    uint64 // of bugs, for PCT: how many events must come in one order
	Events   uint64 // that a run is expected to have
}

// New returns the policy with the name, or nil.
func New(name string, s Settings) Policy {
	switch name {
	case "contest":
		return contest{s}
	case "pct":
		return newPCT(s)
	}
	return nil
}

// mix returns a number that looks random, another one for each n.
func mix(n uint64) uint64 {
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// spinlock is held for a few instructions. Neither the race detector nor a bubble of testing/synctest sees it.
type spinlock struct{ taken atomic.Uint32 } // its methods are inlined in all builds, those of atomic.Bool are not

func (l *spinlock) lock() {
	for !l.taken.CompareAndSwap(0, 1) {
		runtime.Gosched()
	}
}

func (l *spinlock) unlock() { l.taken.Store(0) }
