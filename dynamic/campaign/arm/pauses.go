package arm

import (
	"fmt"
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

// Pause is that each goroutine which comes to a place is held, the first few times.
type Pause struct {
	Place
	Length time.Duration
}

// PauseList returns pauses as the monitor reads them.
func PauseList(pauses []Pause) string {
	var list []string
	for _, p := range pauses {
		list = append(list, fmt.Sprintf("pause=%v:%d", p.Place, p.Length.Microseconds()))
	}
	return strings.Join(list, ",")
}

// SplitPauses separates the places of locks between which goroutines are held, "a.go:3:5,b.go:7", from pauses, which
// have a length: "a.go:9:2@10ms". locks and at find the uses of locks and the sites at one place.
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
		length, err := time.ParseDuration(window)
		if err != nil || length <= 0 || length > LongestHold {
			return "", nil, fmt.Errorf("the pause in %q is no duration of at most %s, such as 10ms", text, LongestHold)
		}
		uses, err := locks(place)
		if err == nil {
			for _, id := range uses {
				pauses = append(pauses, Pause{Place{Use: id}, length})
			}
			continue
		}
		ids, err := at(place)
		if err != nil {
			return "", nil, fmt.Errorf("no lock is acquired and no access is monitored at %q", place)
		}
		for _, id := range ids {
			pauses = append(pauses, Pause{Place{Site: id}, length})
		}
	}
	return strings.Join(rest, ","), pauses, nil
}
