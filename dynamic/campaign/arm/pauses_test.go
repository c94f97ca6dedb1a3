package arm

import (
	"errors"
	"testing"
	"time"
)

// Pauses on the command line become the text that the monitor reads.
func TestSplitPauses(t *testing.T) {
	locks := func(place string) ([]uint64, error) {
		if place == "a.go:3:5" {
			return []uint64{7}, nil
		}
		return nil, errors.New("no lock")
	}
	at := func(place string) ([]uint32, error) {
		if place == "a.go:9:2" {
			return []uint32{4, 5}, nil
		}
		return nil, errors.New("no access")
	}
	for _, c := range []struct{ text, between, pauses string }{
		{"a.go:3:5,b.go:7", "a.go:3:5,b.go:7", ""},
		{"a.go:3:5@10ms", "", "pause=l7:10000"},
		{"a.go:9:2@2ms", "", "pause=a4:2000,pause=a5:2000"},
		{"a.go:3:5@10ms/2,b.go:7", "b.go:7", "pause=l7:10000:2"},
	} {
		between, pauses, err := SplitPauses(c.text, locks, at)
		if err != nil || between != c.between || PauseList(pauses) != c.pauses {
			t.Errorf("%s: %q, %q, %v; want %q, %q", c.text, between, PauseList(pauses), err, c.between, c.pauses)
		}
	}
	for _, text := range []string{
		"a.go:3:5@", "a.go:3:5@10", "a.go:3:5@-1ms", "a.go:3:5@" + (LongestHold + time.Second).String(),
		"a.go:3:5@10ms/0", "a.go:3:5@10ms/x", "c.go:1@10ms",
	} {
		if _, _, err := SplitPauses(text, locks, at); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
