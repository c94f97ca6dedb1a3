package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/dynamic/evidence"
)

// DrFinder is the schedule that reverses the order in which goroutines acquire locks (Cai and Cao, "Effective and
// precise dynamic detection of hidden races for Java programs", ESEC/FSE 2015). The monitor makes it, see
// dynamic/rt/locks; the next run is scheduled by the functions that one run has shown to lead to locks
// (section 4.4).
//
// The class of a lock is its field or variable, the same in all instances, see sites.LockUse. In the paper it is the
// type of the object, which in Go would be sync.Mutex for nearly all.
type DrFinder struct {
	classes   map[uint64]int  // of the lock that is acquired at a site
	relations map[string]bool // of the last run that has acquired a lock: lines of the monitor's file
}

// NewDrFinder returns a schedule that has seen nothing yet. locks are the names of the locks, by the sites at which
// they are acquired.
func NewDrFinder(locks map[uint64]string) *DrFinder {
	d := &DrFinder{classes: map[uint64]int{}}
	names := slices.Sorted(maps.Values(locks))
	names = slices.Compact(names)
	for site, lock := range locks {
		n, _ := slices.BinarySearch(names, lock)
		d.classes[site] = n + 1
	}
	return d
}

// Observe takes up the records of a run, in place of those before.
func (d *DrFinder) Observe(records []evidence.Record) {
	relations := map[string]bool{}
	for i := range records {
		r := &records[i]
		if r.Kind != evidence.Triggers || d.classes[r.Trigger.Lock] == 0 {
			continue
		}
		for _, f := range r.Trigger.Functions {
			relations[fmt.Sprintf("trigger %d %s", d.classes[r.Trigger.Lock], f)] = true
		}
	}
	if len(relations) > 0 {
		d.relations = relations
	}
}

// File returns the relations that the next run is scheduled by, as the monitor reads them, of so many functions of a
// stack.
func (d *DrFinder) File(depth int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "depth %d\n", depth)
	for _, site := range slices.Sorted(maps.Keys(d.classes)) {
		fmt.Fprintf(&b, "lock %d %d\n", site, d.classes[site])
	}
	for _, line := range slices.Sorted(maps.Keys(d.relations)) {
		fmt.Fprintln(&b, line)
	}
	return []byte(b.String())
}
