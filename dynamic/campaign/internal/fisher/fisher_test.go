package fisher

import (
	"math"
	"testing"
)

func TestExceedance(t *testing.T) {
	for _, c := range []struct {
		name   string
		tables []Table
		want   float64
	}{
		{"no runs", nil, 1},
		{"the lady's tea", []Table{{3, 1, 1, 3}}, 17.0 / 70},
		{"all four cups", []Table{{4, 0, 0, 4}}, 1.0 / 70},
		{"every run is split", []Table{{5, 0, 5, 0}}, 1},
		{"every run fails", []Table{{5, 5, 0, 0}}, 1},
		{"the other way round", []Table{{0, 4, 4, 0}}, 1},
		{"two strata", []Table{{4, 0, 0, 4}, {4, 0, 0, 4}}, 1.0 / 4900},
		// Strong noise both splits and fails: within each strength there is nothing.
		{"a stratum explains it", []Table{{5, 0, 0, 0}, {0, 0, 0, 5}}, 1},
	} {
		if got := Exceedance(c.tables); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
