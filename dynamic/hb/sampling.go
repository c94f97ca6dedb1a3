package hb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Sampling is which accesses the engine records. The zero value is all of them. Synchronisation is followed
// whatever is recorded, so that races may be missed and none is reported falsely.
type Sampling struct {
	// Rate is how many percent of the accesses are recorded, more than 0 and less than 100, or 0 for all (Pacer).
	Rate float64
	// Stationary leaves out memory that its allocator alone reads, or that nobody has written since it was shared (SOS).
	Stationary bool
	// Loops records accesses in loops the more rarely the more often a loop has gone round (LIS). The
	// program is built with its loops counted: see [CountLoops].
	Loops bool
	// Bursts leaves out most entries of functions that are often entered (LiteRace).
	Bursts bool
}

// sampleNames are the values of -sample.
var sampleNames = []string{"sos", "lis", "burst"}

// ParseSampling returns the sampling of a rate in percent, and of names with commas between.
func ParseSampling(rate, names string) (Sampling, error) {
	var s Sampling
	percent, err := strconv.ParseFloat(rate, 64)
	switch {
	case err != nil || !(percent >= leastRate && percent <= 100):
		return s, fmt.Errorf("want percent of the accesses, from %v to 100", leastRate)
	case percent < 100:
		s.Rate = percent
	}
	if names == "" {
		return s, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		i := slices.Index(sampleNames, name)
		if i < 0 {
			return s, fmt.Errorf("want %s, or several with commas between", strings.Join(sampleNames, ", "))
		}
		*s.rules()[i] = true
	}
	return s, nil
}

// leastRate is one access in a million.
const leastRate = 0.0001

// rules returns the fields that sampleNames name, in their order.
func (s *Sampling) rules() []*bool { return []*bool{&s.Stationary, &s.Loops, &s.Bursts} }

// names returns the names of its rules in -sample.
func (s Sampling) names() string {
	var names []string
	for i, set := range s.rules() {
		if *set {
			names = append(names, sampleNames[i])
		}
	}
	return strings.Join(names, ",")
}

// Env returns the environment of a program that samples so.
func (s Sampling) Env() []string {
	rate := ""
	if s.Rate > 0 {
		rate = fmt.Sprintf("%.0f", s.Rate*1e4) // of a million
	}
	return []string{"INTERLOCK_HB_RATE=" + rate, "INTERLOCK_HB_SAMPLE=" + s.names()}
}

// String returns the recorded accesses in words; "" for all.
func (s Sampling) String() string {
	if s == (Sampling{}) {
		return ""
	}
	what := "the accesses"
	if s.Rate > 0 {
		what = fmt.Sprintf("%v %% of the accesses", s.Rate)
	}
	if names := s.names(); names != "" {
		what += " that -sample=" + names + " leaves"
	}
	return what
}
