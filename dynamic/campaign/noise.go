package campaign

import (
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// ladder holds the strengths of the noise in successive runs, in microseconds,
// round and round. Most runs are gentle, so that tests which count on time pass
// as they pass without the monitor: a window of 1 ms at each of a few accesses
// in a row upsets a test that sleeps for 3 ms. Some are strong, since a short
// window misses an access that comes late. The number of rungs is odd, so that
// each is met by runs that arm known pairs and by runs that do not.
var ladder = [...]int{gentle, gentle, 1000, gentle, 2000}

const (
	gentle = 100 // microseconds
	// weakest is the strength below which noise is not weakened further: the
	// scheduler alone makes windows of a few microseconds.
	weakest = 10
)

// Strength returns the default strength of the noise in run n of a campaign,
// from 1, in microseconds. Packages with tests that count on short times have
// less.
func Strength(n int) int { return ladder[(n-1)%len(ladder)] }

// strength returns the strength of the noise for a package in run n.
func (c *campaign) strength(n int, pkg *run.Package) int {
	s := c.cfg.Noise.Strength
	if s == 0 {
		s = min(Strength(n), pkg.Bearable)
	}
	if pkg.Strength > 0 {
		s = min(s, pkg.Strength)
	}
	if pkg.Sparing(n) {
		s = min(s, pkg.SparedStrength)
	}
	return s
}

// weaken returns the strength after one that the tests could not stand: half of
// it, and gentle, as in most runs, after a strong one.
func weaken(strength int) int { return max(min(strength/2, gentle), weakest) }
