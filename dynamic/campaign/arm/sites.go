// Package arm writes the settings of a monitored run as the monitor reads them: a table of
// the sites, a list of atomic sections, and where noise is made.
package arm

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

// Run has the properties of a run that change its site table.
type Run struct {
	Only  []uint32                 // if not empty, these sites alone are armed, as suspicious ones
	Near  map[uint32]bool          // sites that count as suspicious
	Holds map[uint32]time.Duration // how long the run holds a goroutine at a site; by default not at all
}

// SiteTable returns the monitored sites of p as the monitor reads them: "id group flags"
// a line, sites of one variable in one group. Where the run holds goroutines, the line
// ends in how long, in microseconds.
func SiteTable(p *plan.Plan, run Run) []byte {
	var b bytes.Buffer
	groups := Groups(p)
	for i := range p.Sites {
		s := &p.Sites[i]
		chosen := slices.Contains(run.Only, s.ID)
		if s.Decision != plan.Monitor || len(run.Only) > 0 && !chosen {
			continue
		}
		flags := "-"
		if s.Suspicious || chosen || run.Near[s.ID] {
			flags = "s"
		}
		fmt.Fprintf(&b, "%d %d %s", s.ID, groups[s.Variable], flags)
		if hold := run.Holds[s.ID].Microseconds(); hold > 0 {
			fmt.Fprintf(&b, " %d", hold)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// Groups numbers the variables of p from 1.
func Groups(p *plan.Plan) map[plan.Variable]int {
	groups := map[plan.Variable]int{}
	for i := range p.Sites {
		if v := p.Sites[i].Variable; groups[v] == 0 {
			groups[v] = len(groups) + 1
		}
	}
	return groups
}

// WindowsAt returns the sites at places, and how long a run holds a goroutine at those that have a window:
// "a.go:3:5@20ms,b.go:7". at finds the sites at one place, as SitesAt does.
func WindowsAt(places string, at func(place string) ([]uint32, error)) (
	only []uint32, holds map[uint32]time.Duration, err error,
) {
	holds = map[uint32]time.Duration{}
	for text := range strings.SplitSeq(places, ",") {
		place, window, has := strings.Cut(text, "@")
		ids, err := at(place)
		if err != nil {
			return nil, nil, err
		}
		only = append(only, ids...)
		if !has {
			continue
		}
		length, err := time.ParseDuration(window)
		if err != nil || length <= 0 || length > LongestHold {
			return nil, nil, fmt.Errorf("the window in %q is no duration of at most %s, such as 20ms", text, LongestHold)
		}
		for _, id := range ids {
			holds[id] = length
		}
	}
	return only, holds, nil
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
