package arm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

// Sections returns the sections of p that runs open, by id. If only is not empty, it
// returns the sections with their entry and an end among these sites.
func Sections(p *plan.Plan, only []uint32) []uint32 {
	var ids []uint32
	for i := range p.Sections {
		s := &p.Sections[i]
		ends := slices.ContainsFunc(s.Ends, func(e plan.End) bool { return slices.Contains(only, e.Site) })
		if s.Left == "" && (len(only) == 0 || ends && slices.Contains(only, s.Entry)) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// SectionList returns sections as the monitor reads them: "1-3,7,9:4500", where those that begin at a site of
// holds are held open for so long, in microseconds.
func SectionList(p *plan.Plan, ids []uint32, holds map[uint32]time.Duration) string {
	var parts []string
	held := func(id uint32) time.Duration { return holds[p.Sections[id-1].Entry] }
	for i := 0; i < len(ids); {
		j := i + 1
		if us := held(ids[i]).Microseconds(); us > 0 {
			parts = append(parts, fmt.Sprintf("%d:%d", ids[i], us))
			i = j
			continue
		}
		for j < len(ids) && ids[j] == ids[j-1]+1 && held(ids[j]) == 0 {
			j++
		}
		if j-i > 1 {
			parts = append(parts, fmt.Sprintf("%d-%d", ids[i], ids[j-1]))
		} else {
			parts = append(parts, fmt.Sprint(ids[i]))
		}
		i = j
	}
	return strings.Join(parts, ",")
}
