package timing

import (
	"reflect"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		xs   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := Median(tt.xs); got != tt.want {
			t.Errorf("Median(%v) = %v, want %v", tt.xs, got, tt.want)
		}
	}
}

func TestBenchmarks(t *testing.T) {
	got := Benchmarks("goos: linux\nBenchmarkLRU-2 \t 100\t 12.5 ns/op\nPASS\n")
	if !reflect.DeepEqual(got, map[string]float64{"BenchmarkLRU-2": 12.5}) {
		t.Errorf("Benchmarks: %v", got)
	}
}
