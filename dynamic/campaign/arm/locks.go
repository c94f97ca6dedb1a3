package arm

import (
	"fmt"
	"strings"
	"time"

	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/schedule"
)

// LocksAt returns the ids of the uses of locks at places, written as for [SitesAt].
func LocksAt(pkgs []*sites.Package, places string) ([]uint64, error) {
	var uses []sites.LockUse
	byPackage := sites.LockUses(pkgs)
	for _, p := range pkgs {
		uses = append(uses, byPackage[p]...)
	}
	var ids []uint64
	for at := range strings.SplitSeq(places, ",") {
		before := len(ids)
		for _, u := range uses {
			line := fmt.Sprintf("%s:%d", u.Place.Filename, u.Place.Line)
			if at == line || at == fmt.Sprintf("%s:%d", line, u.Place.Column) {
				ids = append(ids, u.ID)
			}
		}
		if len(ids) == before {
			return nil, fmt.Errorf("no lock is acquired at %q", at)
		}
	}
	return ids, nil
}

// LockNames returns the name of the lock in all instances, by the ids of its uses.
func LockNames(pkgs []*sites.Package) map[uint64]string {
	names := map[uint64]string{}
	for _, uses := range sites.LockUses(pkgs) {
		for _, u := range uses {
			names[u.ID] = u.Lock
		}
	}
	return names
}

// LongestHold is for how long a replay holds a goroutine at most: between two locks it ends as soon as
// another goroutine waits for the first.
const LongestHold = time.Second

// HoldsAmong returns that goroutines are to be held between any two of the uses of locks.
func HoldsAmong(uses []uint64) map[schedule.Acquisitions]time.Duration {
	holds := map[schedule.Acquisitions]time.Duration{}
	for _, from := range uses {
		for _, to := range uses {
			if from != to {
				holds[schedule.Acquisitions{from, to}] = LongestHold
			}
		}
	}
	return holds
}

// HoldList returns between which acquisitions a run holds goroutines, and for how many microseconds
// at most, as the monitor reads it.
func HoldList(holds map[schedule.Acquisitions]time.Duration) string {
	var list []string
	for pair, length := range holds {
		list = append(list, fmt.Sprintf("%d>%d:%d", pair[0], pair[1], length.Microseconds()))
	}
	return strings.Join(list, ",")
}
