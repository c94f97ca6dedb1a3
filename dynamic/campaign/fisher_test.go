package campaign

import (
	"math"
	"testing"
)

func TestExceedance(t *testing.T) {
	for _, c := range []struct {
		name   string
		tables []table
		want   float64
	}{
		{"no runs", nil, 1},
		{"the lady's tea", []table{{3, 1, 1, 3}}, 17.0 / 70},
		{"all four cups", []table{{4, 0, 0, 4}}, 1.0 / 70},
		{"every run is split", []table{{5, 0, 5, 0}}, 1},
		{"every run fails", []table{{5, 5, 0, 0}}, 1},
		{"the other way round", []table{{0, 4, 4, 0}}, 1},
		{"two strata", []table{{4, 0, 0, 4}, {4, 0, 0, 4}}, 1.0 / 4900},
		// Strong noise both splits and fails: within each strength there is nothing.
		{"a stratum explains it", []table{{5, 0, 0, 0}, {0, 0, 0, 5}}, 1},
	} {
		if got := exceedance(c.tables); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
