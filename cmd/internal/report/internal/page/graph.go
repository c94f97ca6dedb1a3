package page

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// Graph is a cycle of locks: an arrow from each lock that is held to the one that is waited for.
type Graph struct {
	Caption string
	Nodes   []string
	Edges   []Edge
}

// Edge is one place where a lock is taken while another is held. From and To are indexes of nodes.
type Edge struct {
	From, To int
	Text     string
}

// SVG returns the picture: nodes on a circle, arrows numbered as the list beside it.
func (g *Graph) SVG() template.HTML {
	const width, height, radius = 640, 260, 92
	at := func(i int) (x, y float64) {
		angle := 2*math.Pi*float64(i)/float64(len(g.Nodes)) + math.Pi
		return width/2 + 2.1*radius*math.Cos(angle), height/2 + radius*math.Sin(angle)
	}
	var b strings.Builder
	open(&b, "graph", width, height, g.Caption)
	b.WriteString(`<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" ` +
		`orient="auto-start-reverse"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>`)
	for i, e := range g.Edges {
		x1, y1 := at(e.From)
		x2, y2 := at(e.To)
		g.arrow(&b, i+1, x1, y1, x2, y2)
	}
	for i, name := range g.Nodes {
		x, y := at(i)
		wide := 8*float64(min(len([]rune(name)), maxText)) + 24
		fmt.Fprintf(&b, `<rect class="node" x="%.0f" y="%.0f" width="%.0f" height="32" rx="16"/>`+
			`<text class="nt" x="%.0f" y="%.0f">%s</text>`, x-wide/2, y-16, wide, x, y+5, esc(name))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // all text went through esc
}

// arrow draws a bent arrow with its number, which ends before the node.
func (*Graph) arrow(b *strings.Builder, number int, x1, y1, x2, y2 float64) {
	dx, dy := x2-x1, y2-y1
	length := math.Hypot(dx, dy)
	if length == 0 { // a lock that is waited for while it is held
		fmt.Fprintf(b, `<path class="e" d="M%.0f %.0fc60 -70 -60 -70 -8 -2" marker-end="url(#a)"/>`, x1+8, y1-16)
		return
	}
	// The bend keeps the two arrows between a pair of nodes apart.
	mx, my := (x1+x2)/2-dy/length*70, (y1+y2)/2+dx/length*70
	end := func(x, y float64) (float64, float64) {
		ux, uy := mx-x, my-y
		n := math.Hypot(ux, uy)
		return x + ux/n*34, y + uy/n*34
	}
	sx, sy := end(x1, y1)
	ex, ey := end(x2, y2)
	fmt.Fprintf(b, `<path class="e" d="M%.0f %.0fQ%.0f %.0f %.0f %.0f" marker-end="url(#a)"/>`, sx, sy, mx, my, ex, ey)
	cx, cy := (sx+2*mx+ex)/4, (sy+2*my+ey)/4
	fmt.Fprintf(b, `<circle class="num" cx="%.0f" cy="%.0f" r="11"/>`, cx, cy)
	fmt.Fprintf(b, `<text class="nt" x="%.0f" y="%.0f">%d</text>`, cx, cy+5, number)
}

// DOT returns the graphs for Graphviz.
func DOT(graphs []*Graph) string {
	var b strings.Builder
	b.WriteString("digraph locks {\n")
	for _, g := range graphs {
		for _, e := range g.Edges {
			fmt.Fprintf(&b, "\t%q -> %q [label=%q];\n", g.Nodes[e.From], g.Nodes[e.To], e.Text)
		}
	}
	return b.String() + "}\n"
}

// Mermaid returns the graphs as a flow chart, which code hosts draw in Markdown.
func Mermaid(graphs []*Graph) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for i, g := range graphs {
		for j, name := range g.Nodes {
			fmt.Fprintf(&b, "    n%d_%d[\"%s\"]\n", i, j, quoted(name))
		}
		for _, e := range g.Edges {
			fmt.Fprintf(&b, "    n%d_%d -->|\"%s\"| n%d_%d\n", i, e.From, quoted(e.Text), i, e.To)
		}
	}
	return b.String()
}

// quoted escapes text for a string of Mermaid.
func quoted(s string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "\n", " ", "\r", " ").Replace(s)
}
