package hb

import (
	"fmt"
	"strconv"
)

// Sampling is which accesses the engine records. The zero value is all of them. What synchronises is followed
// whatever is recorded, so that races may be missed and none is reported falsely.
type Sampling struct {
	// Rate is how many percent of the accesses are recorded, more than 0 and less than 100, or 0 for all (Pacer).
	Rate float64
}

// ParseSampling returns the sampling of a rate in percent.
func ParseSampling(rate string) (Sampling, error) {
	var s Sampling
	percent, err := strconv.ParseFloat(rate, 64)
	switch {
	case err != nil || !(percent >= leastRate && percent <= 100):
		return s, fmt.Errorf("-rate %s: want percent of the accesses, from %v to 100", rate, leastRate)
	case percent < 100:
		s.Rate = percent
	}
	return s, nil
}

// leastRate is one access in a million.
const leastRate = 0.0001

// Env returns the environment of a program that samples so.
func (s Sampling) Env() []string {
	rate := ""
	if s.Rate > 0 {
		rate = fmt.Sprintf("%.0f", s.Rate*1e4) // of a million
	}
	return []string{"INTERLOCK_HB_RATE=" + rate}
}

// String returns what is recorded, in words; "" for all accesses.
func (s Sampling) String() string {
	if s.Rate == 0 {
		return ""
	}
	return fmt.Sprintf("%v %% of the accesses", s.Rate)
}
