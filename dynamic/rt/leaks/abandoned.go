package leaks

import (
	"strconv"
	"strings"

	"github.com/interlock-go/interlock/dynamic/rt/dump"
)

// Abandoned has the collector left alone: of goroutines that are blocked for ever only those are written which wait for
// a lock that a goroutine has kept which has ended. For programs that use weak pointers.
func Abandoned() {
	state.mu.Lock()
	defer state.mu.Unlock()
	state.noCollector = true
}

// abandoned returns the goroutines that wait for a lock that a goroutine has acquired which has ended by now, and which
// no other function releases for it, by what the source says. They have to be there at two looks: a goroutine that
// has just ended may have released the lock before. was has the holders of the look before, by goroutine, and is
// brought up to date.
func abandoned(was map[string]int64) (marked []dump.Goroutine) {
	if dump.Holder == nil {
		return nil
	}
	all := dump.Goroutines(dump.Stacks())
	lives := map[string]bool{}
	for i := range all {
		lives[all[i].ID] = true
	}
	for i := range all {
		g := &all[i]
		id, err := strconv.ParseInt(g.ID, 10, 64)
		if err != nil || !g.InLock() || strings.HasPrefix(g.Stack(), "testing.") {
			continue
		}
		holder, site, ok := dump.Holder(id)
		if !ok || handedOver(site) || lives[strconv.FormatInt(holder, 10)] {
			continue
		}
		if was[g.ID] == holder {
			marked = append(marked, *g)
		}
		was[g.ID] = holder
	}
	return marked
}

// handedOver reports whether the source may have another function release the lock that is acquired at a site.
func handedOver(site uint64) bool { return site&1 != 0 }
