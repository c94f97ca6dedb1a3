package campaign

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

// SiteTable returns the monitored sites of p as the monitor reads them: "id
// group flags" a line, sites of one variable in one group.
func SiteTable(p *plan.Plan) []byte { return siteTable(p, nil, nil, nil) }

// siteTable is SiteTable for a run. Sites in near count as suspicious. If only is not
// empty, it writes these sites only, as suspicious ones. Where holds has a length, the
// line ends in it, in microseconds.
func siteTable(p *plan.Plan, only []uint32, near map[uint32]bool, holds map[uint32]time.Duration) []byte {
	var b bytes.Buffer
	groups := groups(p)
	for i := range p.Sites {
		s := &p.Sites[i]
		chosen := slices.Contains(only, s.ID)
		if s.Decision != plan.Monitor || len(only) > 0 && !chosen {
			continue
		}
		flags := "-"
		if s.Suspicious || chosen || near[s.ID] {
			flags = "s"
		}
		fmt.Fprintf(&b, "%d %d %s", s.ID, groups[s.Variable], flags)
		if hold := holds[s.ID].Microseconds(); hold > 0 {
			fmt.Fprintf(&b, " %d", hold)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// groups numbers the variables of p from 1.
func groups(p *plan.Plan) map[plan.Variable]int {
	groups := map[plan.Variable]int{}
	for i := range p.Sites {
		if v := p.Sites[i].Variable; groups[v] == 0 {
			groups[v] = len(groups) + 1
		}
	}
	return groups
}

// SitesAt returns the monitored sites at places, written as the replay command
// of a finding has them: "a.go:3:5,b.go:7". Without a column it is all of the
// line.
func SitesAt(p *plan.Plan, places string) ([]uint32, error) {
	var ids []uint32
	for at := range strings.SplitSeq(places, ",") {
		before := len(ids)
		for i := range p.Sites {
			s := &p.Sites[i]
			line := fmt.Sprintf("%s:%d", s.File, s.Line)
			if s.Decision == plan.Monitor && (at == line || at == fmt.Sprintf("%s:%d", line, s.Column)) {
				ids = append(ids, s.ID)
			}
		}
		if len(ids) == before {
			return nil, fmt.Errorf("no monitored access at %q", at)
		}
	}
	return ids, nil
}

// Coverage is which sites the runs reached. A site that was never reached
// was not tested.
type Coverage struct {
	Monitored int      // sites with a monitor
	Reached   []uint32 // seen on the monitor's slow path, in ascending order
	Armed     []uint32 // held a window
	Never     []uint32 // monitored, not reached
}

func (t *tally) coverage() Coverage {
	var c Coverage
	for i := range t.plan.Sites {
		s := &t.plan.Sites[i]
		if s.Decision != plan.Monitor {
			continue
		}
		c.Monitored++
		if t.reached[s.ID] {
			c.Reached = append(c.Reached, s.ID)
		} else {
			c.Never = append(c.Never, s.ID)
		}
		if t.armed[s.ID] {
			c.Armed = append(c.Armed, s.ID)
		}
	}
	return c
}
