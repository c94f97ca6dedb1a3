package loadstoregoroutines

import "testing"

func TestCount(t *testing.T) {
	parts := make([][]int, 4)
	for i := range parts {
		parts[i] = make([]int, 100)
	}
	if got := Count(parts); got != 400 {
		t.Errorf("%d, want 400", got)
	}
}
