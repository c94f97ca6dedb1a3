package arm

import "testing"

func TestSectionList(t *testing.T) {
	for want, ids := range map[string][]uint32{"": nil, "3": {3}, "1-3,7": {1, 2, 3, 7}, "1,3-4": {1, 3, 4}} {
		if got := SectionList(ids); got != want {
			t.Errorf("SectionList(%v) = %q, want %q", ids, got, want)
		}
	}
}
