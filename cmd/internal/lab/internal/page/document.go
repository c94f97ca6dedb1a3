package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Document has the figures of one tool: a title, the text that says how, and a section below each heading. The figures
// are kept as JSON, so that a later run compares with them and no reader of the docs has to leaf through them.
type Document struct {
	Title    string    `json:"title"`
	Sections []Section `json:"sections"`
}

// Section is the part of a document below one heading, which is empty for the part before the first.
type Section struct {
	Heading string   `json:"heading,omitempty"`
	Text    []string `json:"text,omitempty"` // paragraphs, and items of lists, each one line
	Tables  []Grid   `json:"tables,omitempty"`
}

// Grid is a table: each row has a cell for each column.
type Grid struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// Parse reads the Markdown that the tools print. Headings of every level begin a section.
func Parse(markdown string) Document {
	var d Document
	now := &Section{}
	end := func() {
		if now.Heading != "" || len(now.Text) > 0 || len(now.Tables) > 0 {
			d.Sections = append(d.Sections, *now)
		}
	}
	inTable, inParagraph := false, false
	for line := range strings.Lines(markdown) {
		text := strings.TrimSpace(line)
		isTable := strings.HasPrefix(text, "|")
		isHeading := strings.HasPrefix(text, "#")
		switch {
		case strings.HasPrefix(text, "# ") && d.Title == "":
			d.Title = heading(text)
		case isHeading:
			end()
			now = &Section{Heading: heading(text)}
		case isTable && !inTable:
			now.Tables = append(now.Tables, Grid{Columns: splitRow(text)})
		case isTable && !isRule(text):
			t := &now.Tables[len(now.Tables)-1]
			t.Rows = append(t.Rows, splitRow(text))
		case isTable, text == "":
			// The line between the head and the rows, or between two paragraphs.
		case inParagraph && !strings.HasPrefix(text, "- "):
			now.Text[len(now.Text)-1] += " " + text
		default:
			now.Text = append(now.Text, strings.TrimPrefix(text, "- "))
		}
		inTable, inParagraph = isTable, !isTable && !isHeading && text != ""
	}
	end()
	return d
}

// heading returns the text of a heading.
func heading(line string) string { return strings.TrimSpace(strings.TrimLeft(line, "#")) }

// isRule reports whether a line of a table separates its head from its rows.
func isRule(line string) bool {
	return strings.Trim(line, "|-: ") == "" && strings.Contains(line, "---")
}

// splitRow splits a row of a table.
func splitRow(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	line = strings.ReplaceAll(line, `\|`, "\x00")
	var all []string
	for cell := range strings.SplitSeq(line, "|") {
		all = append(all, strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|"))
	}
	return all
}

// Replace puts the sections of other in place of those with the same headings, and at the end where there is none.
func (d *Document) Replace(other Document) {
	for _, s := range other.Sections {
		found := false
		for i := range d.Sections {
			if d.Sections[i].Heading == s.Heading {
				d.Sections[i], found = s, true
			}
		}
		if !found {
			d.Sections = append(d.Sections, s)
		}
	}
}

// Encode returns the document as JSON with a line for each paragraph and each row, so that a diff shows which changed.
func (d Document) Encode() ([]byte, error) {
	var b bytes.Buffer
	w := &writer{b: &b}
	w.printf("{\n\t\"title\": %s,\n\t\"sections\": [", d.Title)
	for i, s := range d.Sections {
		w.printf(writeComma(i) + "\n\t\t{")
		w.printf("\"heading\": %s", s.Heading)
		if len(s.Text) > 0 {
			w.printf(",\n\t\t\t\"text\": [")
			for j, paragraph := range s.Text {
				w.printf(writeComma(j)+"\n\t\t\t\t%s", paragraph)
			}
			w.printf("\n\t\t\t]")
		}
		if len(s.Tables) > 0 {
			w.printf(",\n\t\t\t\"tables\": [")
			for j, t := range s.Tables {
				w.printf(writeComma(j)+"\n\t\t\t\t{\"columns\": %s, \"rows\": [", t.Columns)
				for k, row := range t.Rows {
					w.printf(writeComma(k)+"\n\t\t\t\t\t%s", row)
				}
				w.printf("\n\t\t\t\t]}")
			}
			w.printf("\n\t\t\t]")
		}
		w.printf("}")
	}
	w.printf("\n\t]\n}\n")
	return b.Bytes(), w.err
}

// writeComma separates the i-th element of an array from the one before.
func writeComma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// writer formats values as JSON, each on one line.
type writer struct {
	b   *bytes.Buffer
	err error // the first
}

// printf writes format with each argument as JSON in place of its %s.
func (w *writer) printf(format string, values ...any) {
	args := make([]any, len(values))
	for i, v := range values {
		var text strings.Builder
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false) // the cells have < and >
		if err := enc.Encode(v); err != nil && w.err == nil {
			w.err = err
		}
		args[i] = strings.TrimSuffix(text.String(), "\n")
	}
	fmt.Fprintf(w.b, format, args...)
}
