package report

import (
	"fmt"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// edge writes one step of a lock-order cycle.
func (t *text) edge(e *finding.Edge) {
	since := ""
	if e.Since != nil {
		since = " (locked at " + t.r.place(*e.Since) + ")"
	}
	t.line("    at %s in %s, holding %s%s:", t.r.place(e.Position), e.Function, finding.ShortLock(e.From), since)
	t.line("        %s", waits(e))
}

// waits returns what a step of a cycle waits for, and where.
func waits(e *finding.Edge) string {
	s := "waits for " + finding.ShortLock(e.To)
	if e.Via != "" {
		s += " in " + e.Via
	}
	return s
}

func edgeText(e *finding.Edge) string {
	return fmt.Sprintf("holding %s, %s", finding.ShortLock(e.From), waits(e))
}

// cycleFlows returns each step of a lock-order cycle as the flow of a goroutine
// of its own: where it takes the one lock, and where it waits for the next.
func (c *converter) cycleFlows(f *finding.Finding) []sarifThreadFlow {
	var flows []sarifThreadFlow
	for i := range f.Cycle {
		e := &f.Cycle[i]
		flow := sarifThreadFlow{ID: fmt.Sprintf("goroutine %d of the cycle", i+1),
			Message: sarifText{e.Function + ", " + edgeText(e)}}
		if e.Since != nil {
			loc := c.location(*e.Since, e.Function, "locks "+finding.ShortLock(e.From))
			flow.Locations = append(flow.Locations, sarifStep{Location: loc, Importance: "important"})
		}
		flow.Locations = append(flow.Locations, sarifStep{Location: c.location(e.Position, e.Function, waits(e)),
			Importance: "essential"})
		flows = append(flows, flow)
	}
	return flows
}
