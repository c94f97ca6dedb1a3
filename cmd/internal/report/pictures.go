package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/report/internal/page"
)

// lanes draws how the goroutines of a finding come to meet: as a run has shown it, or as it could be. It returns
// nil where there is nothing to draw.
func lanes(r *Report, f *finding.Finding) *page.Lanes {
	switch {
	case len(f.Cycle) > 0:
		return cycleLanes(r, f)
	case len(f.Accesses) == 0:
		return nil
	case slices.ContainsFunc(f.Accesses, func(a finding.Access) bool { return a.Step > 0 && a.Goroutine != nil }):
		return stepLanes(r, f)
	case f.Code.IsDataRace() || f.Evidence != nil && f.Evidence.Error == "" && f.Evidence.Blocked == "":
		return meetingLanes(r, f)
	}
	return waitingLanes(r, f)
}

// drawing is lanes that grow.
type drawing struct {
	page.Lanes
	r  *Report
	at map[string]int // goroutine -> lane
}

func draw(r *Report, caption string) *drawing {
	return &drawing{Lanes: page.Lanes{Caption: caption}, r: r, at: map[string]int{}}
}

// lane returns the number of a goroutine's lane.
func (d *drawing) lane(name string) int {
	i, ok := d.at[name]
	if !ok {
		i = len(d.Names)
		d.at[name] = i
		d.Names = append(d.Names, name)
	}
	return i
}

// add adds a moment, meet one at which several goroutines meet.
func (d *drawing) add(e page.Event) { d.Rows = append(d.Rows, page.Row{Events: []page.Event{e}}) }

func (d *drawing) meet(events ...page.Event) {
	d.Rows = append(d.Rows, page.Row{Events: events, Meet: true})
}

// ways adds where the goroutines of accesses come from, side by side, since nothing orders them.
func (d *drawing) ways(all ...[]page.Event) {
	longest := 0
	for _, w := range all {
		longest = max(longest, len(w))
	}
	for i := range longest {
		var row page.Row
		for _, w := range all {
			if at := i - (longest - len(w)); at >= 0 {
				row.Events = append(row.Events, w[at])
			}
		}
		d.Rows = append(d.Rows, row)
	}
}

// way returns where an access's goroutine comes from, and the locks that it holds.
func (d *drawing) way(lane int, a *finding.Access) (all []page.Event) {
	if g := a.Goroutine; g != nil {
		if c := own(g.Created); len(c) > 0 {
			all = append(all, d.call(lane, "started by ", c[0]))
		}
		stack := own(g.Stack)
		for i := min(2, len(stack)-1); i > 0; i-- { // the last calls say most
			all = append(all, d.call(lane, "in ", stack[i]))
		}
	} else {
		all = append(all, page.Event{Lane: lane, Kind: page.Start, Text: "in " + a.Function, Place: a.Role})
	}
	if len(a.Locks) > 0 {
		all = append(all, page.Event{Lane: lane, Kind: page.Locks, Text: "holds " + lockNames(a.Locks)})
	}
	return all
}

// call returns an event on the way to an access.
func (d *drawing) call(lane int, how string, f finding.Frame) page.Event {
	return page.Event{Lane: lane, Kind: page.Start, Text: how + shortFunction(f.Function),
		Place: fmt.Sprintf("%s:%d", d.r.shown(f.File), f.Line)}
}

func (d *drawing) access(lane int, kind page.Kind, a *finding.Access) page.Event {
	return page.Event{Lane: lane, Kind: kind, Text: deed(a), Place: d.r.place(a.Position)}
}

