//go:build (amd64 || arm64) && !plan9

package rt

import (
	"strconv"
	"time"
)

// A run may have goroutines take turns at sections: of those of one group, which share variables, one is open at a
// time, and a goroutine at another waits ahead of it, before the locks that lead to its entry. Noise is as in other
// runs. So such a run shows the program with atomic sections, to be compared with others.

const (
	turnNap  = 50_000      // nanoseconds between looks
	turnLost = 100_000_000 // after which an owner is taken to wait for a goroutine in the queue, or to have panicked
	turnsOff = 3           // entries out of turn after which a group takes none any more
)

// turn is that of one group.
type turn struct {
	mu    spinlock
	owner int64   // goroutine id, or 0
	depth uintptr // of the owner's activation
	since int64
	outOf int // entries out of turn
}

var turns []turn // set at start

// readTurns reads INTERLOCK_TURNS, groups of sections: "1+3,2".
func readTurns() (problem string) {
	for rest := env("INTERLOCK_TURNS"); rest != ""; {
		var group string
		group, rest = cut(rest, ',')
		turns = append(turns, turn{})
		for ids := group; ids != ""; {
			var text string
			text, ids = cut(ids, '+')
			id, err := strconv.ParseUint(text, 10, 24)
			if err != nil || id == 0 {
				return "INTERLOCK_TURNS has a bad id " + strconv.Quote(text)
			}
			sectionStates = grow(sectionStates, id)
			sectionStates[id].group = len(turns)
			sectionGate.turns = true
		}
	}
	return ""
}

// turnOf returns the turn of the section's group, or nil.
func turnOf(section uint32) *turn {
	if int(section) >= len(sectionStates) || sectionStates[section].group == 0 {
		return nil
	}
	return &turns[sectionStates[section].group-1]
}

// takeTurn waits for the goroutine's turn at the section, which an activation at the depth comes to.
func takeTurn(id int64, section uint32, depth uintptr) {
	t := turnOf(section)
	if t == nil {
		return
	}
	bubble := InBubble()
	for !t.take(id, section, depth, bubble) {
		time.Sleep(turnNap)
	}
}

// take reports whether the goroutine need not wait any more. In a bubble, where no time passes, none waits.
func (t *turn) take(id int64, section uint32, depth uintptr, bubble bool) bool {
	t.mu.lock()
	defer t.mu.unlock()
	now := nanotime()
	switch {
	case t.owner == id && depth > t.depth: // a section in the section
		return true
	case t.owner == id || t.owner == 0:
	case bubble || t.outOf >= turnsOff:
		sectionStates[section].outOfTurn.Add(1)
		return true
	case now-t.since > turnLost:
		t.outOf++
		sectionStates[section].outOfTurn.Add(1)
	default:
		return false
	}
	t.owner, t.depth, t.since = id, depth, now
	return true
}

// passTurn ends the goroutine's turn, if an activation at the depth has it.
func passTurn(id int64, section uint32, depth uintptr) {
	if t := turnOf(section); t != nil {
		t.mu.lock()
		if t.owner == id && depth <= t.depth {
			t.owner = 0
		}
		t.mu.unlock()
	}
}

// appendEntries appends how often sections were entered that nobody watched, and out of turn. requires: out.mu.
func appendEntries(b []byte) []byte {
	b = appendSections(b, `,"unwatched":[`, func(s *sectionState) uint64 { return s.unwatched.Load() })
	return appendSections(b, `,"out_of_turn":[`, func(s *sectionState) uint64 { return s.outOfTurn.Load() })
}

// appendSections appends a list of the sections with a count that is not 0, if there are any.
func appendSections(b []byte, name string, count func(*sectionState) uint64) []byte {
	before := name
	for id := range sectionStates {
		if n := count(&sectionStates[id]); n != 0 {
			b = appendField(append(b, before...), `{"section":`, uint64(id))
			b = append(appendField(b, `,"times":`, n), '}')
			before = ","
		}
	}
	if before == "," {
		b = append(b, ']')
	}
	return b
}
