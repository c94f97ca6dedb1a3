package run

import (
	"fmt"
	"regexp"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/arm"
)

const (
	// stretch is how many times as long pauses are as in the run that has shown a hang, in one of the ways to replay it.
	stretch = 8
	// quietSeeds is how many further seeds are tried for a finding that was seen without noise.
	quietSeeds = 3
)

// windowAt is the window of a place.
var windowAt = regexp.MustCompile(`@[^,]*`)

// Ways lists the replays to try for r, the most faithful first: if goroutines are held for others to come, further
// noise may keep these away; a window that no plan made is made again and again; a wider one meets late accesses.
func (r *Replay) Ways() []Replay {
	if r.Held {
		return r.waysToHang()
	}
	ways := []Replay{*r}
	if quiet := *r; r.Hold != "" || windowAt.MatchString(r.Only) {
		quiet.Quiet = true
		ways = append(ways, quiet)
	}
	return append(ways, r.stronger()...)
}

// stronger lists runs with stronger noise than that of r, and no windows.
func (r *Replay) stronger() (ways []Replay) {
	for _, strength := range []int{1000, 10000} {
		if wider := *r; r.Strength > 0 && r.Strength < strength {
			wider.Strength, wider.Only = strength, windowAt.ReplaceAllString(r.Only, "")
			ways = append(ways, wider)
		}
	}
	return ways
}

// waysToHang is [Replay.Ways] for goroutines that wait for ever: some order of events has caused that, and the places
// where goroutines were held only lead there. A hang without noise may come again with any seed: runs of seeds in a row
// differ in the events at which goroutines are held. Longer pauses keep the order on a slower machine.
func (r *Replay) waysToHang() []Replay {
	ways := []Replay{*r}
	if r.Strength == 0 {
		for further := range uint64(quietSeeds) {
			other := *r
			other.Seed, other.Strength = r.Seed+1+further, 1000
			ways = append(ways, other)
		}
		return ways
	}
	longer := *r
	longer.Strength, longer.Only = r.Strength*stretch, windowAt.ReplaceAllStringFunc(r.Only, stretched)
	ways = append(ways, longer)
	if quiet := *r; r.Hold != "" || r.Only != "" {
		quiet.Quiet = true
		ways = append(ways, quiet)
	}
	everywhere := *r
	everywhere.Only = ""
	return append(ways, everywhere.stronger()...)
}

// stretched returns a longer window than this one.
func stretched(window string) string {
	length, err := time.ParseDuration(window[1:])
	if err != nil {
		return window
	}
	return fmt.Sprintf("@%dus", min(length*stretch, arm.LongestHold).Microseconds())
}
