package bot

import (
	"fmt"
	"strings"

	"github.com/sourcegraph/go-diff/diff"
)

// Diff has the changed files of a request by their new names.
type Diff map[string]*Changed

// Changed is one file of a diff. Lines are those of its new text.
type Changed struct {
	Hunks []Span
	added map[int]bool // lines that are new, or beside deleted ones
}

// Span is the lines from Start to End, both inclusive.
type Span struct{ Start, End int }

// contains reports whether all of the lines lie in s.
func (s Span) contains(start, end int) bool { return s.Start <= start && end <= s.End }

// ParseDiff reads a unified diff of several files, as git writes it.
func ParseDiff(text string) (Diff, error) {
	files, err := diff.ParseMultiFileDiff([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("reading the diff of the request: %w", err)
	}
	d := Diff{}
	for _, f := range files {
		if name := strings.TrimPrefix(f.NewName, "b/"); f.NewName != "/dev/null" && name != "" {
			d[name] = changed(f.Hunks)
		}
	}
	return d, nil
}

// ParseHunks reads the hunks of one file, as GitHub lists them.
func ParseHunks(text string) (*Changed, error) {
	if text == "" { // a binary or large file
		return changed(nil), nil
	}
	hunks, err := diff.ParseHunks([]byte(text + "\n"))
	if err != nil {
		return nil, fmt.Errorf("reading the hunks of a file: %w", err)
	}
	return changed(hunks), nil
}

// changed returns the lines of hunks. At deleted lines, those around them count as changed.
func changed(hunks []*diff.Hunk) *Changed {
	c := &Changed{added: map[int]bool{}}
	for _, h := range hunks {
		line := int(h.NewStartLine)
		if h.NewLines > 0 {
			c.Hunks = append(c.Hunks, Span{line, line + int(h.NewLines) - 1})
		}
		for text := range strings.Lines(string(h.Body)) {
			switch text[0] {
			case '+':
				c.added[line] = true
				line++
			case '-':
				c.added[line-1], c.added[line] = true, true
			case '\\': // no newline at the end of the file
			default:
				line++
			}
		}
	}
	return c
}

// hunk returns the hunk that holds all of the lines of a file.
func (d Diff) hunk(path string, start, end int) (Span, bool) {
	if c := d[path]; c != nil {
		for _, h := range c.Hunks {
			if h.contains(start, end) {
				return h, true
			}
		}
	}
	return Span{}, false
}

// touches reports whether a line of a file has changed.
func (d Diff) touches(path string, line int) bool {
	c := d[path]
	return c != nil && c.added[line]
}
