package page

import (
	"fmt"
	"html"
	"html/template"
	"strings"
)

// Lanes is an interleaving: one lane for each goroutine, time downward.
type Lanes struct {
	Caption string // one sentence about the picture
	Names   []string
	Rows    []Row // in the order of time
}

// Row has the events at one height, in one lane or in several.
type Row struct {
	Events []Event
	Meet   bool // its events happen at the same moment: the point of the picture
}

// Event is one step of a goroutine.
type Event struct {
	Lane  int
	Kind  Kind
	Text  string // a few words
	Place string
}

// Kind is how an event is drawn.
type Kind string

const (
	Start  Kind = "start"  // the goroutine begins, or a function is called
	Access Kind = "access" // of the finding
	Intrud Kind = "intrud" // the access that comes between
	Locks  Kind = "locks"  // a lock is taken: held until the lane ends
	Waits  Kind = "waits"  // for ever, or for the other
	Opens  Kind = "opens"  // the first access of a section: a gap begins
	Closes Kind = "closes" // the last access of a section: the gap ends
)

// Sizes of the picture, in pixels. A lane has room for maxText letters of 7.8 pixels.
const (
	laneWidth = 390
	rowHeight = 46
	headRoom  = 40
	maxText   = 44
)

// esc escapes text for SVG and cuts it to the width of a lane.
func esc(s string) string {
	if r := []rune(s); len(r) > maxText {
		s = string(r[:maxText-1]) + "…"
	}
	return html.EscapeString(strings.ToValidUTF8(s, "\uFFFD"))
}

// open begins a picture.
func open(b *strings.Builder, class string, width, height int, caption string) {
	fmt.Fprintf(b, `<svg class="%s" role="img" viewBox="0 0 %d %d" width="%d" height="%d"><title>%s</title>`, class, width,
		height, width, height, html.EscapeString(caption))
}

// SVG returns the picture.
func (l *Lanes) SVG() template.HTML {
	w, h := laneWidth*len(l.Names), headRoom+rowHeight*len(l.Rows)+16
	var b strings.Builder
	open(&b, "lanes", w, h, l.Caption)
	for i, name := range l.Names {
		x := i*laneWidth + 20
		fmt.Fprintf(&b, `<text class="ln" x="%d" y="16">%s</text><path class="l" d="M%d 26V%d"/>`, x-12, esc(name), x, h-8)
	}
	l.regions(&b, h)
	for i, row := range l.Rows {
		y := headRoom + i*rowHeight + 14
		l.together(&b, row, y)
		for _, e := range row.Events {
			x := e.Lane*laneWidth + 20
			fmt.Fprintf(&b, `<circle class="%s" cx="%d" cy="%d" r="7"/><text x="%d" y="%d">%s</text>`, e.Kind, x, y, x+16, y-6,
				esc(e.Text))
			if e.Place != "" {
				fmt.Fprintf(&b, `<text class="p" x="%d" y="%d">%s</text>`, x+16, y+14, esc(e.Place))
			}
		}
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // all text went through esc
}

// regions draws where a lock is held, and the gaps that others came into.
func (l *Lanes) regions(b *strings.Builder, h int) {
	gap := map[int]int{}
	for i, row := range l.Rows {
		for _, e := range row.Events {
			x, y := e.Lane*laneWidth+20, headRoom+i*rowHeight+14
			switch e.Kind {
			case Locks:
				fmt.Fprintf(b, `<rect class="held" x="%d" y="%d" width="12" height="%d"/>`, x-6, y, h-8-y)
			case Opens:
				gap[e.Lane] = y
			case Closes:
				if from, open := gap[e.Lane]; open {
					fmt.Fprintf(b, `<rect class="gap" x="%d" y="%d" width="16" height="%d"/>`, x-8, from, y-from)
				}
			}
		}
	}
}

// together joins the events of a row that happen at the same moment.
func (l *Lanes) together(b *strings.Builder, row Row, y int) {
	if !row.Meet || len(row.Events) < 2 {
		return
	}
	first, last := row.Events[0].Lane, row.Events[len(row.Events)-1].Lane
	fmt.Fprintf(b, `<path class="meet" d="M%d %dH%d"/>`, first*laneWidth+20, y, last*laneWidth+20)
}
