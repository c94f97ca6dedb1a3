package arm

import (
	"testing"
	"time"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

func TestSectionList(t *testing.T) {
	p := &plan.Plan{Sections: make([]plan.Section, 9)}
	for i := range p.Sections {
		p.Sections[i].Entry = uint32(10 * (i + 1))
	}
	holds := map[uint32]time.Duration{80: 4500 * time.Microsecond}
	for want, ids := range map[string][]uint32{
		"": nil, "3": {3}, "1-3,6": {1, 2, 3, 6}, "1,3-4": {1, 3, 4}, "6-7,8:4500,9": {6, 7, 8, 9},
	} {
		if got := SectionList(p, ids, holds); got != want {
			t.Errorf("SectionList(%v) = %q, want %q", ids, got, want)
		}
	}
}
