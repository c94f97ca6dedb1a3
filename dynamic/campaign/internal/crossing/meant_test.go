package crossing

import (
	"testing"

	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/typedfile"
)

// The comment of a function, and not that of another one, says that its result is inexact.
func TestSaysInexact(t *testing.T) {
	pkg := typedfile.Parse(t, `package m

type stats struct{ hits, total int }

// ratio is approximate while others count.
func (s *stats) ratio() int { return s.hits / s.total }

// exact is the ratio.
func (s *stats) exact() int { return s.hits / s.total }

// guess may be stale.
func guess() int { return 0 }
`)
	for name, want := range map[string]bool{
		"m.(*stats).ratio": true, "m.(*stats).ratio.func1": true, "m.(*stats).exact": false,
		"m.guess": true, "m.guess.func1": true, "n.guess": false,
	} {
		if got := SaysInexact([]*sites.Package{pkg}, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