// shortFunction returns a function without the path of its package.
func shortFunction(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// goroutine names the lane of an access: by its number, or as one of two that are not known.
func goroutine(a *finding.Access, unknown string) string {
	if a.Goroutine != nil {
		return fmt.Sprintf("goroutine %d", a.Goroutine.ID)
	}
	return unknown
}

// meetingLanes draws two accesses at the same moment.
func meetingLanes(r *Report, f *finding.Finding) *page.Lanes {
	a, b := &f.Accesses[0], &f.Accesses[min(1, len(f.Accesses)-1)]
	caption := "No run has shown this: as the check reads the code, both accesses may happen at the same moment."
	switch {
	case f.Evidence != nil && (f.Evidence.Engine == "hb" || f.Evidence.Engine == "race"):
		caption = "Nothing orders the two accesses: they could happen at the same moment."
	case f.Evidence != nil:
		caption = "Both goroutines were at their accesses at the same moment, and nothing orders the two."
	}
	d := draw(r, caption)
	first := d.lane(goroutine(a, "one goroutine"))
	second := d.lane(goroutine(b, "another goroutine"))
	if first == second { // of a static finding with one access, which two goroutines make
		second = d.lane("another goroutine")
	}
	d.ways(d.way(first, a), d.way(second, b))
	d.meet(d.access(first, page.Access, a), d.access(second, page.Access, b))
	return &d.Lanes
}

// stepLanes draws accesses in the order in which a run has made them: a section, and the accesses that split it.
func stepLanes(r *Report, f *finding.Finding) *page.Lanes {
	d := draw(r, "The accesses in the order in which the run made them, from top to bottom. The bar is the section that "+
		"should have been one step.")
	steps := slices.DeleteFunc(inSteps(f.Accesses), func(a *finding.Access) bool {
		return a.Step == 0 || a.Goroutine == nil
	})
	known := map[int64]bool{}
	var ways [][]page.Event
	for _, a := range steps {
		if !known[a.Goroutine.ID] {
			known[a.Goroutine.ID] = true
			ways = append(ways, d.way(d.lane(goroutine(a, "")), a))
		}
	}
	d.ways(ways...)
	owner := steps[0].Goroutine.ID
	for i, a := range steps {
		kind := page.Intrud
		switch {
		case a.Goroutine.ID == owner && i == 0:
			kind = page.Opens
		case a.Goroutine.ID == owner && i == len(steps)-1:
			kind = page.Closes
		case a.Goroutine.ID == owner:
			kind = page.Access
		}
		d.add(d.access(d.lane(goroutine(a, "")), kind, a))
	}
	return &d.Lanes
}

// waitingLanes draws goroutines that wait, or other operations that a finding on locks and channels names.
func waitingLanes(r *Report, f *finding.Finding) *page.Lanes {
	caption := "What the finding names, one lane for each goroutine."
	kind := page.Access
	if f.Evidence != nil && f.Evidence.Blocked != "" {
		who := "these goroutines"
		if len(f.Accesses) == 1 {
			who = "this goroutine"
		}
		caption, kind = "Nothing can wake "+who+" any more: "+f.Evidence.Blocked+".", page.Waits
	}
	d := draw(r, caption)
	for i := range f.Accesses[:min(4, len(f.Accesses))] {
		a := &f.Accesses[i]
		if a.Goroutine == nil {
			lane := d.lane("code that is involved")
			d.add(d.access(lane, page.Access, a))
			continue
		}
		lane := d.lane(goroutine(a, ""))
		d.ways(append(d.way(lane, a), d.access(lane, kind, a)))
	}
	return &d.Lanes
}

// cycleLanes draws one lane for each step of a lock-order cycle.
func cycleLanes(r *Report, f *finding.Finding) *page.Lanes {
	d := draw(r, "Each goroutine holds what the next one waits for: all of them wait for ever.")
	var waits []page.Event
	for i := range f.Cycle {
		e := &f.Cycle[i]
		lane := d.lane(fmt.Sprintf("goroutine %c: %s", 'A'+rune(i%26), e.Function))
		taken := page.Event{Lane: lane, Kind: page.Locks, Text: "locks " + finding.ShortLock(e.From)}
		if e.Since != nil {
			taken.Place = r.place(*e.Since)
		}
		d.add(taken)
		waits = append(waits, page.Event{Lane: lane, Kind: page.Waits, Text: "waits for " + finding.ShortLock(e.To),
			Place: r.place(e.Position)})
	}
	d.meet(waits...)
	return &d.Lanes
}

// graph draws a lock-order cycle as locks and the places that order them.
func graph(r *Report, f *finding.Finding) *page.Graph {
	if len(f.Cycle) == 0 {
		return nil
	}
	g := &page.Graph{Caption: "An arrow leads from a lock that is held to the one that is waited for."}
	node := func(class string) int {
		name := finding.ShortLock(class)
		if i := slices.Index(g.Nodes, name); i >= 0 {
			return i
		}
		g.Nodes = append(g.Nodes, name)
		return len(g.Nodes) - 1
	}
	for i := range f.Cycle {
		e := &f.Cycle[i]
		g.Edges = append(g.Edges, page.Edge{From: node(e.From), To: node(e.To),
			Text: fmt.Sprintf("%s: %s in %s", r.place(e.Position), edgeText(e), e.Function)})
	}
	return g
}

// Dot writes the order of locks of all cycles for Graphviz.
type Dot struct{}

// Write implements [Handler].
func (Dot) Write(w io.Writer, r *Report) error {
	graphs := r.graphs()
	_, err := io.WriteString(w, page.DOT(graphs)+ifNone(graphs, "//"))
	return err
}

// Mermaid writes the order of locks of all cycles as a flow chart of Mermaid.
type Mermaid struct{}

// Write implements [Handler].
func (Mermaid) Write(w io.Writer, r *Report) error {
	graphs := r.graphs()
	_, err := io.WriteString(w, page.Mermaid(graphs)+ifNone(graphs, "%%"))
	return err
}

// ifNone returns a comment that says why there are no graphs, if there are none.
func ifNone(graphs []*page.Graph, mark string) string {
	if len(graphs) > 0 {
		return ""
	}
	return mark + " empty: no finding is a cycle of locks\n"
}

// graphs returns the graph of each cycle of locks, with names in which nothing acts.
func (r *Report) graphs() (all []*page.Graph) {
	for _, f := range r.Findings {
		g := graph(r, f)
		if g == nil {
			continue
		}
		for i := range g.Nodes {
			g.Nodes[i] = Clean(g.Nodes[i])
		}
		for i := range g.Edges {
			g.Edges[i].Text = Clean(g.Edges[i].Text)
		}
		all = append(all, g)
	}
	return all
}
