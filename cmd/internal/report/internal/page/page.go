// Package page draws a report as one HTML file that needs nothing else: no network, no fonts, no scripts but
// its own few lines for the filters. Pictures are SVG, each beside a text that says the same.
//
// All text may come from foreign source and is escaped by html/template and by [esc].
package page

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed page.gohtml
var source string

var page = template.Must(template.New("page").Parse(source))

// Page is the content of the file, in its order.
type Page struct {
	Title, Tool string
	Verdict     string   // one line: how many findings, of which kind
	Summary     []string // how much was looked at, in plain words
	Since       string   // the changes since an earlier report; may be empty
	Gone        []string // findings of the earlier report alone
	Statuses    []Choice
	Codes       []Choice
	Packages    []Choice
	Bugs        []*Bug
	Gaps        []Gap
	Interrupted bool
}

// Choice is one value of a filter, and how many bugs have it.
type Choice struct {
	Value, Text string
	Count       int
}

// Bug is one entry: findings with one cause.
type Bug struct {
	ID, Code, Status, Package string
	Title, Place, Message     string
	Class                     string // the title of the code
	New                       bool   // an earlier report, if there is one, has it not
	Sides                     []Side
	Lanes                     *Lanes
	Graph                     *Graph
	Evidence, Replay          string
	Diff                      []Line
	FixText, Strategy         string
	Withheld                  []string // why no strategy applies, or the patch is refused
	Notes                     []string
	Same                      []string // further findings with this cause, a line each
}

// Side is one access, or one step of a cycle.
type Side struct {
	Text, Place, Held, Role string
	Regions                 []string // from where to where locks are held, a sentence each
	Code                    []CodeLine
	Stack                   []string
	Created                 []string
}

// CodeLine is a line of source, or stands for lines that are left out; Before, Mark and After are its parts around the
// access.
type CodeLine struct {
	Number              int  // 0 where lines are left out
	Here                bool // it has the access
	Held                bool // a lock is held here, as the text of the function has it
	Before, Mark, After string
}

// Line is a line of a diff. Kind is add, del, head or same.
type Line struct{ Kind, Text string }

// Gap is something that was not covered.
type Gap struct {
	Title string
	Items []string
	More  int // items left out
}

// Write writes the file.
func (p *Page) Write(w io.Writer) error { return page.Execute(w, p) }
