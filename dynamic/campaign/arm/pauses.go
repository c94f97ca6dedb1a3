package arm

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Place is where a goroutine is held, or kept away: a use of a lock, as sites.LockUses numbers them, or a site of an
// access.
type Place struct {
	Use  uint64
	Site uint32
}

// String returns the place as the monitor reads it.
func (p Place) String() string {
	if p.Use != 0 {
		return fmt.Sprintf("l%d", p.Use)
	}
	return fmt.Sprintf("a%d", p.Site)
}

// Visit is a goroutine's Nth visit of a place, from 1; 0 is each of them, where a process holds the first few. A getter
// that a goroutine calls twice acquires its lock at one place, and only the second visit is within the section.
type Visit struct {
	Place
	Nth int
}

// Pause is that each goroutine is held at such a visit.
type Pause struct {
	Visit
	Length time.Duration
}

// PauseList returns pauses as the monitor reads them.
func PauseList(pauses []Pause) string {
	var list []string
	for _, p := range pauses {
		text := fmt.Sprintf("pause=%v:%d", p.Place, p.Length.Microseconds())
		if p.Nth > 0 {
			text += fmt.Sprintf(":%d", p.Nth)
		}
		list = append(list, text)
	}
	return strings.Join(list, ",")
}

// SplitPauses separates the places of locks between which goroutines are held, "a.go:3:5,b.go:7", from pauses, which
// have a length: "a.go:9:2@10ms", or "a.go:9:2@10ms/2" for the second visit of a goroutine. locks and at find the uses
// of locks and the sites at one place.
func SplitPauses(places string, locks func(string) ([]uint64, error), at func(string) ([]uint32, error)) (
	between string, pauses []Pause, err error,
) {
	var rest []string
	for text := range strings.SplitSeq(places, ",") { // each is one or the other
		place, window, has := strings.Cut(text, "@")
		if !has {
			rest = append(rest, text)
			continue
		}
		length, nth, err := parsePause(window)
		if err != nil {
			return "", nil, fmt.Errorf("the pause in %q is no duration of at most %s, such as 10ms, or 10ms/2 for the second "+
				"visit of a goroutine", text, LongestHold)
		}
		uses, err := locks(place)
		if err == nil {
			for _, id := range uses {
				pauses = append(pauses, Pause{Visit{Place{Use: id}, nth}, length})
			}
			continue
		}
		ids, err := at(place)
		if err != nil {
			return "", nil, fmt.Errorf("no lock is acquired and no access is monitored at %q", place)
		}
		for _, id := range ids {
			pauses = append(pauses, Pause{Visit{Place{Site: id}, nth}, length})
		}
	}
	return strings.Join(rest, ","), pauses, nil
}

// parsePause reads how long a goroutine is held, and at which visit: "10ms", "10ms/2".
func parsePause(text string) (length time.Duration, nth int, err error) {
	window, visit, has := strings.Cut(text, "/")
	if has {
		if nth, err = strconv.Atoi(visit); err != nil || nth < 1 {
			return 0, 0, fmt.Errorf("no visit %q", visit)
		}
	}
	if length, err = time.ParseDuration(window); err == nil && (length <= 0 || length > LongestHold) {
		err = fmt.Errorf("a pause of %v", length)
	}
	return length, nth, err
}
