package recorded

import (
	"testing"
	"time"
)

func TestWithoutLoad(t *testing.T) {
	for _, tt := range []struct {
		name                       string
		elapsed, cpu, waited, want time.Duration
	}{
		{"a quiet machine", 10, 4, 0, 10},
		{"half of one processor", 10, 5, 10, 5},
		{"half of one processor, for half of the time", 10, 5, 5, 7},
		{"two processors, for which its threads wait", 10, 20, 10, 10},
		{"tests that sleep", 12, 0, 12, 4},
		{"threads that waited before it began", 10, 5, 70, 5},
		{"none was started", 0, 0, 3, 0},
	} {
		if got := withoutLoad(tt.elapsed*time.Second, tt.cpu*time.Second, tt.waited*time.Second); got.Truncate(time.Second) !=
			tt.want*time.Second {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want*time.Second)
		}
	}
}

// The machine's own figure grows, where there is one.
func TestWaitedSoFar(t *testing.T) {
	if before, after := waitedSoFar(), waitedSoFar(); after < before {
		t.Errorf("%v, and then %v", before, after)
	}
}
